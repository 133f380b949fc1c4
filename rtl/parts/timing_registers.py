"""The target's timing registers: written between runs, read by every block that keeps time."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ...layouts.description import Description
from ...layouts.timing import timing_registers, timing_values
from .timing import whole_timing

__all__ = ["TimingRegisters"]


class TimingRegisters(wiring.Component):
    """One register for each timing knob.

    Latency: a value written is on ``timing`` in the next cycle. Writes are also taken while the
    domain is in reset, and reset changes no register: a target keeps its settings over a reset. The
    registers must be written only in reset, because blocks may assume that their values are
    constant. A write to an index without a register does nothing; a value too wide for its register
    is cut.

    Parameters
    ----------
    description : :class:`Description`
        Its timing knobs are the values after power-up.

    Members
    -------
    we : ``In(1)``
        Write ``data`` (as :meth:`TimingRegister.encode` gives it) to register ``index``.
    timing : ``Out(whole_timing(description))``
        All registers: those of :data:`~.timing.Timing`, then those of the NIC design.

    Raises
    ------
    TypeError
        ``description`` is not a :class:`Description`.
    """

    def __init__(self, *, description: Description) -> None:
        if not isinstance(description, Description):
            raise TypeError(f"description must be a Description, not {description!r}")
        self._description = description
        super().__init__({"we": In(1), "index": In(8), "data": In(32),
                          "timing": Out(whole_timing(description))})

    @property
    def description(self) -> Description:
        """The description that gives the values after power-up."""
        return self._description

    def elaborate(self, platform: object) -> Module:
        m = Module()
        registers = timing_registers(self._description)
        values = zip(registers, timing_values(self._description), strict=True)
        # One register for all of them, and all within one condition, so that a simulator does
        # almost no work here without writes.
        held = Signal(self.timing.shape(),
                      init={register.field: value for register, value in values},
                      reset_less=True)
        with m.If(self.we):
            with m.Switch(self.index):
                for register in registers:
                    with m.Case(register.index):
                        m.d.sync += held[register.field].eq(self.data)
        m.d.comb += self.timing.eq(held)
        return m
