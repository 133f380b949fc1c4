"""Caches of several CPUs: one owner of a line, no word kept that another's store has replaced, no
store that a NIC on the memory bus is not told of, proven for all time; broken ones are refuted."""

from typing import Any

import pytest
from amaranth.hdl import Assert, Assume, Cat, Const, Module, ResetSignal, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import connect
from nicbed.rtl.cpu.address_bus import AddressBus, covers
from nicbed.rtl.cpu.cache.mesi import Mesi
from nicbed.rtl.cpu.cache_shape import CacheShape
from nicbed.rtl.cpu.coherent_cache import CoherentCache
from nicbed.rtl.cpu.kept_words import KeptWords

from tests.formal.prover import Refuted, needs_prover, prove
from tests.labs.rows import more

pytestmark = needs_prover

LINE_BITS = 5
INPUTS = ("address", "store", "fetch", "hold")


def holds_inputs(m: Module, cache: CoherentCache, name: str) -> None:
    """Assume what the cache's user promises: an access stays until it is done."""
    begun = Signal(name=f"{name}_begun")
    m.d.sync += begun.eq(cache.valid & ~cache.done)
    m.d.comb += Assume(~begun | cache.valid)
    for field in (*INPUTS, *(["block"] if cache.shape.block_stores else [])):
        before = Signal.like(getattr(cache, field), name=f"{name}_{field}_before")
        m.d.sync += before.eq(getattr(cache, field))
        m.d.comb += Assume(~begun | (getattr(cache, field) == before))
    m.d.comb += [
        Assume(~(cache.store & cache.fetch)),
        Assume(~(cache.valid & cache.hold)),
        # A burst is answered when it was asked for.
        Assume(cache.timing.memory_upgrade >= 2),
    ]
    if cache.shape.block_stores:
        m.d.comb += Assume(cache.store | ~cache.block)


def stays(m: Module, value: Signal) -> None:
    """Assume that an input has one value for all time."""
    begun = Signal(name=f"{value.name}_begun")
    before = Signal.like(value, name=f"{value.name}_before")
    m.d.sync += [begun.eq(1), before.eq(value)]
    m.d.comb += Assume(~begun | (value == before))


def states(m: Module, cache: CoherentCache, name: str) -> dict[str, Value]:
    """Whether the access's FSM is in each of its states; what holds of them."""
    at = {state: cache._fsm.ongoing(state) for state in (
        "LOOKUP", "BACK", "PHASE", "INTERVENTION", "READ", "ENTER", "UPGRADE")}
    begun = Signal(name=f"{name}_on_its_way")
    m.d.sync += begun.eq(cache.valid & ~cache.done)
    before = at["LOOKUP"] | at["BACK"] | at["PHASE"]
    m.d.comb += [
        Assert(Cat(at.values()).any()),
        Assert(at["LOOKUP"] | begun),
        Assert(~before | ~cache._taking),
        Assert(~(at["INTERVENTION"] | at["UPGRADE"]) | cache._taking),
        Assert(~at["UPGRADE"] | cache.store),
        # What is read without an address phase is there, or was: a fetch.
        Assert(~(at["READ"] | at["ENTER"]) | cache._taking | cache.fetch),
        Assert(~cache._refill._taken | at["BACK"] | at["READ"]),
    ]
    return at


def state_of(m: Module, cache: CoherentCache, line: Value, name: str) -> Signal:
    """The state of a line in a cache."""
    tags = cache._tags
    port = tags._memory.read_port(domain="comb")
    state, index_bits = Signal(Mesi, name=name), len(tags._epoch)
    m.d.comb += port.addr.eq(line[:index_bits])
    with m.If((port.data.epoch == tags._epoch) & (port.data.tag == line[index_bits:])):
        m.d.comb += state.eq(port.data.state)
    return state


class Owned(wiring.Elaboratable):
    """Of any line: if one cache has it in E or M, no other has it at all; after a block store none
    has it."""

    def __init__(self, caches: list[CoherentCache]) -> None:
        self.caches = caches
        self.bus = AddressBus(caches=len(caches))
        self.line = Signal(32 - LINE_BITS)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.bus = self.bus
        line = self.line
        stays(m, line)
        m.d.comb += Assume(~ResetSignal())
        found = []
        stored = Signal()
        for number, cache in enumerate(self.caches):
            name = f"cache_{number}"
            m.submodules[name] = cache.elaborate(platform)
            connect(m, cache.bus, self.bus.cache[number])
            holds_inputs(m, cache, name)
            at = states(m, cache, name)
            state = state_of(m, cache, line, f"{name}_has")
            mine = cache.address[LINE_BITS:] == line
            # A line for which a victim makes room is not there.
            m.d.comb += Assert(~(mine & (at["BACK"] | at["PHASE"])) | (state == Mesi.I))
            found.append((cache, at, state, cache._taking & mine))
            if cache.shape.block_stores:
                m.d.comb += Assert(~(cache.valid & cache.block) | at["LOOKUP"])
                with m.If(mine & cache.block & cache.done):
                    m.d.comb += stored.eq(1)
        if self.caches[0].shape.block_stores:
            gone = Signal()
            m.d.sync += gone.eq(stored)
            for _, _, state, _ in found:
                m.d.comb += Assert(~gone | (state == Mesi.I))
        for number, (cache, at, state, taking) in enumerate(found):
            owned = (state == Mesi.E) | (state == Mesi.M)
            # A line that is being read is not there yet; one that is upgraded is shared, or gone.
            m.d.comb += [
                Assert(~taking | at["UPGRADE"] | (state == Mesi.I)),
                Assert(~(taking & at["UPGRADE"]) | ~owned),
            ]
            for _, _, has, takes in found[:number] + found[number + 1:]:
                alone = cache.store | ~cache._shared
                m.d.comb += [
                    Assert(~owned | (has == Mesi.I)),
                    Assert(~taking | ~takes),
                    Assert(~taking | (has == Mesi.I) | (~alone & (has == Mesi.S))),
                ]
        return m


