"""Caches of two levels: what the first one has is in the outer one, for all time; and each check of
a spinning poll takes a cycle until something moves. Broken ones are refuted."""

from typing import Any

import pytest
from amaranth.hdl import Assert, Assume, Const, Module, ResetSignal, Signal, Value
from amaranth.lib import wiring
from nicbed.rtl.cpu.cache.mesi import Mesi
from nicbed.rtl.cpu.cache_shape import CacheShape
from nicbed.rtl.cpu.coherent_cache import CoherentCache
from nicbed.rtl.cpu.inner_cache import InnerCache, TagChange
from nicbed.rtl.cpu.kept_words import KeptWords
from nicbed.rtl.cpu.tag_cache import TagCache

from tests.formal.prover import Refuted, needs_prover, prove
from tests.formal.test_proof_coherence import LINE_BITS, stays
from tests.labs.rows import more

pytestmark = needs_prover

Outer = TagCache | CoherentCache
LINES, OUTER_LINES = 2, 4


def cpu(kind: type[TagCache] = TagCache, **options: bool) -> TagCache:
    return kind(shape=CacheShape(lines=OUTER_LINES, inner=True, **options), source=1)


def one_of_two(kind: type[CoherentCache] = CoherentCache, **options: bool) -> CoherentCache:
    return kind(shape=CacheShape(lines=OUTER_LINES, inner=True, peers=1, **options))


def others() -> tuple[Outer, ...]:
    """Further kinds of outer level; each is elaborated once."""
    return (cpu(coherent=True), cpu(block_stores=True), cpu(flushes=True),
            one_of_two(coherent=True), one_of_two(block_stores=True))


class Levels:
    """Both levels as an executor joins them; which lines they have."""

    def __init__(self, m: Module, outer: Outer, inner: InnerCache) -> None:
        self.outer, self.inner = outer, inner
        m.submodules.outer = outer.elaborate(None)
        m.submodules.inner = inner.elaborate(None)
        flush = getattr(outer, "flush", Const(0))
        self.ended = outer.done & ~inner.waits
        m.d.comb += [
            Assume(~ResetSignal()),
            inner.valid.eq(outer.valid),
            inner.address.eq(outer.address),
            inner.load.eq(~outer.store & ~flush),
            inner.fetch.eq(outer.fetch),
            inner.hit.eq(outer.hit),
            inner.done.eq(outer.done),
            inner.change.eq(outer.change),
        ]
        if hasattr(outer, "block"):
            m.d.comb += Assume(outer.store | ~outer.block)

    def have(self, m: Module, line: Value) -> list[Value]:
        """Whether the outer level has the line, and whether the inner one has."""
        found = []
        for level in (self.outer, self.inner):
            tags = level._tags
            port = tags._memory.read_port(domain="comb")
            index_bits, state = len(tags._epoch), port.data.state
            m.d.comb += port.addr.eq(line[:index_bits])
            held = state != Mesi.I if isinstance(level, CoherentCache) else state.held
            found.append(held & (port.data.epoch == tags._epoch)
                         & (port.data.tag == line[index_bits:]))
        return found


class Within(wiring.Elaboratable):
    """Of any line, whatever the inputs of the outer level are in any cycle: if the inner level has
    it, the outer one has. An access that waits could have ended."""

    def __init__(self, outer: Outer, inner: InnerCache) -> None:
        self.outer, self.inner = outer, inner
        self.line = Signal(32 - LINE_BITS)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        levels = Levels(m, self.outer, self.inner)
        stays(m, self.line)
        there, near = levels.have(m, self.line)
        m.d.comb += [
            Assert(~near | there),
            # Memory reads are asked for by loads that miss, so a line is there after its read.
            Assert(~self.inner.waits | (self.outer.valid & self.outer.hit)),
        ]
        with m.If(self.outer._fsm.ongoing("LOOKUP")):
            m.d.comb += Assert(~self.inner.waits | self.outer.done)
        return m


