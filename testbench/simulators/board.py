"""A board's top as an executable, its serial line a pseudo-terminal."""

from pathlib import Path

from ...layouts.description import Description
from . import cache
from .simulator import structure, tool_versions
from .verilator import Compilation, Progress, compile_all, toolchain, verilate
from .verilog import SOURCES, convert, module_files

__all__ = ["DIVISOR", "board_key", "build_board", "compile_board"]

_SYNTH = Path(__file__).parent.parent / "synth"

DIVISOR = 2
"""Clocks for each bit. A small number makes a simulated byte arrive sooner."""


def build_board(description: Description, progress: Progress = lambda *_: None, *,
                gates: bool = False) -> Path:
    """The executable for ``description``, built if it is not in the cache. With ``gates`` it is
    built from the netlist that synthesis makes for an ECP5, whose hash is in the file ``netlist``
    beside it.

    The executable takes NICBED_UART_FD, the descriptor of a pseudo-terminal, from the environment.

    Raises
    ------
    BuildError, ToolError
        A tool is missing or refuses its input.
    """
    def make(work: Path) -> None:
        compile_board((_netlist if gates else _core)(description, work, progress), work, progress)

    cache.check_execution()
    parts = board_key(description)
    if gates:
        from ..synth.flow.tools import tool_version
        parts += [tool_version("yosys"), cache.tree_hash([_SYNTH], (".py", ".v"))]
    return cache.entry("gates" if gates else "uart", parts, make) / "simulator"


def board_key(description: Description) -> list[str]:
    """Cache key of an executable of a board's top for ``description``."""
    from ..synth.identity import identity
    from ..synth.plan import FRAMES, shares

    return [cache.sources_key(boards=True), repr(structure(description)),
            repr(tool_versions("verilator")), cache.machine(), *toolchain().compiler,
            str(DIVISOR), str(FRAMES), identity(description).hex(), str(shares(description))]


def _core(description: Description, _: Path, progress: Progress) -> str:
    from ..synth.plan import board_core
    progress("converting", 0, 1)
    text = convert(board_core(description, DIVISOR), "top", processes=True)
    progress("converting", 1, 1)
    return text


def _netlist(description: Description, work: Path, progress: Progress) -> str:
    from ..synth.gates import board_gates
    made = board_gates(description, divisor=DIVISOR, progress=progress)
    (work / "netlist").write_text(made.digest)
    return made.text


def compile_board(text: str, work: Path, progress: Progress = lambda *_: None) -> None:
    """Build ``work/simulator`` from Verilog ``text``, whose module ``top`` has the ports ``clk``,
    ``rst``, ``rx``, ``tx`` and ``running``."""
    import shutil
    objects = work / "objects"
    objects.mkdir()
    (objects / "top.v").write_text(text)
    progress("verilating", 0, 1)
    files = verilate([objects / "top.v", *module_files(text, objects)], objects, top="top",
                     vpi=False)
    progress("verilating", 1, 1)
    compile_all(Compilation(objects, [*files, SOURCES / "uart.cpp"],
                            defines=[f"-DNICBED_DIVISOR={DIVISOR}"]),
                work / "simulator", progress=progress)
    shutil.rmtree(objects, ignore_errors=True)
