"""The scheduler of VIs, proven for all time: nobody starves, nobody is lost, nobody is in twice.

The proof has three parts. Two lean on each other, a cycle behind each other: Place shows where a
queue is, as long as the ring does not overflow; Room shows that it does not, as long as who is
offered is marked as being inside. Turns is the claim, for queues that are where Place shows them to
be. They stand beside broken designs that they refute.
"""

import pytest
from amaranth.hdl import Array, Assert, Assume, Cat, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import wiring
from nicbed.rtl.parts.distinct_queue import DistinctQueue
from nicbed.rtl.vi.work_queues.scheduler import Scheduler

from tests.formal.prover import Refuted, needs_prover, prove
from tests.labs.rows import more

pytestmark = needs_prover


class Inside(wiring.Elaboratable):
    """What both halves look at."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.watched = Signal(range(2 * scheduler.vis))
        self.other = Signal(range(2 * scheduler.vis))

    def look(self, m):
        m.submodules.scheduler = scheduler = self.scheduler
        turns = self.turns = scheduler._turns
        items = self.items = turns.items
        puts = self.puts = Cat(*self.rows(m, turns._puts, items // 2))
        gots = Cat(*self.rows(m, turns._gots, items // 2))
        self.inside = Signal(items)
        self.level = Signal(range(2 * items))
        self.gives = turns.o.valid & turns.o.ready
        self.pushes = turns._adds & ((turns.o.valid & ~self.gives) | turns._waits)
        self.swept = turns._swept[-1]
        m.d.comb += [
            Assume(~ResetSignal()),
            self.inside.eq(puts ^ gots),
            self.level.eq(turns._tail - turns._head),
        ]
        with m.If(~self.swept):
            m.d.comb += [Assert(turns._tail == turns._head), Assert(~turns.o.valid),
                         Assert(~turns._came)]
        m.d.comb += [
            Assert(turns._swept <= items // 2),
            *(Assert((turns._swept <= number) | self.swept
                     | ((puts.word_select(number, 2) == 0) & (gots.word_select(number, 2) == 0)))
              for number in range(items // 2)),
        ]

    def rows(self, m, memory, count):
        result = []
        for number in range(count):
            port = memory.read_port(domain="comb")
            m.d.comb += port.addr.eq(number)
            result.append(port.data)
        return result

    def ring(self, m):
        # Room proves it.
        m.d.comb += [Assume(~self.pushes | (self.level < self.items)),
                     Assume(self.level <= self.items)]
        return Array(self.rows(m, self.turns._ring, self.items))

    def flags(self, m, number, claim=Assert):
        """Who comes is put in unless it is inside, and marked so: of item ``number``."""
        turns = self.turns
        mine = turns._came & (turns._item == number)
        m.d.comb += [
            claim(~mine | (turns._adds == ~self.inside.bit_select(number, 1))),
            claim(~mine | (turns._parity == self.puts.bit_select(number, 1))),
            claim(turns._came | ~turns._adds),
        ]

    def place(self, m, number, ring, name, claim):
        """Item ``number`` is where this says, and nowhere else: offered, or in the ring."""
        turns, level = self.turns, self.level
        head = turns._head[:-1]
        queued = Signal(name=f"{name}_queued")
        place = Signal(range(self.items), name=f"{name}_place")
        ahead = Signal(range(2 * self.items), name=f"{name}_ahead")
        offers = turns.o.valid & (turns._out.item == number)
        leaves = (~turns.o.valid | self.gives) & turns._waits
        with m.If(leaves & (place == head)):
            m.d.sync += queued.eq(0)
        with m.If(self.pushes & (turns._item == number)):
            m.d.sync += [queued.eq(1), place.eq(turns._tail)]

        def behind(at):
            return (at - head)[:len(head)]

        with m.If(queued):
            m.d.comb += ahead.eq(behind(place) + turns.o.valid)
        parity = self.puts.bit_select(number, 1)
        m.d.comb += [
            claim(~queued | ((behind(place) < level) & (ring[place].item == number)
                             & (ring[place].parity == parity))),
            *(claim((behind(at) >= level) | (ring[at].item != number)
                     | (queued & (place == at))) for at in range(self.items)),
            claim(~(queued & offers)),
            claim(~offers | (turns._out.parity == parity)),
            claim(~self.swept | (self.inside.bit_select(number, 1) == (queued | offers))),
            claim(self.swept | ~queued),
        ]
        self.flags(m, number, claim)
        return {"in": queued | offers, "ahead": ahead}


class Place(Inside):
    """Any queue is marked as being inside exactly if it is offered, or in one place of the ring."""

    def elaborate(self, platform):
        m = Module()
        self.look(m)
        self.place(m, self.watched, self.ring(m), "watched", Assert)
        before = Signal.like(self.watched)
        begun = Signal()
        m.d.sync += [before.eq(self.watched), begun.eq(1)]
        m.d.comb += Assume(~begun | (before == self.watched))
        return m


class Room(Inside):
    """The ring never overflows: as many are in it or offered as are marked."""

    def elaborate(self, platform):
        m = Module()
        self.look(m)
        turns = self.turns
        offered = turns._out
        m.d.comb += [
            # Place proves it of any queue.
            Assume(~turns.o.valid | (self.inside.bit_select(offered.item, 1)
                                     & (offered.parity
                                        == self.puts.bit_select(offered.item, 1)))),
            Assert(self.level <= self.items),
            Assert(~self.swept
                   | (self.level + turns.o.valid == total(list(self.inside)))),
            Assert(~self.pushes | (self.level < self.items)),
        ]
        self.flags(m, turns._item)
        return m


class Turns(Inside):
    """From the wake-up of a queue on, every other queue is taken at most once before it is: so at
    most 2 * vis - 1 are; and it is inside, in one place.

    ``watched`` and ``other`` are any two queues, the same for all time.
    """

    def elaborate(self, platform):
        m = Module()
        self.look(m)
        turns = self.turns
        ring = self.ring(m)
        # Place proves it of any queue.
        watched = self.place(m, self.watched, ring, "watched", Assume)
        other = self.place(m, self.other, ring, "other", Assume)

        scheduler = self.scheduler
        wakes = turns.i.valid & turns.i.ready & (turns.i.payload == self.watched)
        taken = scheduler.next.valid & scheduler.next.ready
        mine = taken & (scheduler.next.payload == self.watched)
        # A turn is owed; the other has had one meanwhile.
        owed = Signal()
        had = Signal()
        with m.If(taken & (scheduler.next.payload == self.other)):
            m.d.sync += had.eq(owed)
            # The claim.
            m.d.comb += Assert(~(owed & had))
        with m.If(mine):
            m.d.sync += [owed.eq(0), had.eq(0)]
        with m.If(wakes & (~owed | mine)):
            m.d.sync += [owed.eq(1), had.eq(0)]
        joins = turns._came & turns._adds & (turns._item == self.watched)
        m.d.comb += [
            Assert(~had | owed),
            Assert(~owed | self.swept),
            # Nobody is forgotten, and who waits is on the way out.
            Assert(~owed | joins | watched["in"]),
            # Who has had its turn is behind.
            Assert(~(owed & had) | ~other["in"] | (watched["in"]
                                                   & (other["ahead"] > watched["ahead"]))),
        ]

        begun = Signal()
        before = Signal.like(Cat(self.watched, self.other))
        kept = Signal()
        offered = Signal.like(scheduler.next.payload)
        quiet = Signal()
        m.d.sync += [
            begun.eq(1), before.eq(Cat(self.watched, self.other)),
            kept.eq(scheduler.next.valid & ~scheduler.next.ready),
            offered.eq(scheduler.next.payload),
            quiet.eq((turns._tail == turns._head) & ~turns._adds),
        ]
        m.d.comb += [
            Assume(self.watched != self.other),
            Assume(~begun | (before == Cat(self.watched, self.other))),
            Assert(~kept | (scheduler.next.valid & (scheduler.next.payload == offered))),
            # Whoever is inside in one cycle, somebody is offered in the next.
            Assert(~begun | quiet | scheduler.next.valid),
        ]
        return m


class Woken(wiring.Elaboratable):
    """A wake-up is taken after at most wakers - 1 cycles, whatever happens to the turns."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def elaborate(self, platform):
        m = Module()
        m.submodules.scheduler = scheduler = self.scheduler
        arbiter = scheduler._arbiter
        count = scheduler.wakers
        swept = scheduler._turns._swept[-1]
        first = Signal(range(count + 1))
        for n in reversed(range(count)):
            with m.If(arbiter._turn[n] & (arbiter._turn[:n] == 0)):
                m.d.comb += first.eq(n)
        m.d.comb += [
            Assume(~ResetSignal()),
            Assert((arbiter._turn == 0)
                   | (arbiter._turn == ~((1 << first) - 1) & ((1 << count) - 1))),
        ]
        for n, wake in enumerate(scheduler.wake):
            waited = Signal(range(count + 1), name=f"waited_{n}")
            m.d.sync += waited.eq(0)
            with m.If(wake.valid & ~wake.ready & swept):
                m.d.sync += waited.eq(waited + 1)
            distance = Mux(first <= n, n - first, n + count - first)
            m.d.comb += [Assert(waited <= count - 1), Assert(waited + distance <= count - 1)]
        return m


