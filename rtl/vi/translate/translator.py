"""The address translator: from a virtual address and a handle to a physical address, or a
refusal."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.description import Description
from ....layouts.trace import Block, Kind
from ....layouts.via import INDEX_BITS
from ...bus.burst import Burst
from ...parts.event import EventPort
from ...parts.round_robin import RoundRobin
from ...parts.sizes import check_count
from ..types import Access, Translate, TranslateRequest, TranslationRegisters
from .table_walk import TableWalk, entry_of
from .translation_cache import TranslationCache
from .translation_table import TranslationEntry, TranslationTable

__all__ = ["Translator"]


class Translator(wiring.Component):
    """Translates and checks for several clients, by one of three schemes (``via.translation``).

    ``cache``: a cache over the table in host memory; an entry that is not cached is read by a walk,
    one walk at a time. ``table``: the whole table is in NIC memory. ``physical``: virtual addresses
    *are* physical; the table in NIC memory only gives the access rights of each page, and its
    frames are ignored.

    An access is allowed if the entry at the address's index is valid, has the request's handle,
    page and tag, allows the access (RDMA), and the address is within the region's bytes in that
    page. A ``wide`` request is refused without a look-up, and not counted.

    Invalidation: when ``invalidated`` has counted, no client holds or gets a translation by the
    entry's content at the time of ``invalidate``. A line of the cache is cleared; an entry on its
    way from host memory is fetched again. With a table in NIC memory the entry itself must be
    cleared by a write before. Invalidation waits only for clients (``Translate.hold``), and no
    client waits for it for more than 2 cycles.

    Latency: a request is answered 2 cycles after it was taken, if the entry is in NIC memory; a
    walk adds the cycles of its burst, request to ``done``, and one. Throughput: 1 request a cycle,
    one client after the other; while a walk is under way, hits of other clients are answered 1 in
    2 cycles, up to the next miss, which waits for the walk and holds up all behind it. So a client
    waits for at most one walk of each other client and its own. Reset: nothing cached, no entry
    valid, nothing taken before ``ready``.

    Parameters
    ----------
    description : Description
        Knobs: section ``via``.
    clients : int
        Clients, 1 or more.

    Members
    -------
    client : In(Translate), an array
        The clients.
    bus : Out(Burst)
        Walks, to host memory.
    registers : In(TranslationRegisters)
        The kernel agent.
    max_beats : In(10)
        Longest burst in beats, at least 1.
    ready : Out(1)
        The memories are cleared (``sets``, or ``translations / 64``, cycles after reset).
    idle : Out(1)
        Nothing changes without an input.
    events : Out(EventPort), an array of one
        Block TRANSLATION: BEGIN (``arg``: the index) and END of a walk.

    Raises
    ------
    TypeError, ValueError
        A parameter breaks its rule.
    """

    event_sources = (Block.TRANSLATION,)
    """The block behind each port of ``events``."""

    def __init__(self, *, description: Description, clients: int) -> None:
        if not isinstance(description, Description):
            raise TypeError(f"description must be a Description, not {description!r}")
        check_count("clients", clients)
        self._clients = clients
        self._via = description.via
        self._pipe = _Pipe(clients)
        super().__init__({
            "client": In(Translate).array(clients),
            "bus": Out(Burst()),
            "registers": In(TranslationRegisters),
            "max_beats": In(10),
            "ready": Out(1),
            "idle": Out(1),
            "events": Out(EventPort).array(1),
        })

    @property
    def clients(self) -> int:
        """Clients."""
        return self._clients

    def elaborate(self, platform: object) -> Module:
        m = Module()
        pipe = self._pipe
        self._take(m, pipe)
        self._invalidation(m, pipe)
        if self._via.translation == "cache":
            self._cached(m, pipe)
        else:
            self._resident(m, pipe)
        self._check(m, pipe)
        waiting = Cat(client.request.valid for client in self.client).any()
        m.d.comb += self.idle.eq(self.ready & ~(waiting | pipe.full | pipe.answering.any()
                                                | self.registers.walking | pipe.invalidating
                                                | self.registers.invalidate.valid))
        return m

    def _take(self, m: Module, pipe: "_Pipe") -> None:
        """First stage: one client's request, and the index of its entry."""
        m.submodules.turn = turn = RoundRobin(count=self._clients)
        page_bits = (self._via.page_bytes - 1).bit_length()
        offered = Signal(TranslateRequest)
        page = Signal(INDEX_BITS)
        m.d.comb += turn.requests.eq(Cat(client.request.valid for client in self.client))
        with m.If(turn.requests.any()):
            with m.Switch(turn.index):
                for number, client in enumerate(self.client):
                    with m.Case(number):
                        m.d.comb += offered.eq(client.request.payload)
            m.d.comb += page.eq(offered.address.va[page_bits:])
            if self._via.translation != "physical":
                m.d.comb += page.eq(offered.address.va[page_bits:] + offered.address.handle)
            m.d.comb += pipe.take_index.eq(page & self._via.translations - 1)
            with m.If(pipe.open):
                m.d.comb += [pipe.take.eq(1), turn.advance.eq(1)]
                m.d.comb += [client.request.ready.eq(turn.grant[number])
                             for number, client in enumerate(self.client)]
                m.d.sync += [pipe.request.eq(offered), pipe.client.eq(turn.grant),
                             pipe.index.eq(pipe.take_index)]
        # The request in the second stage leaves it or, while it waits for a walk, blocks it.
        with m.If(pipe.take):
            m.d.sync += [pipe.full.eq(1), pipe.fresh.eq(1)]
        with m.Elif(pipe.leave):
            m.d.sync += [pipe.full.eq(0), pipe.fresh.eq(0)]
        with m.Else():
            m.d.sync += pipe.fresh.eq(pipe.again)

    def _invalidation(self, m: Module, pipe: "_Pipe") -> None:
        """Look up the index, clear its line, wait until all clients have released their
        translations."""
        held = pipe.held
        index = pipe.invalid_index
        registers = self.registers
        with m.FSM(name="invalidation") as state:
            with m.State("IDLE"):
                with m.If(self.ready & registers.invalidate.valid):
                    m.d.comb += registers.invalidate.ready.eq(1)
                    m.d.sync += index.eq(registers.invalidate.payload & self._via.translations - 1)
                    m.next = "LOOK"
            with m.State("LOOK"):
                m.d.comb += pipe.look.eq(1)
                m.next = "CLEAR"
            with m.State("CLEAR"):
                m.d.comb += pipe.clear.eq(1)
                m.d.sync += held.eq(~0)
                m.next = "HELD"
            with m.State("HELD"):
                # A client that has released once cannot hold the old translation any more.
                still = held & Cat(client.hold for client in self.client)
                m.d.sync += held.eq(still)
                with m.If(~still.any()):
                    m.d.sync += registers.invalidated.eq(registers.invalidated + 1)
                    m.next = "IDLE"
        m.d.comb += pipe.invalidating.eq(~state.ongoing("IDLE"))

    def _cache(self) -> TranslationCache:
        """The cache; a proof overrides this, and the next, to access them."""
        via = self._via
        return TranslationCache(sets=via.cache_sets, ways=via.cache_ways,
                                replacement=via.cache_replacement)

    def _walk(self) -> TableWalk:
        return TableWalk()

    def _cached(self, m: Module, pipe: "_Pipe") -> None:
        """Second stage, with the cache: hit, or walk."""
        m.submodules.cache = cache = self._cache()
        m.submodules.walk = walker = self._walk()
        look, fill, walk = cache.look, cache.fill, walker.walk
        walked = pipe.walked
        event = self.events[0]
        wiring.connect(m, wiring.flipped(self.bus), walker.bus)
        busy = pipe.look | pipe.clear
        # The cache does one thing a cycle: an invalidation goes first, then the end of a walk once
        # the second stage has seen what it looked up, then look-ups.
        m.d.comb += [
            self.ready.eq(cache.ready),
            pipe.open.eq(cache.ready & ~busy & ~walk.there
                         & (~pipe.full | (pipe.fresh & ~walk.busy))),
            pipe.again.eq(pipe.full & ~pipe.fresh & ~walk.busy & ~busy),
            pipe.end.eq(walk.there & ~busy & ~(pipe.full & pipe.fresh)),

            look.read.eq(pipe.take | pipe.again | pipe.look),
            look.index.eq(Mux(pipe.look, pipe.invalid_index,
                              Mux(pipe.take, pipe.take_index, pipe.index))),
            look.clear.eq(pipe.clear),
            fill.valid.eq(pipe.end & walk.entry.valid),
            fill.index.eq(walked.index),
            fill.way.eq(walked.way),
            fill.entry.eq(walk.entry),

            walker.table_base.eq(self.registers.table_base),
            walker.max_beats.eq(self.max_beats),
            walk.index.eq(pipe.index),
            walk.take.eq(pipe.end),
            walker.forget.eq(pipe.look),
            walker.forget_index.eq(pipe.invalid_index),
            self.registers.walking.eq(walk.busy),

            pipe.entry.eq(Mux(pipe.end, walk.entry, look.entry)),
            event.arg.eq(pipe.index),
        ]
        with m.If(pipe.full & pipe.fresh):
            with m.If(pipe.request.wide):
                m.d.comb += [pipe.leave.eq(1), pipe.answer.eq(1)]
            with m.Elif(look.found):
                m.d.comb += [pipe.leave.eq(1), pipe.answer.eq(1), self.registers.hit.eq(1),
                             look.use.eq(1)]
            with m.Elif(~walk.busy):
                m.d.comb += [pipe.leave.eq(1), self.registers.miss.eq(1), walk.start.eq(1),
                             look.claim.eq(1), event.valid.eq(1), event.kind.eq(Kind.BEGIN)]
                m.d.sync += [walked.index.eq(pipe.index), walked.request.eq(pipe.request),
                             walked.client.eq(pipe.client), walked.way.eq(look.victim)]
        with m.If(pipe.end):
            m.d.comb += [event.valid.eq(1), event.kind.eq(Kind.END)]

    def _resident(self, m: Module, pipe: "_Pipe") -> None:
        """Second stage, with the table in NIC memory, where every entry is present."""
        m.submodules.table = table = TranslationTable(entries=self._via.translations)
        write = self.registers.table
        m.d.comb += [
            self.ready.eq(table.ready),
            pipe.open.eq(table.ready),
            table.read.eq(pipe.take),
            table.index.eq(pipe.take_index),
            table.write.eq(write.valid),
            table.write_index.eq(write.index),
            pipe.entry.eq(table.entry),
        ]
        entry_of(m, table.write_entry, write.flags, write.place)
        with m.If(pipe.full):
            m.d.comb += [pipe.leave.eq(1), pipe.answer.eq(1),
                         self.registers.hit.eq(~pipe.request.wide)]

    def _check(self, m: Module, pipe: "_Pipe") -> None:
        """Whether the entry allows the request, and the answer in the next cycle."""
        page_bits = (self._via.page_bytes - 1).bit_length()
        entry = pipe.entry
        ok = Signal()
        room = Signal(17)
        physical = Signal(32)
        allowed = Signal()
        request = Signal(TranslateRequest)
        offset = Signal(page_bits)
        m.d.sync += pipe.answering.eq(0)
        with m.If(pipe.answer | pipe.end):
            m.d.comb += [
                request.eq(Mux(pipe.end, pipe.walked.request, pipe.request)),
                offset.eq(request.address.va),
            ]
            with m.Switch(request.access):
                with m.Case(Access.LOCAL):
                    m.d.comb += allowed.eq(1)
                with m.Case(Access.RDMA_WRITE):
                    m.d.comb += allowed.eq(entry.rdma_write)
                with m.Case(Access.RDMA_READ):
                    m.d.comb += allowed.eq(entry.rdma_read)
            m.d.sync += [
                ok.eq(entry.valid & ~request.wide & allowed
                      & (entry.handle == request.address.handle)
                      & (entry.page == request.address.va[page_bits + 6:])
                      & (entry.tag == request.tag)
                      & (entry.first <= offset) & (offset <= entry.last)),
                room.eq(entry.last - offset + 1),
                pipe.answering.eq(Mux(pipe.end, pipe.walked.client, pipe.client)),
            ]
            if self._via.translation == "physical":
                m.d.sync += physical.eq(request.address.va)
            else:
                m.d.sync += physical.eq(Cat(offset, entry.frame))
        for number, client in enumerate(self.client):
            m.d.comb += [client.valid.eq(pipe.answering[number]), client.ok.eq(ok),
                         client.physical.eq(physical), client.room.eq(room)]


class _Pipe:
    """Signals between the translator's stages."""

    def __init__(self, clients: int) -> None:
        self.open = Signal()
        """A request may be taken into the second stage."""
        self.take = Signal()
        self.take_index = Signal(INDEX_BITS)
        # The second stage: a request, and whether its look-up is of the cycle before.
        self.full = Signal()
        self.fresh = Signal()
        self.request = Signal(TranslateRequest)
        self.client = Signal(clients)
        self.index = Signal(INDEX_BITS)
        self.leave = Signal()
        self.again = Signal()
        """Repeat the look-up."""
        self.answer = Signal()
        """Answer by ``entry``."""
        self.entry = Signal(TranslationEntry)
        # The walk under way, the request it is for, and the cycle in which it answers.
        self.walked = Signal(data.StructLayout({
            "request": TranslateRequest, "client": clients, "index": INDEX_BITS, "way": 3}))
        self.end = Signal()
        self.answering = Signal(clients)
        # Invalidation: its two cycles in the cache, and all of it.
        self.look = Signal()
        self.clear = Signal()
        self.invalidating = Signal()
        self.invalid_index = Signal(INDEX_BITS)
        # Clients that may still use the old content of the entry.
        self.held = Signal(clients)
