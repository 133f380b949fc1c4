"""The translation cache never answers for an invalidated entry: proven for all time.

Any four lines (two sets of two ways, or one of four), two clients, memory and kernel agent as
hostile as their contracts let them be. The index that is invalidated is any index.
"""

from typing import Any

import pytest
from amaranth.hdl import Assert, Assume, Cat, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import wiring
from nicbed.layouts.description import Description
from nicbed.rtl.vi.translate.table_walk import TableWalk
from nicbed.rtl.vi.translate.translation_cache import TranslationCache
from nicbed.rtl.vi.translate.translator import Translator

from tests.formal.prover import Refuted, needs_prover, prove
from tests.labs.rows import more

pytestmark = needs_prover

ENTRIES = 64
PAGE_BITS = 10


class OpenCache(TranslationCache):
    """With a window into each way: what is in it now."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.memories = [super(OpenCache, self)._way(way) for way in range(self.ways)]
        self.windows = [lines.read_port(domain="comb") for lines in self.memories]

    def _way(self, way: int):
        return self.memories[way]


class OpenTranslator(Translator):
    """With its cache and walk made beforehand."""

    def __init__(self, *, sets: int, ways: int, walk: type[TableWalk] = TableWalk) -> None:
        super().__init__(clients=2, description=Description.model_validate({"via": {
            "translations": ENTRIES, "page_bytes": 1 << PAGE_BITS, "cache_sets": sets,
            "cache_ways": ways}}))
        self.cache = OpenCache(sets=sets, ways=ways, replacement="lru")
        self.walk = walk()

    def _cache(self) -> TranslationCache:
        return self.cache

    def _walk(self) -> TableWalk:
        return self.walk


class NeverAgain(wiring.Elaboratable):
    """Once entry ``x``, whose valid bit was cleared in memory, is invalidated, and the invalidation
    has been counted, no client gets an address by it, and none still uses one."""

    def __init__(self, translator: OpenTranslator, *, narrow: bool = False) -> None:
        self.translator = translator
        self.narrow = narrow
        """Only one request, of one client: what a counterexample needs, found the sooner."""
        self.x = Signal(6)
        self.clears = Signal()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.translator = dut = self.translator
        cache, walk, pipe = dut.cache, dut.walk, dut._pipe
        busy = walk.walk.busy
        registers = dut.registers
        invalidate = registers.invalidate
        x = self.x
        clients = range(dut.clients)

        def claim(condition: Value, then: Value) -> Assert:
            return Assert(~condition | then)

        # The same x at all times.
        before = Signal(6)
        begun = Signal()
        m.d.sync += [before.eq(x), begun.eq(1)]
        m.d.comb += [Assume(~ResetSignal()), Assume(~begun | (x == before))]

        # The kernel agent: clears the valid bit of x in memory at some time, for good.
        was_cleared = Signal()
        cleared = Signal()
        m.d.sync += was_cleared.eq(cleared)
        m.d.comb += [
            cleared.eq(was_cleared | self.clears),
            Assume(~(invalidate.valid & (invalidate.payload[:6] == x)) | was_cleared),
        ]
        # Memory: what is asked for after that has the bit cleared. Before it, anything.
        late = Signal()
        with m.If(dut.bus.request.valid & dut.bus.request.ready):
            m.d.sync += late.eq(cleared)
        at_x = walk._index == x
        m.d.comb += Assume(~(dut.bus.read.valid & walk._reading & at_x & late & (walk._words == 0)
                             & dut.bus.read.payload[0]))
        # A target of a Burst gives no more than was asked for, and no done before it.
        m.d.comb += [
            Assume(~(dut.bus.read.valid & (walk._words == 2))),
            Assume(~dut.bus.done | walk._reading),
            Assume(~dut.bus.done | (walk._words + dut.bus.read.valid != 0)),
        ]

        # Clients: hold from the request on, to the answer at least; one request at a time.
        waiting = Signal(dut.clients)
        uses = Signal(dut.clients)
        asked = [Signal(6, name=f"asked_{n}") for n in clients]
        for n, client in enumerate(dut.client):
            address = client.request.payload.address
            index = Signal(6, name=f"index_{n}")
            m.d.comb += [
                index.eq(address.va[PAGE_BITS:] + address.handle),
                Assume(~(client.request.valid | waiting[n]) | client.hold),
                Assume(~(client.request.valid & waiting[n])),
            ]
            with m.If(client.request.valid & client.request.ready):
                m.d.sync += [waiting[n].eq(1), asked[n].eq(index)]
            with m.If(client.valid):
                m.d.sync += waiting[n].eq(0)
            with m.If(~client.hold):
                m.d.sync += uses[n].eq(0)
            with m.If(client.valid & client.ok & (asked[n] == x)):
                m.d.sync += uses[n].eq(1)

        if self.narrow:
            good = dut.client[0].request.payload
            entry = 0xFFFF << 40
            m.d.comb += [
                Assume(Value.cast(good) == 0), Assume(x == 0), Assume(dut.max_beats == 2),
                Assume(~dut.client[1].request.valid), Assume(~dut.client[1].hold),
                Assume(registers.table_base == 0), Assume(invalidate.payload == 0),
                Assume(dut.bus.read.payload == Mux(walk._words == 0, entry | (cleared == 0), 0)),
            ]
        mine = pipe.invalid_index == x
        gone = Signal()
        over = Signal()
        doing = Signal()
        with m.If(invalidate.valid & invalidate.ready):
            m.d.sync += doing.eq(invalidate.payload[:6] == x)
        with m.If(pipe.clear & mine):
            m.d.sync += gone.eq(1)
        ends = Signal()
        held = pipe.invalidating & ~pipe.look & ~pipe.clear
        m.d.comb += ends.eq(held & ~(pipe.held & Cat(c.hold for c in dut.client)).any())
        with m.If(ends & doing):
            m.d.sync += over.eq(1)

        # What is promised.
        for n, client in enumerate(dut.client):
            m.d.comb += [
                claim(over & client.valid & (asked[n] == x), ~client.ok),
                claim(over, ~uses[n]),
            ]

        # What makes it inductive.
        m.d.comb += [
            claim(gone, was_cleared & cache.ready), claim(over, gone),
            claim(pipe.invalidating, (doing == mine) & cache.ready),
            claim(pipe.invalidating & mine, was_cleared), claim(held & mine, gone),
            claim(pipe.full | busy, cache.ready),
            Assert(pipe.invalid_index < ENTRIES),
            Assert(pipe.index < ENTRIES), Assert(pipe.walked.index < ENTRIES),
            claim(pipe.fresh, pipe.full & (cache._looked == pipe.index)),
            claim(pipe.clear, ~pipe.fresh & (cache._looked == pipe.invalid_index)),
            Assert(cache._looked < ENTRIES),
            claim(busy, walk._index == pipe.walked.index),
            Assert(walk._words <= 2),
            claim(walk._words == 0, ~walk.walk.there),
            # An entry of x is void, or not asked for yet, or asked for late, or came cleared.
            claim(gone & busy & at_x & ~walk._void & ~((walk._words == 0) & ~walk._reading),
                  ((walk._words == 0) & late) | ((walk._words != 0) & ~walk._flags[0])),
            claim(gone & pipe.fresh & (pipe.index == x), ~cache.look.found),
        ]
        line_bits = (cache.sets - 1).bit_length()
        for way, window in enumerate(cache.windows):
            there = Signal(name=f"there_{way}")
            m.d.comb += [
                window.addr.eq(x[:line_bits]),
                there.eq(window.data.entry.valid & (window.data.key == x[line_bits:])),
                claim(gone, ~there),
                claim(pipe.clear & mine & there, cache._match[way]),
            ]
        for n, client in enumerate(dut.client):
            in_pipe = pipe.full & pipe.client[n]
            in_walk = busy & pipe.walked.client[n]
            answered = pipe.answering[n]
            m.d.comb += [
                claim(in_pipe, waiting[n] & (asked[n] == pipe.index) & ~in_walk & ~answered),
                claim(in_walk, waiting[n] & (asked[n] == pipe.walked.index) & ~answered),
                claim(answered, waiting[n]),
                claim(gone & client.valid & (asked[n] == x), ~client.ok),
                claim(gone & ~over & uses[n], pipe.held[n] & held),
            ]
        return m


def ports(claims: NeverAgain) -> list[Value]:
    """All inputs, for the prover to drive."""
    component = claims.translator
    return [claims.x, claims.clears,
            *(Value.cast(value) for _, _, value in component.signature.flatten(component))]


@pytest.mark.parametrize("sets, ways", [(2, 2), more(1, 4), more(4, 1)])
def test_never_again(tmp_path, sets, ways):
    claims = NeverAgain(OpenTranslator(sets=sets, ways=ways))
    prove(claims, ports(claims), tmp_path, depth=3)


class LazyWalk(TableWalk):
    """Does not fetch again what is forgotten while it is on its way."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.sync += self._void.eq(0)
        return m


class Deaf(OpenTranslator):
    """Does not tell the cache to clear."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.comb += self.cache.look.clear.eq(0)
        return m


# Both need nine or ten cycles to go wrong, which takes the prover a while to find.
@pytest.mark.full
@pytest.mark.parametrize("broken", [lambda: OpenTranslator(sets=2, ways=2, walk=LazyWalk),
                                    lambda: Deaf(sets=2, ways=2)], ids=["lazy walk", "deaf"])
def test_broken_translator_is_refuted(tmp_path, broken):
    claims = NeverAgain(broken(), narrow=True)
    with pytest.raises(Refuted, match=r"DONE \(FAIL"):
        prove(claims, ports(claims), tmp_path, depth=11)