class Spins(wiring.Elaboratable):
    """A poll of one word that never matches, beside everything that others do: from a check that
    needed no memory on, each takes a cycle and needs none, until something moves that ends a leap
    (:mod:`nicbed.rtl.cpu.spin`). ``deaf``: to the address phases of other caches."""

    def __init__(self, outer: Outer, inner: InnerCache, *, deaf: bool = False) -> None:
        self.outer, self.inner = outer, inner
        self.deaf = deaf
        self.several = isinstance(outer, CoherentCache)
        self.kept = KeptWords(source=1, peers=int(self.several))
        self.word = Signal(29)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        outer, kept = self.outer, self.kept
        levels = Levels(m, outer, self.inner)
        m.submodules.kept = kept
        stays(m, self.word)
        begun = Signal()
        lookup = outer._fsm.ongoing("LOOKUP")
        m.d.sync += begun.eq(outer.valid & ~outer.done)
        moved = outer.snoop.valid
        if isinstance(outer, CoherentCache):
            m.d.comb += [kept.news[0].eq(outer.news[0]), Assume(~outer.hold)]
            moved |= outer.news[0].valid
            if not self.deaf:
                moved |= outer.bus.commits
        # States that only stores and flushes lead to.
        states = (("UPGRADE",) if self.several else ("UPGRADE", "TAKE")
                  if outer.shape.coherent else ("GONE",) if hasattr(outer, "flush") else ())
        m.d.comb += [Assert(~outer._fsm.ongoing(state)) for state in states]
        if hasattr(outer, "flush"):
            m.d.comb += Assume(~outer.flush)
        m.d.comb += [
            Assume(~begun | outer.valid),
            Assume(outer.address[3:] == self.word),
            Assume(~outer.store & (kept.number == 0) & ~kept.drop),
            Assume(outer.fetch == ~kept.held),
            kept.snoop.eq(outer.snoop),
            kept.address.eq(outer.address),
            kept.store.eq(outer.reads & levels.ended & ~outer.stale),
            Assert(lookup | begun),
            Assert(~outer._refill._taken | outer._fsm.ongoing("READ") | outer._fsm.ongoing("BACK")),
        ]
        spins = Signal()
        with m.If(moved):
            m.d.sync += spins.eq(0)
        with m.Elif(outer.valid & levels.ended & ~outer.reads):
            m.d.sync += spins.eq(1)
        there, near = levels.have(m, self.word[LINE_BITS - 3:])
        m.d.comb += [
            Assert(~near | there),
            Assert(~spins | (lookup & near & kept.held)),
            Assert(~(spins & outer.valid) | (levels.ended & ~outer.reads)),
        ]
        return m


def inputs(*components: Any) -> list[Value]:
    """All inputs, those from the address bus, too; each once."""
    found = {}
    for component in components:
        for _, member, value in component.signature.flatten(component):
            if member.flow == wiring.In:
                found[id(value)] = Value.cast(value)
    return list(found.values())


def check(top: Any, work: Any, more_inputs: list[Value]) -> None:
    prove(top, [*inputs(top.outer), *more_inputs], work, depth=2)


def check_within(work: Any, outer: Outer, inner: InnerCache) -> None:
    top = Within(outer, inner)
    check(top, work, [top.line])


def check_spins(work: Any, outer: Outer, inner: InnerCache, **broken: bool) -> None:
    top = Spins(outer, inner, **broken)
    check(top, work, [top.word, *(Value.cast(value) for value in (
        top.kept.number, top.kept.drop, top.kept.line, top.kept.data))])


def level(kind: type[InnerCache] = InnerCache) -> InnerCache:
    return kind(lines=LINES, outer_lines=OUTER_LINES, cycles=3)


@pytest.mark.parametrize("outer", [cpu(), one_of_two(), *map(more, others())])
def test_the_outer_level_has_what_the_inner_one_has(tmp_path: Any, outer: Outer) -> None:
    check_within(tmp_path, outer, level())


@pytest.mark.parametrize("outer", [one_of_two(), *map(more, (cpu(), *others()))])
def test_each_check_of_a_spin_takes_a_cycle(tmp_path: Any, outer: Outer) -> None:
    check_spins(tmp_path, outer, level())


class Faithful(InnerCache):
    """Keeps the lines that the outer level gives up."""

    def elaborate(self, platform: object) -> Module:
        told, self.change = self.change, Signal(TagChange)
        m = super().elaborate(platform)
        self.change = told
        return m


class Late(TagCache):
    """Tells of its tags in the cycle after it has changed them."""

    def elaborate(self, platform: object) -> Module:
        told, self.change = self.change, Signal(TagChange)
        m = super().elaborate(platform)
        m.d.sync += told.eq(self.change)
        self.change = told
        return m


class Discreet(CoherentCache):
    """Does not tell what other caches take from it."""

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        with m.If(self.bus.commits):
            m.d.comb += self.change.valid.eq(0)
        return m


def test_a_line_that_stays_too_long_is_refuted(tmp_path: Any) -> None:
    with pytest.raises(Refuted):
        check_within(tmp_path, cpu(), level(Faithful))


@pytest.mark.full
@pytest.mark.parametrize("outer", [cpu(Late), one_of_two(Discreet)])
def test_an_outer_level_that_tells_too_little_is_refuted(tmp_path: Any, outer: Outer) -> None:
    with pytest.raises(Refuted):
        check_within(tmp_path, outer, level())


@pytest.mark.full
def test_a_leap_over_what_another_cache_takes_is_refuted(tmp_path: Any) -> None:
    with pytest.raises(Refuted):
        check_spins(tmp_path, one_of_two(), level(), deaf=True)
