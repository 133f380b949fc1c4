"""What a board is: a platform of amaranth-boards, and what of it is used."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....layouts.board import BAUD

__all__ = ["Board", "uart_divisor"]

_TOLERANCE = Fraction(25, 1000)
"""By how much a bit may be too long or too short: the last one of a byte is then a quarter off."""


@dataclass(frozen=True)
class Board:
    """A board with an ECP5, its serial line and a light.

    A board of one's own is one of these in a file of its own, and a line in
    :data:`nicbed.testbench.synth.boards.BOARDS`.

    Parameters
    ----------
    name
        As ``--board`` names it.
    title
        As people do.
    platform
        Makes its platform: the device, the pins, and the oscillator as its default clock.
    programmer
        As openFPGALoader names it.
    clock_mhz
        Clock of the target unless another is asked for: one that its NICs routinely meet.
    led
        Resource that is lit while target time runs, and the path of the pin in it.
    uart
        Number of the resource ``uart`` that the USB bridge is at.
    """

    name: str
    title: str
    platform: Callable[[], Any]
    programmer: str
    clock_mhz: Fraction
    led: tuple[str, ...] = ("led",)
    uart: int = 0


def uart_divisor(clock_mhz: Fraction, baud: int = BAUD) -> int:
    """Clocks a bit that give ``baud`` as exactly as can be.

    Raises
    ------
    ValueError
        The nearest rate is further off than a receiver stands.
    """
    exact = clock_mhz * 1_000_000 / baud
    divisor = max(2, round(exact))
    if abs(divisor / exact - 1) > _TOLERANCE:
        raise ValueError(f"a clock of {float(clock_mhz):g} MHz gives no {baud} baud: {divisor} "
                         f"clocks a bit are {float(abs(divisor / exact - 1) * 100):.1f} % off")
    return divisor
