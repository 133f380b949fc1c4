"""The cache of one of a node's CPUs, without data, coherent with those of the others."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..bus.burst import Burst
from ..bus.memory import Snoop
from ..bus.watch import LineTaken
from ..parts.timing import Timing
from .address_bus import CoherencePort, Stored, covers
from .cache.mesi import Mesi
from .cache.refill import Refill, Traffic
from .cache.sharing import Sharing
from .cache.tags import Tags
from .cache.taken_lines import tell_taken
from .cache_shape import CacheShape
from .inner_cache import TagChange

__all__ = ["CoherentCache"]


class CoherentCache(wiring.Component):
    """Direct-mapped, write-back, write-allocate cache that keeps only tags, and a state for each
    line (:class:`Mesi`).

    Memory always has the data; tags and states say what an access costs. An access is used as that
    of a :class:`TagCache`. Cycles, if no other CPU holds the line back and the memory is free, n
    being the beats of a line:

    - a load that hits, or a store to a line in E or M: 1;
    - a store to a line in S: ``memory.upgrade``, an address phase, which makes it invalid
      elsewhere;
    - a miss: ``memory.latency + 2 + n``, an address phase in its first cycle and a read burst; if
      the line is dirty elsewhere ``memory.intervention`` more. A load gets it in E, or in S if
      another has it; a store in M, and all others lose it;
    - n + 1 more if a miss has to write back a dirty victim first (a request and n beats with no
      byte strobed);
    - ``fetch`` of a line that is there: as a miss, without an address phase;
    - a block store: 1, an address phase that makes the line invalid in all caches, this one, too; a
      cycle more if the NIC changes a tag meanwhile.

    From its address phase to its end an access holds its line: phases of others for it wait. So
    does a compare-and-swap, by ``hold``. A store ends only in a cycle in which no other cache takes
    its line. If the NIC writes to the line meanwhile, the line is invalid afterwards.

    With ``shape.coherent`` the NIC is on the memory bus, and is told of each line that an access
    takes: by a read or an upgrade for a store, in the access's last cycle. For that no line is in
    E: a load gets it in S, and a line in M that the NIC reads is in S afterwards. So a line in M
    was told of since the NIC read it last. A store to a line in M that ends in the very cycle in
    which the NIC reads the line is told of in the next one, and no such store ends in the cycle
    after the read.

    Of the phases of others and of the NIC's accesses, the tags know in the same cycle. They have
    one write port: the NIC has priority, then come other caches, then the access itself, which
    takes a cycle longer.

    Reset: all lines invalid, after one cycle (:class:`Tags`).

    Parameters
    ----------
    shape : :class:`CacheShape`
        The structure, of a node with several CPUs.

    Members
    -------
    valid : ``In(1)``, address : ``In(32)``, store : ``In(1)``, fetch : ``In(1)``, hit : ``Out(1)``,
    done : ``Out(1)``, reads : ``Out(1)``, word : ``Out(64)``, stale : ``Out(1)``,
    memory : ``Out(Burst)``
        As those of :class:`TagCache`.
    block : ``In(1)``
        Only with ``shape.block_stores``, and with ``store``: the access is a block store.
    hold : ``In(1)``
        Hold the line at ``address`` after an access, too.
    snoop : ``In(Snoop)``
        The NIC's accesses to memory; not those of CPUs.
    news : ``In(Stored)``, one a peer
        The stores of other CPUs that end.
    bus : ``Out(CoherencePort)``
        The other caches.
    timing : ``In(Timing)``
        The timing registers.
    taken : ``Out(LineTaken)``
        Only with ``shape.coherent``: the lines that accesses take.
    change : ``Out(TagChange)``
        Only with ``shape.inner``: the entry of the tags that it writes.

    Raises
    ------
    TypeError
        ``shape`` is not a :class:`CacheShape`.
    ValueError
        ``shape`` has no peers.
    """

    def __init__(self, *, shape: CacheShape) -> None:
        if not isinstance(shape, CacheShape):
            raise TypeError(f"shape must be a CacheShape, not {shape!r}")
        if not shape.peers:
            raise ValueError("shape.peers must be at least 1, not 0: a CoherentCache is that of a "
                             "CPU beside others")
        self._shape = shape
        self._tags = Tags(lines=shape.lines, line_bytes=shape.line_bytes, state=Mesi, looks=3)
        self._refill = Refill(shape=shape)
        self._sharing = Sharing(shape=shape)
        # Since the access's address phase; whether another cache had the line then.
        self._taking = Signal()
        self._shared = Signal()
        super().__init__({
            "valid": In(1),
            "address": In(32),
            "store": In(1),
            "fetch": In(1),
            "hold": In(1),
            "hit": Out(1),
            "done": Out(1),
            "reads": Out(1),
            "word": Out(64),
            "stale": Out(1),
            "memory": Out(Burst()),
            "snoop": In(Snoop),
            "news": In(Stored).array(shape.peers),
            "bus": Out(CoherencePort),
            "timing": In(Timing),
            **({"block": In(1)} if shape.block_stores else {}),
            **({"taken": Out(LineTaken)} if shape.coherent else {}),
            **({"change": Out(TagChange)} if shape.inner else {}),
        })

    @property
    def shape(self) -> CacheShape:
        """The structure."""
        return self._shape

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape, tags, sharing, bus = self._shape, self._tags, self._sharing, self.bus
        m.submodules.tags = tags
        m.submodules.refill = self._refill
        m.submodules.sharing = sharing
        wiring.connect(m, self._refill.memory, wiring.flipped(self.memory))
        own, nic, other = tags.look
        wiring.connect(m, sharing.nic, nic)
        wiring.connect(m, sharing.other, other)
        enters, entered = Signal(), Signal(Mesi)
        m.d.comb += [
            own.address.eq(self.address),
            self.hit.eq(self.valid & own.same & (own.state != Mesi.I)),
            sharing.snoop.eq(self.snoop),
            sharing.phase.eq(bus.phase),
            sharing.commits.eq(bus.commits),
            bus.has.eq(sharing.has),
            bus.has_dirty.eq(sharing.has_dirty),
            bus.busy.eq(sharing.busy),
            bus.address.eq(self.address),
            bus.exclusive.eq(self.store),
            bus.held.eq(self._taking | self.hold),
        ]
        with m.If(sharing.change.valid):
            m.d.comb += tags.change.eq(sharing.change)
        with m.Elif(enters):
            m.d.comb += [
                tags.change.valid.eq(1),
                tags.change.address.eq(self.address),
                tags.change.state.eq(entered),
            ]
        self._access(m, own=own, enters=enters, entered=entered)
        if shape.inner:
            m.d.comb += [
                self.change.valid.eq(tags.change.valid),
                self.change.held.eq(tags.change.state != Mesi.I),
                self.change.address.eq(tags.change.address),
            ]
        if shape.coherent:
            self._taken_lines = tell_taken(
                m, self, takes=~self._fsm.ongoing("LOOKUP"), changes=sharing.nic_changes)
        return m

    def _losses(self, m: Module) -> tuple[Value, Value, Value]:
        """Three that concern the access's line in this cycle: the NIC writes to it; what is read
        of it becomes old; a store to it does not end, as others get the line."""
        line_bits, sharing, phase = self._shape.line_bits, self._sharing, self.bus.phase
        line = self.address[line_bits:]
        snooped = self.snoop.address[line_bits:] == line
        strikes, misses, loses = Signal(), Signal(), Signal()
        m.d.comb += [
            strikes.eq(self.snoop.valid & self.snoop.write & snooped),
            misses.eq(strikes | Cat(covers(stored, line, line_bits)
                                    for stored in self.news).any()),
            loses.eq(self.store & self.bus.commits & (phase.address[line_bits:] == line)),
        ]
        if self._shape.coherent:
            with m.If(self.store & sharing.nic_changes & snooped):
                m.d.comb += loses.eq(1)
        return strikes, misses, loses

    def _access(self, m: Module, *, own: Any, enters: Signal, entered: Signal) -> None:
        """The steps of an access. ``own``: the look at its slot. ``enters``: its line's state
        becomes ``entered``, unless others change the tags."""
        shape, refill, bus = self._shape, self._refill, self.bus
        changes = self._sharing.change.valid
        strikes, misses, loses = self._losses(m)
        left = Signal(12)
        taking, shared = self._taking, self._shared
        struck, missed = Signal(), Signal()
        m.d.comb += [
            self.stale.eq(missed | misses),
            self.word.eq(refill.word),
            self.reads.eq(refill.reads),
            entered.eq(Mux(self.store, Mesi.M, Mesi.S if shape.coherent else
                           Mux(shared, Mesi.S, Mesi.E))),
        ]

        def phase() -> None:
            """Ask for the line, and for its data with the grant."""
            m.d.comb += bus.request.eq(1)
            m.next = "PHASE"
            with m.If(bus.grant):
                m.d.sync += [taking.eq(1), shared.eq(bus.shared),
                             left.eq(self.timing.memory_intervention - 1)]
                with m.If(bus.dirty & (self.timing.memory_intervention != 0)):
                    m.next = "INTERVENTION"
                with m.Else():
                    read()

        def read() -> None:
            m.d.comb += [refill.valid.eq(1), refill.kind.eq(Traffic.READ),
                         refill.address.eq(self.address)]
            m.next = "READ"

        def write_back() -> None:
            m.d.comb += [refill.valid.eq(1), refill.kind.eq(Traffic.BACK),
                         refill.address.eq(own.line)]
            m.next = "BACK"

        def upgrade() -> None:
            m.d.comb += bus.request.eq(1)
            with m.If(bus.grant):
                m.d.sync += [taking.eq(1), left.eq(self.timing.memory_upgrade - 2)]
                m.next = "UPGRADE"

        def store_block() -> None:
            m.d.comb += [bus.request.eq(~self._sharing.nic_changes), self.done.eq(bus.grant),
                         enters.eq(self.hit & bus.grant), entered.eq(Mesi.I)]

        def finish() -> None:
            """The last beat is here. If tags change otherwise in this cycle: repeat."""
            with m.If(taking & ~struck & ~strikes):
                m.d.comb += [enters.eq(1), self.done.eq(~changes)]
            with m.Else():
                m.d.comb += self.done.eq(1)
            m.next = "ENTER"
            with m.If(self.done):
                m.next = "LOOKUP"

        with m.If(self.valid), m.FSM() as fsm:
            with m.State("LOOKUP"):
                m.d.sync += [struck.eq(0), missed.eq(0)]
                if shape.block_stores:
                    with m.If(self.block):
                        store_block()
                    fetches = m.Elif(self.hit & self.fetch)
                else:
                    fetches = m.If(self.hit & self.fetch)
                with fetches:
                    read()
                with m.Elif(self.hit & self.store & (own.state == Mesi.S)):
                    upgrade()
                if not shape.coherent:
                    with m.Elif(self.hit & self.store & (own.state == Mesi.E)):
                        m.d.comb += [enters.eq(1), self.done.eq(~changes & ~loses)]
                with m.Elif(self.hit):
                    m.d.comb += self.done.eq(~loses)
                with m.Elif(own.state == Mesi.M):
                    write_back()
                with m.Else():
                    phase()
            with m.State("BACK"):
                write_back()
                with m.If(refill.written):
                    m.next = "PHASE"
            with m.State("PHASE"):
                phase()
            with m.State("INTERVENTION"):
                m.d.sync += left.eq(left - 1)
                with m.If(left == 0):
                    read()
            with m.State("READ"):
                read()
                with m.If(refill.arrived):
                    finish()
            with m.State("ENTER"):
                m.d.comb += self.reads.eq(1)
                finish()
            with m.State("UPGRADE"):
                # The NIC may have made the line invalid meanwhile.
                with m.If(left != 0):
                    m.d.sync += left.eq(left - 1)
                with m.Else():
                    m.d.comb += self.done.eq(1)
                    with m.If(self.hit & ~strikes):
                        m.d.comb += [enters.eq(1), self.done.eq(~changes)]
                with m.If(self.done):
                    m.next = "LOOKUP"
        with m.If(self.reads):
            m.d.sync += [struck.eq(struck | strikes), missed.eq(missed | misses)]
        with m.If(self.done):
            m.d.sync += taking.eq(0)
        self._fsm = fsm
