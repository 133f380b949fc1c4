"""A port that spins on a kept word: what its checks do to it, and the leap over them."""

from typing import TYPE_CHECKING

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ...layouts.operations import WORK_BITS
from .state import State

if TYPE_CHECKING:
    from .executor import Executor

__all__ = ["PHASE_BITS", "SpinSide", "spin"]

PHASE_BITS = 33

SpinSide = wiring.Signature({
    "valid": In(1),
    "phase": In(PHASE_BITS),
    "period": In(PHASE_BITS),
    "distance": In(32),
    "leaps": Out(1),
    "to": Out(PHASE_BITS),
    "following": Out(32),
})
"""A spinning port as its environment sees it.

``valid``: the port checks a word that it keeps, and the last check found what the next will find.
Until something else moves in its node, or a deadline, all that its checks change is where in a
check it is: its ``phase``, which each cycle moves on by 256, modulo ``period``. ``distance``: the
cycles from this one to the deadline, from which on a check may end the poll or an interrupt is
seen; all ones for none. ``phase`` and ``period`` are valid with ``valid``.

CPU work is counted in ticks, 1/256 of a cycle. A check takes its work and a cycle: ``period`` ticks
in all. It begins in the cycle, and with the fraction of it, in which its first tick lies. ``phase``
counts the ticks from the check's first tick to the last one of this cycle. So the phase d cycles
later is (phase + 256 d) mod period.

With ``leaps`` the edge loads the phase ``to`` and begins cycle ``following``. The environment gives
it in a cycle with ``valid``, at most ``distance`` cycles before ``following``, and ``to`` as above:
then the port is as if all edges up to ``following`` had come."""


def spin(x: "Executor", m: Module) -> None:
    """The port's part, after all others: a leap goes before what a check does."""
    side, now, work = x.host.spin, x.port.now, x.entry.work
    moved = x.port.snoop.valid
    if x.port.peers:
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
