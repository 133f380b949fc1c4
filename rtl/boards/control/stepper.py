"""The clock enable of a board's target: when the target takes a step."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Stepper"]


class Stepper(wiring.Component):
    """Drives the clock enable of a board's target, and counts its cycles.

    Latency: none; a step is one cycle, and the next may follow at once. ``step`` has few gates
    behind registers, because it drives the whole target. Reset: no steps are left.

    Members
    -------
    start : ``In(1)``, cycles : ``In(32)``
        From the next cycle on, ``cycles`` steps may be taken; 0: no limit. A skipped stretch of
        quiescent time is one step.
    run : ``In(1)``
        Steps are taken unless they are blocked.
    stall : ``In(1)``, blocked : ``In(1)``
        Blocks steps: by the target, and by the board.
    reset : ``In(1)``
        The target is in reset: every cycle is a step, even if it is blocked.
    step : ``Out(1)``
        The next edge is one of the target's.
    over : ``Out(1)``
        All commanded steps were taken.
    """

    start: In(1)
    cycles: In(32)
    run: In(1)
    stall: In(1)
    blocked: In(1)
    reset: In(1)
    step: Out(1)
    over: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        left = Signal(32)
        counts = Signal()
        m.d.comb += self.step.eq(
            self.reset | (self.run & ~self.over & ~self.stall & ~self.blocked))
        with m.If(self.step & counts):
            m.d.sync += left.eq(left - 1)
            with m.If(left == 1):
                m.d.sync += self.over.eq(1)
        with m.If(self.start):
            m.d.sync += [left.eq(self.cycles), counts.eq(self.cycles != 0), self.over.eq(0)]
        return m