def total(bits):
    """How many of ``bits`` are set."""
    if len(bits) == 1:
        return bits[0]
    return total(bits[:len(bits) // 2]) + total(bits[len(bits) // 2:])


def check(claims, scheduler, work, *, depth=1):
    ports = [Value.cast(value) for _, _, value in scheduler.signature.flatten(scheduler)]
    chosen = [claims.watched, claims.other] if isinstance(claims, Inside) else []
    prove(claims, [*ports, *chosen], work, depth=depth)


@pytest.mark.parametrize("part, vis", [(Place, 2), more(Room, 2), more(Turns, 2), more(Place, 8),
                                       more(Room, 8), more(Turns, 8)])
def test_fairness(tmp_path, part, vis):
    scheduler = Scheduler(vis=vis, wakers=3)
    check(part(scheduler), scheduler, tmp_path)


@pytest.mark.parametrize("wakers", [1, more(3), more(5)])
def test_wake_ups(tmp_path, wakers):
    scheduler = Scheduler(vis=8, wakers=wakers)
    check(Woken(scheduler), scheduler, tmp_path)


class Twice(DistinctQueue):
    """Puts in whatever comes."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.comb += self._adds.eq(self._came)
        return m


class Deaf(DistinctQueue):
    """Forgets item 3 when somebody waits."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        with m.If((self._item == 3) & self._waits):
            m.d.comb += self._adds.eq(0)
        return m


class Pushing(DistinctQueue):
    """Who comes goes before those in the ring."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        with m.If(self._adds):
            m.d.comb += self._waits.eq(0)
        return m


@pytest.mark.parametrize("part, broken", [more(Place, Twice), (Place, Deaf), (Turns, Pushing),
                                          more(Room, Twice)])
def test_broken_queue_is_refuted(tmp_path, part, broken):
    scheduler = Scheduler(vis=2, wakers=1)
    scheduler._turns = broken(items=4)
    with pytest.raises(Refuted, match=r"DONE \(FAIL"):
        check(part(scheduler), scheduler, tmp_path, depth=20)
