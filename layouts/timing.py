"""Timing registers of the target: how each timing knob is encoded, and at which index it is set."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .description import Description, Kind, Knob, knobs, knobs_of
from .rate import FRACTION_BITS, fixed_point

__all__ = ["PROBABILITY_BITS", "TimingRegister", "TIMING_REGISTERS", "own_registers",
           "packed_timing", "timing_registers", "timing_values"]

PROBABILITY_BITS = 24
"""A probability p is the threshold round(p * 2**24): a fault happens if a draw is below it."""


@dataclass(frozen=True)
class TimingRegister:
    """Register ``index`` holds knob ``name`` in ``width`` bits. A text is held as the place of its
    value among ``choices``. ``holds``: the section's property that it holds in place of the
    knob."""

    index: int
    name: str
    width: int
    choices: tuple[str, ...] = ()
    holds: str = ""

    @property
    def field(self) -> str:
        """Its name in RTL, in a structure of registers of several sections."""
        return self.name.replace(".", "_")

    @property
    def key(self) -> str:
        """Its name in RTL, in a structure of registers of one section."""
        return self.name.split(".")[1]

    def value(self, description: Description) -> int:
        """Returns the value that the register holds under ``description``."""
        section, key = self.name.split(".")
        return self.encode(getattr(getattr(description, section), self.holds or key))

    def encode(self, value: Any) -> int:
        """The register's value for the knob's ``value``."""
        if isinstance(value, str):
            return self.choices.index(value)
        if isinstance(value, Fraction):
            return fixed_point(value)
        if isinstance(value, float):
            return round(value * (1 << PROBABILITY_BITS))
        return int(value)


def _width(knob: Knob) -> int:
    if isinstance(knob.default, str):
        return (len(knob.choices) - 1).bit_length()
    if isinstance(knob.default, bool):
        return 1
    if isinstance(knob.default, Fraction):
        return 4 + FRACTION_BITS
    if isinstance(knob.default, float):
        return PROBABILITY_BITS + 1
    return int(knob.ends[1]).bit_length()


def _registers(found: Iterable[Knob], first: int) -> tuple[TimingRegister, ...]:
    timing = (knob for knob in found if knob.kind is Kind.TIMING)
    return tuple(TimingRegister(index, knob.name, _width(knob), knob.choices, knob.holds)
                 for index, knob in enumerate(timing, first))


TIMING_REGISTERS = _registers(knobs(Description()), 0)
"""Those of every target. Rates have FRACTION_BITS fraction bits. That of the memory is of accesses
of 8 bytes a beat, whatever the width of its port."""


def own_registers(description: Description) -> tuple[TimingRegister, ...]:
    """Those of the NIC design's own section, behind TIMING_REGISTERS."""
    own = description.design.knobs
    return _registers(knobs_of({description.design.name: own}), len(TIMING_REGISTERS)) \
        if own else ()


def timing_registers(description: Description) -> tuple[TimingRegister, ...]:
    """All registers of the target of ``description``, by index."""
    return TIMING_REGISTERS + own_registers(description)


def timing_values(description: Description) -> list[int]:
    """The values of :func:`timing_registers` for ``description``, in the order of their index."""
    return [register.value(description) for register in timing_registers(description)]


def packed_timing(values: Sequence[int], registers: Sequence[TimingRegister] = TIMING_REGISTERS
                  ) -> list[int]:
    """The ``values`` of ``registers``, in their order, side by side as the target's blocks get
    them: 32-bit words, the lowest first."""
    packed, place = 0, 0
    for register, value in zip(registers, values, strict=True):
        packed |= (value & ((1 << register.width) - 1)) << place
        place += register.width
    return [packed >> at & 0xFFFF_FFFF for at in range(0, place, 32)]
