"""A port that spins on a kept word: what its checks do to it, and the leap over them."""

from amaranth.hdl import Cat, Module, Mux, Signal

from ...layouts.operations import WORK_BITS
from .execution import Execution
from .state import State

__all__ = ["spin"]


def spin(x: Execution, m: Module) -> None:
    """The port's part, after all others: a leap goes before what a check does."""
    side, now, work = x.host.spin, x.port.now, x.entry.work
    moved = x.port.snoop.valid
    if x.shape.peers:
        # Another CPU's store ends, or its cache takes the line beforehand.
        moved |= x.port.bus.commits | Cat(news.valid for news in x.port.news).any()
    with m.If(x.finishes | moved):
        m.d.sync += x.spins.eq(0)
    with m.Elif(x.repeats):
        m.d.sync += x.spins.eq(1)

    deadline = Signal(32)
    m.d.comb += [deadline.eq(~0), side.distance.eq(deadline)]
    with m.If(x.spins & x.quiet):
        spent = (now - x.begun)[:32]
        fraction = (x.fraction - work)[:WORK_BITS]
        m.d.comb += [
            side.valid.eq((x.timeout == 0) | (spent + 1 < x.timeout)),
            side.period.eq(work + (1 << WORK_BITS)),
            side.phase.eq(Cat((~fraction)[:WORK_BITS], (now - x.check_begun)[:32])),
        ]
        with m.If(x.state == State.FETCH):
            m.d.comb += side.phase.eq((~x.fraction)[:WORK_BITS])
        with m.If(x.timeout != 0):
            m.d.comb += deadline.eq(x.timeout - 1 - spent)
        with m.If(x.irq.pending & (x.irq.distance < deadline)):
            m.d.comb += side.distance.eq(x.irq.distance)

    with m.If(side.leaps):
        passed = side.to[WORK_BITS:]
        begun = side.following - passed
        total = (~side.to)[:WORK_BITS] + work
        cycles = total[WORK_BITS:]
        m.d.sync += [
            x.fraction.eq(total),
            x.check_begun.eq(begun),
            x.until.eq(begun + cycles - 1),
            x.state.eq(Mux(passed == cycles, State.RUN, State.WORK)),
        ]
        with m.If(passed == 0):
            m.d.sync += [x.fraction.eq(~side.to), x.state.eq(State.FETCH)]
