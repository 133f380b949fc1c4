"""Description of a board: a platform of amaranth-boards, and the parts of it that are used."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....layouts.board import BAUD

__all__ = ["Board", "uart_divisor"]

_TOLERANCE = Fraction(25, 1000)
"""Largest error of a bit's length, at which the last bit of a byte is off by a quarter."""


@dataclass(frozen=True)
class Board:
    """A board with an ECP5, its serial line and a light.

    To add a board, write a file with one of these: ``nicbed synth --board ./my_board.py``.

    Parameters
    ----------
    name
        Name for ``--board``: small letters, digits and underscores.
    title
        Name in messages and documents.
    platform
        Function that makes the platform: the device, the pins, and the oscillator as its default
        clock.
    programmer
        Name for openFPGALoader.
    clock_mhz
        Default clock of the target, which its NICs usually meet.
    led
        Resource that is lit while target time runs, and the path of the pin in it.
    uart
        Number of the resource ``uart`` of the USB bridge.
    """

    name: str
    title: str
    platform: Callable[[], Any]
    programmer: str
    clock_mhz: Fraction
    led: tuple[str, ...] = ("led",)
    uart: int = 0


def uart_divisor(clock_mhz: Fraction, baud: int = BAUD) -> int:
    """Clocks for each bit that give ``baud`` as exactly as possible.

    Raises
    ------
    ValueError
        The nearest rate is off by more than a receiver tolerates.
    """
    exact = clock_mhz * 1_000_000 / baud
    divisor = max(2, round(exact))
    if abs(divisor / exact - 1) > _TOLERANCE:
        raise ValueError(f"a clock of {float(clock_mhz):g} MHz gives no {baud} baud: {divisor} "
                         f"clocks a bit are {float(abs(divisor / exact - 1) * 100):.1f} % off")
    return divisor
