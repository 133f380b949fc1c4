"""Tries each simulator: it builds and runs a small block, the whole way from Amaranth to Python
inside a simulator's process."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ...firmware import cache
from .finding import Finding, failed, found, lacking

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component

__all__ = ["SIMULATORS", "toy"]

SIMULATORS = ("verilator", "icarus")
LIMIT = 120
"""Seconds after which a toy's run is stopped."""


def _counter() -> "Component":
    from amaranth.hdl import Module
    from amaranth.lib.wiring import Component, Out

    class Counter(Component):
        """Counts the cycles since reset: 32 bits."""

        count: Out(32)  # type: ignore[valid-type]

        def elaborate(self, _: object) -> Module:
            m = Module()
            m.d.sync += self.count.eq(self.count + 1)
            return m

    return Counter()


def _verilator(text: str, work: Path) -> list[str]:
    from ..simulators.verilator import build_block

    build_block(text, work, ["clk", "rst", "count"])
    return [str(work / "simulator")]


def _icarus(text: str, work: Path) -> list[str]:
    from ..simulators.icarus import icarus_command
    from ..simulators.verilog import BuildError, to_verilog

    (work / "top.v").write_text(to_verilog(text, processes=False))
    done = subprocess.run(["iverilog", "-g2012", "-o", str(work / "simulator.vvp"), "-s", "top",
                           str(work / "top.v")], capture_output=True, text=True)
    if done.returncode:
        raise BuildError("Icarus refuses a counter", done.stderr)
    return icarus_command(work, wave=False)


_BUILD: dict[str, Callable[[str, Path], list[str]]] = {"verilator": _verilator, "icarus": _icarus}


def toy(sim: str) -> Finding:
    """Build a counter for ``sim`` and count with it. What all simulators share is kept in the
    cache, the toy is not."""
    name = f"toy on {sim}"
    bad = failed if sim == "verilator" else lacking
    if sim == "icarus" and (shutil.which("iverilog") is None or shutil.which("vvp") is None):
        return lacking(name, "not there", "sudo apt install iverilog")
    began = time.monotonic()
    try:
        top = cache.root()
        cache.folder(top, top)
        if sim == "verilator" and not cache.can_execute(top):
            return bad(name, f"nothing runs in {top}, mounted noexec", cache.CHOOSE)
        with tempfile.TemporaryDirectory(prefix=".toy-", dir=top) as folder:
            work = Path(folder)
            said = _run(_BUILD[sim](_text(), work), work)
    except Exception as error:  # whatever it is, it is a finding
        log = str(getattr(error, "log", "")).strip().splitlines()
        wrong = next((line for line in log if "rror" in line), log[0] if log else "")
        return bad(name, f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
                   + (f" ({wrong.strip()})" if wrong else ""))
    if said:
        return bad(name, said)
    return found(name, f"built and run in {time.monotonic() - began:.0f} s")


def _text() -> str:
    from amaranth.back import rtlil

    return rtlil.convert(_counter(), name="top", emit_src=False)


def _run(command: list[str], work: Path) -> str:
    """What went wrong in a run; empty if nothing did."""
    from xml.etree import ElementTree

    from ..backends.environment import cocotb_environment

    environment = cocotb_environment(
        top="top", modules="nicbed.testbench.doctor.counting", results=str(work / "results.xml"),
        extra={"COCOTB_REWRITE_ASSERTION_FILES": ""})
    done = subprocess.run(command, cwd=work, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=LIMIT,
                          text=True, errors="replace")
    results = work / "results.xml"
    if not results.is_file():
        lines = done.stdout.strip().splitlines() or [f"status {done.returncode}"]
        return f"the simulator ended without a result: {lines[-1].strip()}"
    cases = list(ElementTree.parse(results).getroot().iter("testcase"))
    wrong = [one for case in cases for one in (*case.findall("failure"), *case.findall("error"))]
    return "it counts wrongly" if wrong or not cases else ""
