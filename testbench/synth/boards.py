"""The boards there are, and what clocks they can have."""

from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING

from ..errors import UserError, nearest
from .tools import need

if TYPE_CHECKING:
    from ...rtl.boards.board import Board

__all__ = ["BOARDS", "board", "clock_divisor", "clocks"]

BOARDS = {
    "ecpix5": "nicbed.rtl.boards.ecpix5",
    "ulx3s": "nicbed.rtl.boards.ulx3s",
}
"""Name of each board, and the module that has it as its BOARD."""


def board(name: str) -> "Board":
    """The board called ``name``.

    Raises
    ------
    UserError
        There is none, or what it is made from is not installed.
    """
    if name not in BOARDS:
        raise UserError(f"no board is called {name}{nearest(name, sorted(BOARDS))}")
    need("boards")
    return import_module(BOARDS[name]).BOARD


def clock_divisor(board: "Board", clock_mhz: Fraction) -> int:
    """Clocks a bit of the line of ``board`` at ``clock_mhz``.

    Raises
    ------
    UserError
        Its PLL does not make that clock, or the line's rate is none of that clock's.
    """
    try:
        return _divisor(_source_mhz(board), clock_mhz)
    except ValueError as error:
        why = str(error).partition(";")[0]  # a PLL's nearest clock may be none for the line
        other = min(clocks(board), key=lambda one: (abs(one - clock_mhz), one))
        raise UserError(f"--clock {float(clock_mhz):g} on the {board.title}: {why}; the nearest in "
                        f"whole kHz is --clock {float(other):g}") from None


def clocks(board: "Board") -> list[Fraction]:
    """Clocks in whole kHz that ``board`` can have, from the slowest: its PLL makes them, and they
    give the line's rate."""
    from ...rtl.boards.pll import DIVIDERS, FEEDBACK, OUTPUT, PHASE_DETECTOR

    source = _source_mhz(board)
    made = {source * feedback / divider for feedback in FEEDBACK for divider in DIVIDERS
            if source / divider >= PHASE_DETECTOR[0]}
    return [one for one in sorted(made) if OUTPUT[0] <= one <= OUTPUT[1]
            and (one * 1000).denominator == 1 and _can(source, one)]


def _can(source_mhz: Fraction, clock_mhz: Fraction) -> bool:
    try:
        return bool(_divisor(source_mhz, clock_mhz))
    except ValueError:
        return False


def _divisor(source_mhz: Fraction, clock_mhz: Fraction) -> int:
    from ...rtl.boards.board import uart_divisor
    from ...rtl.boards.pll import pll_settings

    pll_settings(source_mhz, clock_mhz)
    return uart_divisor(clock_mhz)


def _source_mhz(board: "Board") -> Fraction:
    return Fraction(board.platform().default_clk_frequency) / 1_000_000
