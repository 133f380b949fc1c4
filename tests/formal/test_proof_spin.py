"""A spinning port's state is its phase: each cycle moves that on by 256, and a leap loads it.

From this follows that a leap of d cycles is d spins, for every work, fraction and timeout: the
phase d cycles later is (phase + 256 d) mod period, and the phase says in which state the port is.
The proof takes from others that a word stays kept, and its line in the cache, in both its levels
(:mod:`.test_proof_two_levels`), until a snoop.
"""

import pytest
from amaranth.hdl import Assert, Assume, Cat, Module, Mux, ResetSignal, Signal
from amaranth.lib import wiring
from nicbed.layouts.operations import Op
from nicbed.rtl.cpu.executor import Executor
from nicbed.rtl.cpu.host_port import HostPort
from nicbed.rtl.cpu.port_shape import PortShape
from nicbed.rtl.cpu.state import State

from tests.formal.prover import Refuted, needs_prover, prove
from tests.labs.rows import more

pytestmark = needs_prover


class Spinning(wiring.Elaboratable):
    """A port in a poll of one word that never matches. ``late``: a leap ends so many cycles later
    than it says. ``l2_lines``: of its cache's second level, if it has one."""

    def __init__(self, late: int = 0, step: int = 256, l2_lines: int = 0) -> None:
        self.late = late
        self.step = step
        self.port = HostPort(shape=PortShape(posted_writes=2, cache_lines=2, l2_lines=l2_lines))
        self.work = Signal(32)
        host = self.port.host
        self.ports = [self.work, host.go, host.count, host.spin.leaps, host.spin.to,
                      host.spin.following, self.port.irq]

    def elaborate(self, platform):
        m = Module()
        port, side = self.port, self.port.host.spin
        x = Executor(port, port.posted_buffer, port.cache, port.inner)
        m.submodules.port = x.module
        now, timing = Signal(32), Signal.like(port.timing.as_value())
        m.d.sync += [now.eq(Mux(side.leaps, side.following + self.late, now + 1)),
                     timing.eq(timing)]
        m.d.comb += [
            Assume(~ResetSignal()),
            port.now.eq(now),
            port.timing.as_value().eq(timing),
            port.host.entry.op.eq(Op.POLL),
            port.host.entry.work.eq(self.work),
            port.host.entry.data[0].eq(1),
        ]
        work = Signal(32)
        begun = Signal()
        m.d.sync += [work.eq(self.work), begun.eq(1)]
        m.d.comb += Assume(~begun | (work == self.work))

        # What the registers say.
        fetches = x.state == State.FETCH
        fraction = Signal(8)
        elapsed = Signal(32)
        cycles = Signal(25)
        phase = Signal(33)
        sound = Signal()
        m.d.comb += [
            fraction.eq(Mux(fetches, x.fraction, x.fraction - self.work)),
            elapsed.eq(Mux(fetches, 0, now - x.check_begun)),
            cycles.eq((fraction + self.work) >> 8),
            phase.eq(Cat(~fraction, elapsed)),
            sound.eq(fetches | (x.state == State.RUN) & (elapsed == cycles) & (cycles != 0)
                     | (x.state == State.WORK) & (elapsed != 0) & (elapsed < cycles)
                     & (x.until == (x.check_begun + cycles - 1)[:32])),
        ]
        spinning = side.valid & (side.distance >= 2)
        polls = x.polling & ~x.watching & ~x.once & (port.host.index == x.base) \
            & (x.last == x.base) & x.running
        m.d.comb += [
            Assume(~(x.spins & x.executes) | (x.accessed & ~x.cache.reads)),
            Assert(~x.once & ~x.watching),
            Assert(Mux(x.polling, polls, fetches)),
            Assert(~x.spins | (sound & polls)),
            Assert(~side.valid | ((phase == side.phase) & (side.period == self.work + 256)
                                  & (side.phase < side.period))),
            Assert(~spinning | ~x.finishes),
            Assume(~side.leaps | (spinning & (side.to < side.period)
                                  & ((side.following - now)[:32] != 0)
                                  & ((side.following - now)[:32] <= side.distance))),
        ]

        spun, leapt, before, period, to, seen, irq, due = (
            Signal(), Signal(), Signal(33), Signal(33), Signal(33), Signal(), Signal(), Signal())
        m.d.sync += [spun.eq(spinning), leapt.eq(side.leaps), before.eq(phase), to.eq(side.to),
                     period.eq(side.period), seen.eq(x.irq.seen), irq.eq(port.irq),
                     due.eq(side.leaps & ((side.following - now)[:32] == side.distance))]
        following = Signal(34)
        m.d.comb += following.eq(before + self.step)
        with m.If(spun):
            m.d.comb += [Assert(sound), Assert(polls),
                         Assert((x.irq.seen == seen) | (port.irq != irq) | due)]
            with m.If(leapt):
                m.d.comb += Assert(phase == to)
            with m.Else():
                m.d.comb += Assert(phase == Mux(following < period, following,
                                                following - period))
        return m


@pytest.mark.full
@pytest.mark.parametrize("l2_lines", [0, 4])
def test_a_leap_is_so_many_spins(l2_lines, tmp_path):
    design = Spinning(l2_lines=l2_lines)
    prove(design, design.ports, tmp_path, depth=3)


@pytest.mark.parametrize("broken", [{"late": 1}, {"step": 255}, more({"step": 512})])
def test_a_leap_that_is_off_is_refuted(broken, tmp_path):
    design = Spinning(**broken)
    with pytest.raises(Refuted):
        prove(design, design.ports, tmp_path, depth=3)
