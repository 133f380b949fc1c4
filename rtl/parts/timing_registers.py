"""The target's timing registers: written between runs, read by every block that keeps time."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ...layouts.description import Description
from ...layouts.timing import TIMING_REGISTERS, timing_values
from .timing import Timing

__all__ = ["TimingRegisters"]


class TimingRegisters(wiring.Component):
    """One register a timing knob.

    Latency: a value written is on ``timing`` in the next cycle. Writes are taken while the domain
    is in reset, too, and reset changes nothing: a reset target runs on with its settings. Meant to
    be written in reset alone, for blocks may assume that no value changes under them. A write to an
    index without a register does nothing; a value too wide for its register is cut.

    Parameters
    ----------
    description : :class:`Description`
        Its timing knobs are the values after power-up.

    Members
    -------
    we : ``In(1)``
        Write ``data`` (as :meth:`TimingRegister.encode` gives it) to register ``index``.
    timing : ``Out(Timing)``
        All registers.

    Raises
    ------
    TypeError
        ``description`` is not a :class:`Description`.
    """

    we: In(1)
    index: In(8)
    data: In(32)
    timing: Out(Timing)

    def __init__(self, *, description: Description) -> None:
        if not isinstance(description, Description):
            raise TypeError(f"description must be a Description, not {description!r}")
        self._description = description
        super().__init__()

    @property
    def description(self) -> Description:
        """Where the values after power-up come from."""
        return self._description

    def elaborate(self, platform: object) -> Module:
        m = Module()
        values = zip(TIMING_REGISTERS, timing_values(self._description), strict=True)
        # One register for all of them, and all within one condition: a simulator has next to
        # nothing to do where nobody writes.
        held = Signal(Timing, init={register.field: value for register, value in values},
                      reset_less=True)
        with m.If(self.we):
            with m.Switch(self.index):
                for register in TIMING_REGISTERS:
                    with m.Case(register.index):
                        m.d.sync += held[register.field].eq(self.data)
        m.d.comb += self.timing.eq(held)
        return m
