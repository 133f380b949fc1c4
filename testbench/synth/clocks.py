"""Clocks of a board: those that its PLL can make and that give the line's rate."""

from fractions import Fraction
from typing import TYPE_CHECKING

from ..errors import UserError

if TYPE_CHECKING:
    from ...rtl.boards.devices.board import Board

__all__ = ["clock_divisor", "clocks", "parse_clock", "source_mhz"]


def parse_clock(text: str) -> Fraction:
    """MHz from a user's text.

    Raises
    ------
    UserError
        The text is no frequency.
    """
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise UserError(f"--clock {text}: must be a number of MHz, such as 48") from None
    if not 0 < value <= 400:
        raise UserError(f"--clock {text}: must be above 0 and at most 400 MHz")
    return value


def source_mhz(board: "Board") -> Fraction:
    """MHz of the oscillator of ``board``."""
    return Fraction(board.platform().default_clk_frequency) / 1_000_000


def clock_divisor(board: "Board", clock_mhz: Fraction) -> int:
    """Clocks for each bit of the line of ``board`` at ``clock_mhz``.

    Raises
    ------
    UserError
        The PLL cannot make the clock, or the clock does not give the line's rate.
    """
    from ...rtl.boards.devices.board import uart_divisor
    from ...rtl.boards.devices.pll import pll_settings

    try:
        pll_settings(source_mhz(board), clock_mhz)
        return uart_divisor(clock_mhz)
    except ValueError as error:
        other = min(clocks(board), key=lambda one: (abs(one - clock_mhz), one))
        raise UserError(f"--clock {float(clock_mhz):g} on the {board.title}: {error}; the nearest "
                        f"in whole kHz is --clock {float(other):g}") from None


def clocks(board: "Board") -> list[Fraction]:
    """Clocks of ``board`` in whole kHz, from the slowest on."""
    from ...rtl.boards.devices.pll import pll_clocks

    return [one for one in pll_clocks(source_mhz(board)) if _gives_the_rate(one)]


def _gives_the_rate(clock_mhz: Fraction) -> bool:
    from ...rtl.boards.devices.board import uart_divisor

    try:
        return bool(uart_divisor(clock_mhz))
    except ValueError:
        return False
