"""The clock of a core that has no clock enable."""

from amaranth.hdl import ClockDomain, ClockSignal, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .enabled_core import checked_step

__all__ = ["RESET_EDGES", "ClockGate"]

RESET_EDGES = 16
"""Edges that a core is held in reset for."""


class ClockGate(wiring.Component):
    """Lets those edges of its own clock through to a core that the core is to see.

    Every ``divider``-th edge is let through while ``run`` and not ``asleep``; the count begins
    anew whenever the two come to hold. A core sees RESET_EDGES edges with ``reset`` high first.
    What is let through depends on registers alone, and is decided at the falling edge: the clock
    cannot glitch, and it makes no difference whether this block's own clock stands still while
    there are no edges to let through.

    With ``step`` there is no gated clock: ``clk`` is this block's own, and the core has a clock
    enable that it makes of ``edge`` and ``step``.

    Parameters
    ----------
    step : Signal or None
        The clock enable that this block is wrapped in.

    Members
    -------
    run : ``In(1)``
        Low: no edge, and reset again afterwards. A register's value.
    asleep : ``In(1)``
        No edge. A register's value.
    divider : ``In(4)``
        1 or more; as it is with ``run``, for as long as that holds.
    clk : ``Out(1)``, reset : ``Out(1)``
        The core's clock, and its reset.
    edge : ``Out(1)``
        The core's clock rises at the end of this cycle.

    Raises
    ------
    TypeError, ValueError
        ``step`` is not a signal of one bit.
    """

    run: In(1)
    asleep: In(1)
    divider: In(4)
    clk: Out(1)
    reset: Out(1, init=1)
    edge: Out(1)

    def __init__(self, *, step: Signal | None = None) -> None:
        self._step = checked_step(step)
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        phase = Signal(4)
        left = Signal(range(RESET_EDGES), init=RESET_EDGES - 1)
        if self._step is None:
            self._gate(m)
        else:
            m.d.comb += self.clk.eq(ClockSignal())
        m.d.comb += self.edge.eq(self.run & ~self.asleep & (phase + 1 >= self.divider))
        with m.If(self.edge | ~self.run | self.asleep):
            m.d.sync += phase.eq(0)
        with m.Else():
            m.d.sync += phase.eq(phase + 1)
        with m.If(~self.run):
            m.d.sync += [self.reset.eq(1), left.eq(RESET_EDGES - 1)]
        with m.Elif(self.edge):
            with m.If(left == 0):
                m.d.sync += self.reset.eq(0)
            with m.Else():
                m.d.sync += left.eq(left - 1)
        return m

    def _gate(self, m: Module) -> None:
        m.domains.low = low = ClockDomain(clk_edge="neg", reset_less=True, local=True)
        through = Signal()
        m.d.low += through.eq(self.edge)
        m.d.comb += [low.clk.eq(ClockSignal()), self.clk.eq(ClockSignal() & through)]
