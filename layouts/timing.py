"""Timing registers of the target: how each timing knob is encoded, and at which index it is set."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .description import Description, Kind, Knob, knobs
from .rate import FRACTION_BITS, fixed_point

__all__ = ["PROBABILITY_BITS", "TimingRegister", "TIMING_REGISTERS", "packed_timing",
           "timing_values"]

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


def _width(knob: Knob) -> int:
    if knob.name == "nic.overflow":
        return 1
    if isinstance(knob.default, Fraction):
        return 4 + FRACTION_BITS
    if isinstance(knob.default, float):
        return PROBABILITY_BITS + 1
    return int(knob.ends[1]).bit_length()


TIMING_REGISTERS = tuple(
    TimingRegister(index, knob.name, _width(knob))
    for index, knob in enumerate(k for k in knobs() if k.kind is Kind.TIMING)
)
"""All of them. Rates have FRACTION_BITS fraction bits. That of the memory is of accesses of 8 bytes
a beat, whatever the width of its port."""


def timing_values(description: Description) -> list[int]:
    """The registers' values for ``description``, in the order of their index."""
    values = []
    for register in TIMING_REGISTERS:
        section, knob = register.name.split(".")
        value = getattr(getattr(description, section), knob)
        if register.name == "memory.bytes_per_cycle":
            value = description.memory.word_rate  # the port counts beats
        values.append(register.encode(value))
    return values


def packed_timing(values: Sequence[int]) -> list[int]:
    """The registers' ``values``, in the order of TIMING_REGISTERS, side by side as the target's
    blocks get them: 32-bit words, the lowest first."""
    packed, place = 0, 0
    for register, value in zip(TIMING_REGISTERS, values, strict=True):
        packed |= (value & ((1 << register.width) - 1)) << place
        place += register.width
    return [packed >> at & 0xFFFF_FFFF for at in range(0, place, 32)]
