"""The target's timing registers, one for each timing knob, as a struct that blocks take as an
input."""

from amaranth import unsigned
from amaranth.lib import data

from ...layouts.description import Description
from ...layouts.timing import TIMING_REGISTERS, own_registers, timing_registers

__all__ = ["Timing", "own_timing", "whole_timing"]

Timing = data.StructLayout({register.field: unsigned(register.width)
                            for register in TIMING_REGISTERS})


def own_timing(description: Description) -> data.StructLayout | None:
    """The timing registers of the NIC design of ``description``, by the keys of its knobs; None if
    it has none."""
    registers = own_registers(description)
    return data.StructLayout({register.key: unsigned(register.width)
                              for register in registers}) if registers else None


def whole_timing(description: Description) -> data.StructLayout:
    """All timing registers of the target of ``description``: those of :data:`Timing`, then those of
    its NIC design."""
    return data.StructLayout({register.field: unsigned(register.width)
                              for register in timing_registers(description)})
