"""The target's timing registers, one for each timing knob, as a struct that blocks take as an
input."""


from amaranth import unsigned
from amaranth.lib import data

from ...layouts.timing import TIMING_REGISTERS

__all__ = ["Timing"]

Timing = data.StructLayout({register.field: unsigned(register.width)
                            for register in TIMING_REGISTERS})
