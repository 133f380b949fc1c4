"""What the fabric rests on, proven for all time: credits, arbiters, FIFO levels.

Each proof stands beside a broken design that it refutes.
"""

import pytest
from amaranth.hdl import Assert, Assume, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import wiring
from nicbed.rtl.fabric.link import Link
from nicbed.rtl.parts.first_come import FirstCome
from nicbed.rtl.parts.flit import Flit
from nicbed.rtl.parts.queue import Queue
from nicbed.rtl.parts.round_robin import RoundRobin

from tests.formal.prover import Refuted, needs_prover, prove
from tests.labs.rows import more

pytestmark = needs_prover


def inputs(component: wiring.Component) -> list[Value]:
    """All ports, of which the prover drives the inputs as it likes."""
    return [Value.cast(value) for _, _, value in component.signature.flatten(component)]


class CreditBounds(wiring.Elaboratable):
    """Every credit of a link is in one place, and so no flit is written over another."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def elaborate(self, platform):
        m = Module()
        m.submodules.link = link = self.link
        depth = link.depth
        flying = link._level + link._on_wire

        def behind(place, distance):
            """The place ``distance`` (0 to depth) after ``place``."""
            far = place + distance
            return Mux(far >= depth, far - depth, far)

        m.d.comb += [
            Assume(~ResetSignal()),
            Assert(link._credits + flying + link._returning == depth),
            Assert(link._credits <= depth),
            Assert(flying <= depth),
            Assert(link._returning <= depth),
            Assert(link._head < depth),
            Assert(link._land < depth),
            Assert(link._tail < depth),
            Assert(link._back < depth),
            Assert(behind(link._head, link._level) == link._land),
            Assert(behind(link._head, flying) == link._tail),
            Assert(behind(link._back, link._returning) == link._head),
            Assert(~link.idle | (flying == 0)),
        ]
        return m


class Fairness(wiring.Elaboratable):
    """One grant at most, to a requester; and nobody waits for more than count - 1 others."""

    def __init__(self, arbiter: RoundRobin) -> None:
        self.arbiter = arbiter

    def elaborate(self, platform):
        m = Module()
        m.submodules.arbiter = arbiter = self.arbiter
        count = arbiter.count
        grant, turn = arbiter.grant, arbiter._turn
        m.d.comb += [
            Assume(~ResetSignal()),
            Assert((grant & (grant - 1)) == 0),
            Assert((grant & ~arbiter.requests) == 0),
            Assert(arbiter.requests.any() == grant.any()),
            Assert(~grant.any() | ((1 << arbiter.index) == grant)),
        ]
        first = Signal(range(count + 1))
        for n in reversed(range(count)):
            with m.If(turn[n] & (turn[:n] == 0)):
                m.d.comb += first.eq(n)
        # The turn is a thermometer: all from the first on. None at all stands for all.
        m.d.comb += Assert((turn == 0) | (turn == ~((1 << first) - 1) & ((1 << count) - 1)))
        for n in range(count):
            waited = Signal(range(count + 1), name=f"waited_{n}")
            mine = arbiter.requests[n]
            used = arbiter.advance & arbiter.requests.any()
            with m.If(~mine | (used & grant[n])):
                m.d.sync += waited.eq(0)
            with m.Elif(used):
                m.d.sync += waited.eq(waited + 1)
            # The bound, and what makes it inductive: who waited w grants is w places nearer.
            distance = Mux(first <= n, n - first, n + count - first)
            m.d.comb += [
                Assert(waited <= count - 1),
                Assert(waited + distance <= count - 1),
            ]
        return m


class Seniority(wiring.Elaboratable):
    """One grant at most, to a requester that is able to go, if there is one; and nobody who is able
    to go is passed over by one who has been granted since he began to wait."""

    def __init__(self, arbiter: FirstCome) -> None:
        self.arbiter = arbiter

    def elaborate(self, platform):
        m = Module()
        m.submodules.arbiter = arbiter = self.arbiter
        grant, waiting, before = arbiter.grant, arbiter._waiting, arbiter._before
        ready = arbiter.requests & arbiter.able
        m.d.comb += [
            Assume(~ResetSignal()),
            Assert((grant & (grant - 1)) == 0),
            Assert((grant & ~ready) == 0),
            Assert(ready.any() == grant.any()),
        ]
        for one in range(arbiter.count):
            for other in range(arbiter.count):
                if one == other:
                    continue
                passed = Signal(name=f"passed_{one}_{other}")
                with m.If(~arbiter.requests[one] | (grant[one] & arbiter.advance)):
                    m.d.sync += passed.eq(0)
                with m.Elif(grant[other] & arbiter.advance):
                    m.d.sync += passed.eq(1)
                m.d.comb += [
                    Assert(~(passed & ready[one] & grant[other])),
                    # What makes it inductive: who has been passed waits, and is before the other.
                    Assert(~passed | waiting[one]),
                    Assert(~(passed & waiting[other]) | before[other][one]),
                ]
        everybody = range(arbiter.count)
        # Those that wait are in one line.
        for one in everybody:
            m.d.comb += Assert(~(before[one] & ~waiting).any() | ~waiting[one])
            m.d.comb += Assert(~(waiting[one] & before[one][one]))
            for other in everybody:
                both = waiting[one] & waiting[other] if one != other else 0
                m.d.comb += Assert(~both | (before[one][other] ^ before[other][one]))
                for third in everybody:
                    m.d.comb += Assert(~(waiting[one] & before[one][other] & before[other][third])
                                       | before[one][third])
        return m


class Levels(wiring.Elaboratable):
    """A queue's level is between 0 and its depth, and counts what went in and did not come out."""

    def __init__(self, queue: Queue) -> None:
        self.queue = queue

    def elaborate(self, platform):
        m = Module()
        m.submodules.queue = queue = self.queue
        inside = Signal(range(queue.depth + 2))
        took = queue.i.valid & queue.i.ready
        gave = queue.o.valid & queue.o.ready
        m.d.sync += inside.eq(inside + took - gave)
        m.d.comb += [
            Assume(~ResetSignal()),
            Assert(queue.level <= queue.depth),
            Assert(queue.level == inside),
            Assert(~took | (queue.level < queue.depth)),
            Assert(~queue.o.valid | (queue.level != 0)),
        ]
        return m