def two(kind: type[CoherentCache] = CoherentCache, **options: bool) -> CoherentCache:
    """A cache of two lines, beside that of another CPU."""
    return kind(shape=CacheShape(lines=2, peers=1, **options))


def ports(caches: list[CoherentCache]) -> list[Value]:
    return [Value.cast(value) for cache in caches
            for path, member, value in cache.signature.flatten(cache)
            if member.flow == wiring.In and path[0] != "bus"]


def check_owned(work: Any, caches: list[CoherentCache], depth: int = 2) -> None:
    top = Owned(caches)
    prove(top, [top.line, *ports(caches)], work, depth=depth)


def test_a_line_has_one_owner(tmp_path: Any) -> None:
    check_owned(tmp_path, [two() for _ in range(2)])


def test_a_block_store_leaves_the_line_in_no_cache(tmp_path: Any) -> None:
    check_owned(tmp_path, [two(block_stores=True) for _ in range(2)])


class Deaf(CoherentCache):
    """Never busy: another's phase may come in a cycle in which the NIC changes tags."""

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        m.d.comb += self.bus.busy.eq(0)
        return m


class Loose(CoherentCache):
    """Does not hold the line that it takes."""

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        m.d.comb += self.bus.held.eq(0)
        return m


class Secretive(CoherentCache):
    """Does not tell that it has a line."""

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        m.d.comb += self.bus.has.eq(0)
        return m


class Lenient(CoherentCache):
    """Leaves others a copy of a line to which it has a block store."""

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        with m.If(self.block):
            m.d.comb += self.bus.exclusive.eq(0)
        return m


@pytest.mark.parametrize("broken", [Deaf, more(Loose), more(Secretive)])
def test_broken_ones_are_refuted(tmp_path: Any, broken: type[CoherentCache]) -> None:
    with pytest.raises(Refuted):
        check_owned(tmp_path, [two(broken), two()])


@pytest.mark.full
def test_a_block_store_that_leaves_copies_is_refuted(tmp_path: Any) -> None:
    with pytest.raises(Refuted):
        check_owned(tmp_path, [two(kind, block_stores=True)
                               for kind in (Lenient, CoherentCache)])


class Spinner(wiring.Elaboratable):
    """A cache and the words that its CPU keeps, as a poll of one word uses them.

    A word that is used without memory was read from memory after the last store of another CPU to
    its line had ended. What is read in a cycle is what memory had at the beginning of the cycle
    before it, or later, but after the request was taken.
    """

    def __init__(self, cache: CoherentCache, kept: KeptWords) -> None:
        self.cache = cache
        self.kept = kept
        self.word = Signal(29)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        cache, kept = self.cache, self.kept
        m.submodules.cache = cache.elaborate(platform)
        m.submodules.kept = kept
        holds_inputs(m, cache, "cache")
        at = states(m, cache, "cache")
        word = self.word
        stays(m, word)
        news = Signal()
        m.d.comb += [
            Assume(~ResetSignal()),
            Assume(cache.address[3:] == word),
            Assume(~cache.store & ~cache.hold & ~cache.snoop.valid & (kept.number == 0)),
            Assume(cache.news[0].first <= cache.news[0].last),
            kept.address.eq(cache.address),
            kept.data.eq(cache.word),
            kept.news[0].eq(cache.news[0]),
            Assume(cache.fetch == ~kept.held),
            kept.store.eq(cache.reads & cache.done & ~cache.stale),
            news.eq(covers(cache.news[0], cache.address[LINE_BITS:], LINE_BITS)),
        ]
        # Whether the line was stored to since the read was asked for, and since the kept word was.
        reading = at["READ"] & cache._refill._taken | at["ENTER"]
        since, old = Signal(), Signal()
        m.d.sync += since.eq(reading & ~cache.done & (since | news))
        with m.If(kept.store):
            m.d.sync += old.eq(since | news)
        with m.Elif(news):
            m.d.sync += old.eq(1)
        m.d.comb += [
            Assert(~kept.held | ~old),
            Assert(~since | reading),
            Assert(~since | cache.stale),
        ]
        with m.If(cache.valid & cache.done & ~cache.reads):
            m.d.comb += Assert(~old)
        return m


