"""Builds the simulators of a check, and runs its scenarios in one of them."""

import pickle
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from ...layouts.description import Description
from ..backends.environment import cocotb_environment
from ..errors import UserError
from ..simulators import cache
from ..simulators.icarus import icarus_version
from ..simulators.verilator import build_block, toolchain
from ..simulators.verilog import (
    BuildError,
    instances,
    module_files,
    ports,
    rtlil,
    to_verilog,
)
from .bench import Outcome
from .inside import WORK
from .pair import Pair
from .scenarios import Scenario

__all__ = ["Simulator", "has_icarus"]

TOP = "top"
POLL = 0.2
"""Seconds between two looks at how far it is."""
LIMIT = 1800
"""Seconds after which the simulator is stopped."""


def has_icarus() -> bool:
    """Tells whether Icarus Verilog is installed."""
    return bool(shutil.which("iverilog") and shutil.which("vvp"))


class Simulator:
    """A pair of NICs of ``description`` as RTLIL, which is converted once."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self.pair = Pair(description)
        self._ports = [*ports(self.pair), "clk", "rst"]
        self._text = rtlil(self.pair, TOP)

    def run(self, name: str, scenarios: Sequence[Scenario],
            tell: Callable[[str, int, int], None]) -> list[Outcome]:
        """Returns the outcome of ``scenarios`` on the simulator ``name``, "verilator" or "icarus".

        Raises
        ------
        UserError
            It cannot be built, or ended without results.
        """
        tell(f"building for {name}", 0, 1)
        try:
            command = self._icarus() if name == "icarus" else self._verilator()
        except BuildError as error:
            said = (error.log.strip().splitlines() or [""])[0]
            raise UserError(f"{self.description.design.name}: {error}"
                            f"{': ' * bool(said)}{said}", status=1) from None
        with tempfile.TemporaryDirectory(prefix="nicbed-check-") as folder:
            work = Path(folder)
            job = work / "job"
            job.write_bytes(pickle.dumps((self.description, [*scenarios])))
            environment = cocotb_environment(
                top=TOP, modules=f"{__package__}.inside", results=str(work / "results.xml"),
                extra={WORK: str(job), "COCOTB_LOG_LEVEL": "ERROR"})
            with (work / "log").open("wb") as log, subprocess.Popen(
                    command, cwd=Path.cwd(), env=environment, stdout=log, stderr=log) as process:
                self._wait(process, job.with_suffix(".progress"), tell)
            results = job.with_suffix(".results")
            if not results.is_file():
                said = (work / "log").read_text(errors="replace")
                raise UserError(f"{name} ended without results: {_last(said)}", status=1)
            return pickle.loads(results.read_bytes())

    @staticmethod
    def _wait(process: "subprocess.Popen[bytes]", progress: Path,
              tell: Callable[[str, int, int], None]) -> None:
        try:
            for _ in range(int(LIMIT / POLL)):
                try:
                    process.wait(POLL)
                    return
                except subprocess.TimeoutExpired:
                    words = progress.read_text().split(" ", 2) if progress.is_file() else []
                    if len(words) == 3:
                        tell(words[2], int(words[0]), int(words[1]))
            raise UserError(f"no end after {LIMIT} s", status=1)
        finally:
            if process.poll() is None:
                process.kill()

    def _verilator(self) -> list[str]:
        tools = toolchain()
        place = cache.entry("check", [self._text, cache.sources_key(), *tools.versions.values(),
                                      cache.machine()],
                            lambda work: build_block(self._text, work, self._ports))
        return [str(place / "simulator")]

    def _icarus(self) -> list[str]:
        import cocotb_tools.config

        def build(work: Path) -> None:
            source = work / "top.v"
            source.write_text(to_verilog(self._text, processes=False))
            files = map(str, module_files(self._text, work))
            roots = ["-s", "nicbed_trace_file"] if instances(self._text, ["nicbed_trace"]) else []
            done = subprocess.run(["iverilog", "-g2012", "-o", str(work / "top.vvp"), "-s", TOP,
                                   *roots, str(source), *files], capture_output=True, text=True)
            if done.returncode:
                raise BuildError("Icarus refuses the NIC", done.stderr)

        place = cache.entry("check", [self._text, cache.sources_key(), icarus_version()], build)
        return ["vvp", "-m", cocotb_tools.config.lib_entry("vpi", "icarus"),
                str(place / "top.vvp"), "-none"]


def _last(log: str) -> str:
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    wrong = [line for line in lines if "Error" in line]
    return (wrong or lines or ["it said nothing"])[-1]

