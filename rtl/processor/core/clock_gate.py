"""The clock of a core that has no clock enable."""

from amaranth.hdl import ClockDomain, ClockSignal, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .enabled_core import checked_step

__all__ = ["RESET_EDGES", "ClockGate"]

RESET_EDGES = 16
"""Edges for which a core is held in reset."""


class ClockGate(wiring.Component):
    """Passes on to a core those edges of its own clock that the core should see.

    Every ``divider``-th edge passes while ``run`` and not ``asleep``; the count restarts whenever
    this condition begins. A core first sees RESET_EDGES edges with ``reset`` high. The decision
    depends only on registers and is made at the falling edge. So the clock cannot glitch, and this
    block's own clock may stand still while no edge has to pass.

    With ``step`` there is no gated clock: ``clk`` is this block's own, and the core has a clock
    enable that it makes of ``edge`` and ``step``.

    Parameters
    ----------
    step : Signal or None
        Clock enable of the enclosing block.

    Members
    -------
    run : ``In(1)``
        Low: no edge, and reset again afterwards. A register's value.
    asleep : ``In(1)``
        No edge. A register's value.
    divider : ``In(4)``
        1 or more; constant while ``run`` is high.
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