@pytest.mark.parametrize(("buffer", "pipeline"), [more(64, 0), (64, 8), more(256, 8)])
def test_link_credits(tmp_path, buffer, pipeline):
    link = Link(buffer=buffer, pipeline=pipeline)
    prove(CreditBounds(link), inputs(link), tmp_path, depth=2)


@pytest.mark.parametrize("count", [more(1), more(2), 3, more(8), more(16)])
def test_arbiter_fairness(tmp_path, count):
    arbiter = RoundRobin(count=count)
    prove(Fairness(arbiter), inputs(arbiter), tmp_path, depth=2)


@pytest.mark.parametrize("count", [more(1), 2, more(3), more(8)])
def test_first_come_is_first_served(tmp_path, count):
    arbiter = FirstCome(count=count)
    prove(Seniority(arbiter), inputs(arbiter), tmp_path, depth=2)


@pytest.mark.parametrize("depth", [2, more(16), more(512)])
def test_queue_levels(tmp_path, depth):
    queue = Queue(shape=Flit, depth=depth)
    prove(Levels(queue), inputs(queue), tmp_path, depth=2)


class LeakyLink(Link):
    """Takes a flit without a credit, now and then."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        with m.If(self.now[0]):
            m.d.comb += self.i.ready.eq(1)
        return m


class GreedyArbiter(RoundRobin):
    """Grants the lowest requester, always."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.sync += self._turn.eq(0)
        return m


class DoubleArbiter(RoundRobin):
    """Grants requester 0 beside whoever is granted."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        with m.If(self.requests[0]):
            m.d.comb += self.grant[0].eq(1)
        return m


class ForgetfulArbiter(FirstCome):
    """Forgets that somebody waits who is not able to go."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        with m.If(~self.able[0]):
            m.d.sync += self._waiting[0].eq(0)
        return m


class EagerQueue(Queue):
    """Takes what comes, room or not."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.comb += self.i.ready.eq(1)
        return m


@pytest.mark.parametrize("broken", [
    lambda: (link := LeakyLink(buffer=64), CreditBounds(link)),
    more(lambda: (arbiter := GreedyArbiter(count=8), Fairness(arbiter))),
    more(lambda: (arbiter := DoubleArbiter(count=8), Fairness(arbiter))),
    lambda: (arbiter := ForgetfulArbiter(count=2), Seniority(arbiter)),
    more(lambda: (queue := EagerQueue(shape=Flit, depth=4), Levels(queue))),
], ids=["credit", "unfair", "two grants", "forgets", "overflow"])
def test_broken_design_is_refuted(tmp_path, broken):
    component, claims = broken()
    with pytest.raises(Refuted, match=r"DONE \(FAIL"):
        prove(claims, inputs(component), tmp_path, depth=16)
