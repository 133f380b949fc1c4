"""Timing registers of the target: how each timing knob is encoded, and at which index it is set."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .description import Description, Kind, knobs
from .rate import FRACTION_BITS, fixed_point

__all__ = ["PROBABILITY_BITS", "TimingRegister", "TIMING_REGISTERS", "timing_values"]

PROBABILITY_BITS = 24
"""A probability p is the threshold round(p * 2**24): a fault happens if a draw is below it."""


@dataclass(frozen=True)
class TimingRegister:
    """Register ``index`` holds knob ``name`` in ``width`` bits. ``field`` is its name in RTL."""

    index: int
    name: str
    width: int

    @property
    def field(self) -> str:
        return self.name.replace(".", "_")

    def encode(self, value: Any) -> int:
        """The register's value for the knob's ``value``."""
        if self.name == "nic.overflow":
            return int(value == "drop")
        if isinstance(value, Fraction):
            return fixed_point(value)
        if isinstance(value, float):
            return round(value * (1 << PROBABILITY_BITS))
        return int(value)


def _width(name: str, default: Any, bounds: str) -> int:
    if name == "nic.overflow":
        return 1
    if isinstance(default, Fraction):
        return 4 + FRACTION_BITS
    if isinstance(default, float):
        return PROBABILITY_BITS + 1
    return int(bounds.split(" to ")[1]).bit_length()


TIMING_REGISTERS = tuple(
    TimingRegister(index, knob.name, _width(knob.name, knob.default, knob.bounds))
    for index, knob in enumerate(k for k in knobs() if k.kind is Kind.TIMING)
)
"""All of them. Rates have FRACTION_BITS fraction bits."""


def timing_values(description: Description) -> list[int]:
    """The registers' values for ``description``, in the order of their index."""
    values = []
    for register in TIMING_REGISTERS:
        section, knob = register.name.split(".")
        values.append(register.encode(getattr(getattr(description, section), knob)))
    return values