def check_spinner(work: Any, cache: CoherentCache, kept: KeptWords) -> None:
    given = [Value.cast(value) for _, member, value in cache.signature.flatten(cache)
             if member.flow == wiring.In]
    given += [Value.cast(value) for value in (kept.number, kept.drop, kept.line, kept.snoop)]
    top = Spinner(cache, kept)
    prove(top, [top.word, *given], work, depth=2)


def test_no_word_is_kept_too_long(tmp_path: Any) -> None:
    check_spinner(tmp_path, two(), KeptWords(peers=1))


class Forgetful(CoherentCache):
    """Calls no word stale."""

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        m.d.comb += self.stale.eq(0)
        return m


class Stubborn(KeptWords):
    """Keeps its words whatever others store."""

    def __init__(self) -> None:
        super().__init__(peers=1)

    def elaborate(self, platform: object) -> Module:
        news, self.news = self.news, []  # type: ignore[assignment]
        m = super().elaborate(platform)
        self.news = news
        return m


def test_words_kept_too_long_are_refuted(tmp_path: Any) -> None:
    with pytest.raises(Refuted):
        check_spinner(tmp_path, two(Forgetful), KeptWords(peers=1))
    (tmp_path / "other").mkdir()
    with pytest.raises(Refuted):
        check_spinner(tmp_path / "other", two(), Stubborn())


class Told(wiring.Elaboratable):
    """A cache beside a NIC on the memory bus: of any line, what a store put there after the NIC has
    read it is told of.

    A store has landed in memory when the access has ended, so what the NIC reads in that very cycle
    is the line before it. A snoop comes in the cycle after the read. So the NIC knows of a store if
    it has not read the line since it was told of it last: not before the store's last cycle, as
    snoops tell, and not in that cycle, whose snoop comes in the next one. Else the store itself has
    to be told of.
    """

    def __init__(self, cache: CoherentCache) -> None:
        self.cache = cache
        self.line = Signal(32 - LINE_BITS)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        cache, bus = self.cache, self.cache.bus
        m.submodules.cache = cache.elaborate(platform)
        holds_inputs(m, cache, "cache")
        states(m, cache, "cache")
        line = self.line
        stays(m, line)
        m.d.comb += [
            Assume(~ResetSignal()),
            # As the address bus: a grant answers a request, a phase is another's, and one that
            # takes effect waits for no cache.
            Assume(~bus.grant | (bus.request & ~bus.phase.valid)),
            Assume(~bus.commits | (bus.phase.valid & ~bus.busy)),
        ]
        state = state_of(m, cache, line, "has")

        def of(address: Value) -> Value:
            return address[LINE_BITS:] == line

        told, seen, stored = Signal(), Signal(), Signal()
        m.d.comb += [
            told.eq(cache.taken.valid & of(cache.taken.address)),
            seen.eq(cache.snoop.valid & ~cache.snoop.write & of(cache.snoop.address)),
            stored.eq(cache.done & cache.store & of(cache.address)),
        ]
        # Whether the NIC has read the line since it was told of it; and in the cycle after a store
        # of which it was not told in its last cycle.
        read, quiet = Signal(init=1), Signal()
        m.d.sync += [read.eq((read | seen) & ~told), quiet.eq(stored & ~told)]
        m.d.comb += [
            Assert(state != Mesi.E),
            Assert((state != Mesi.M) | ~read),
            Assert(~(stored & ~told) | ~(read | seen)),
            Assert(~(quiet & seen) | told),
        ]
        return m


def check_told(work: Any, cache: CoherentCache) -> None:
    given = [Value.cast(value) for _, member, value in cache.signature.flatten(cache)
             if member.flow == wiring.In]
    given += [Value.cast(value) for value in (cache.bus.grant, cache.bus.shared, cache.bus.dirty,
                                              cache.bus.phase, cache.bus.commits)]
    top = Told(cache)
    prove(top, [top.line, *{id(value): value for value in given}.values()], work, depth=2)


def test_no_store_is_untold(tmp_path: Any) -> None:
    check_told(tmp_path, two(coherent=True))


class Hasty(CoherentCache):
    """Tells of no store late: the NIC may read the line in the last cycle of a store to it."""

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        m.d.comb += self._taken_lines.changes.eq(0)
        return m


class Exclusive(CoherentCache):
    """Gets a line that it loads in E, as without a NIC on the memory bus."""

    def _access(self, m: Module, *, entered: Signal, **given: Any) -> None:
        super()._access(m, entered=entered, **given)
        with m.If(~self.store):
            m.d.comb += entered.eq(Mesi.E)


class Eager(CoherentCache):
    """A store to a line in M ends in the cycle in which it is known that the NIC has read it."""

    def _losses(self, m: Module) -> tuple[Value, Value, Value]:
        strikes, misses, _ = super()._losses(m)
        return strikes, misses, Const(0)


@pytest.mark.parametrize("broken", [Hasty, more(Exclusive), more(Eager)])
def test_untold_stores_are_refuted(tmp_path: Any, broken: type[CoherentCache]) -> None:
    with pytest.raises(Refuted):
        check_told(tmp_path, two(broken, coherent=True))
