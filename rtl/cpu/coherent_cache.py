"""The cache of one of a node's CPUs, without data, coherent with those of the others."""

from amaranth.hdl import Cat, Const, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import data, enum, memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ...layouts.operations import CACHE_LINE
from ..bus.burst import Burst
from ..bus.memory import Snoop
from ..bus.watch import LineTaken
from ..parts.sizes import check_power_of_two
from ..parts.timing import Timing
from .address_bus import CoherencePort, Stored, covers
from .beats import check_beat, line_beats, line_read
from .inner_cache import TagChange

__all__ = ["CoherentCache", "Mesi"]


class Mesi(enum.Enum, shape=2):
    """State of a line: invalid, shared with others, the only copy, the only copy and dirty."""

    I = 0  # noqa: E741
    S = 1
    E = 2
    M = 3


class CoherentCache(wiring.Component):
    """Direct-mapped, write-back, write-allocate cache of ``lines`` lines that keeps only tags, and
    a state for each line (:class:`Mesi`).

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

    With ``coherent`` the NIC is on the memory bus, and is told of each line that an access takes:
    by a read or an upgrade for a store, in the access's last cycle. For that no line is in E: a
    load gets it in S, and a line in M that the NIC reads is in S afterwards. So a line in M was
    told of since the NIC read it last. A store to a line in M that ends in the very cycle in which
    the NIC reads the line is told of in the next one, and no such store ends in the cycle after
    the read.

    Of the phases of others and of the NIC's accesses, the tags know in the same cycle. They have
    one write port: the NIC has priority, then come other caches, then the access itself, which
    takes a cycle longer.

    Reset: all lines invalid; takes one cycle, as that of :class:`TagCache`.

    Parameters
    ----------
    lines : :class:`int`
        A power of two, 2 or more.
    peers : :class:`int`
        Other CPUs of the node, 1 or more.
    line_bytes : :class:`int`
        Bytes of a line: a power of two, 16 or more.
    block_stores : :class:`bool`
        Whether there are block stores.
    beat_bytes : :class:`int`
        Bytes of a line that a beat of the memory port has: a power of two, 8 to ``line_bytes``.
    coherent : :class:`bool`
        Whether the NIC is on the memory bus.
    inner : :class:`bool`
        Whether there is an :class:`InnerCache` in front of it.

    Members
    -------
    valid : ``In(1)``, address : ``In(32)``, store : ``In(1)``, fetch : ``In(1)``, hit : ``Out(1)``,
    done : ``Out(1)``, reads : ``Out(1)``, word : ``Out(64)``, stale : ``Out(1)``,
    memory : ``Out(Burst)``
        As those of :class:`TagCache`.
    block : ``In(1)``
        Only with ``block_stores``, and with ``store``: the access is a block store.
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
        Only with ``coherent``: the lines that accesses take.
    change : ``Out(TagChange)``
        Only with ``inner``: the entry of the tags that it writes.

    Raises
    ------
    TypeError
        ``lines`` or ``line_bytes`` is not an integer.
    ValueError
        ``lines``, ``line_bytes`` or ``beat_bytes`` is not a power of two, too small or too large;
        or ``block_stores`` is wanted with ``coherent``.
    """

    def __init__(self, *, lines: int, peers: int = 1, line_bytes: int = CACHE_LINE,
                 block_stores: bool = False, beat_bytes: int = 8, coherent: bool = False,
                 inner: bool = False) -> None:
        check_power_of_two("lines", lines)
        check_power_of_two("line_bytes", line_bytes, least=16)
        check_beat(beat_bytes, line_bytes)
        self._lines = lines
        self._line_bytes = line_bytes
        self._beat_bytes = beat_bytes
        if block_stores and coherent:
            raise ValueError("a NIC on the memory bus is not told of block stores")
        self._block_stores = block_stores
        self._coherent = coherent
        self._inner = inner
        index_bits = ceil_log2(lines)
        # As in TagCache: each cycle of reset makes a line invalid and increments the epoch.
        self._epoch = Signal(index_bits, reset_less=True)
        self._tags = memory.Memory(depth=lines, init=[], shape=data.StructLayout({
            "state": Mesi, "epoch": index_bits,
            "tag": 32 - ceil_log2(line_bytes) - index_bits}))
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
            "news": In(Stored).array(peers),
            "bus": Out(CoherencePort),
            "timing": In(Timing),
            **({"block": In(1)} if block_stores else {}),
            **({"taken": Out(LineTaken)} if coherent else {}),
            **({"change": Out(TagChange)} if inner else {}),
        })

    @property
    def lines(self) -> int:
        """Lines."""
        return self._lines

    @property
    def line_bytes(self) -> int:
        """Bytes of a line."""
        return self._line_bytes

    @property
    def beat_bytes(self) -> int:
        """Bytes of a line that a beat of the memory port has."""
        return self._beat_bytes

    @property
    def block_stores(self) -> bool:
        """True if there are block stores."""
        return self._block_stores

    @property
    def coherent(self) -> bool:
        """Tells whether the NIC is on the memory bus."""
        return self._coherent

    def elaborate(self, platform: object) -> Module:
        m = Module()
        line_bits = ceil_log2(self._line_bytes)
        index_bits = ceil_log2(self._lines)
        bus = self.bus

        epoch = self._epoch
        m.submodules.tags = tags = self._tags
        write = tags.write_port()

        def look(address: Value, name: str) -> tuple[Value, Value, Value]:
            """Slot, state and tag of the line at ``address``."""
            port = tags.read_port(domain="comb")
            state = Signal(Mesi, name=f"{name}_state")
            m.d.comb += port.addr.eq(address[line_bits:][:index_bits])
            with m.If(port.data.epoch == epoch):
                m.d.comb += state.eq(port.data.state)
            return port.addr, state, port.data.tag

        def tag_of(address: Value) -> Value:
            return address[line_bits + index_bits:]

        slot, state, tag = look(self.address, "own")
        there = Signal()
        m.d.comb += [there.eq(tag == tag_of(self.address)),
                     self.hit.eq(self.valid & there & (state != Mesi.I))]

        # The NIC's access, then another cache's phase, then the access's own change.
        nic, other = self.snoop, bus.phase
        nic_slot, nic_state, nic_tag = look(nic.address, "nic")
        other_slot, other_state, other_tag = look(other.address, "other")
        nic_changes, other_would, changes = Signal(), Signal(), Signal()
        with m.If(nic.valid):
            m.d.comb += nic_changes.eq((nic_tag == tag_of(nic.address)) & Mux(
                nic.write, nic_state != Mesi.I, nic_state == Mesi.M))
        with m.If(other.valid):
            has = (other_tag == tag_of(other.address)) & (other_state != Mesi.I)
            m.d.comb += [
                bus.has.eq(has),
                bus.has_dirty.eq(has & (other_state == Mesi.M)),
                other_would.eq(has & (other.exclusive | (other_state != Mesi.S))),
                bus.busy.eq(nic_changes & other_would),
            ]
        enters, entered = Signal(), Signal(Mesi)
        clean = Mesi.S if self._coherent else Mesi.E
        m.d.comb += [changes.eq(nic_changes | (other_would & bus.commits)),
                     write.data.epoch.eq(epoch)]
        with m.If(ResetSignal()):
            m.d.comb += [write.en.eq(1), write.addr.eq(epoch)]
            m.d.sync += epoch.eq(epoch + 1)
        with m.Elif(nic_changes):
            m.d.comb += [write.en.eq(1), write.addr.eq(nic_slot), write.data.tag.eq(nic_tag),
                         write.data.state.eq(Mux(nic.write, Mesi.I, clean))]
        with m.Elif(other_would & bus.commits):
            m.d.comb += [write.en.eq(1), write.addr.eq(other_slot), write.data.tag.eq(other_tag),
                         write.data.state.eq(Mux(other.exclusive, Mesi.I, Mesi.S))]
        with m.Elif(enters):
            m.d.comb += [write.en.eq(1), write.addr.eq(slot), write.data.state.eq(entered),
                         write.data.tag.eq(tag_of(self.address))]
        if self._inner:
            m.d.comb += [
                self.change.valid.eq(changes | enters),
                self.change.held.eq(write.data.state != Mesi.I),
                self.change.address.eq(Cat(Const(0, line_bits), write.addr, write.data.tag)),
            ]

        line = self.address[line_bits:]
        strikes, misses, loses = Signal(), Signal(), Signal()
        m.d.comb += [
            strikes.eq(nic.valid & nic.write & (nic.address[line_bits:] == line)),
            misses.eq(strikes | Cat(covers(stored, line, line_bits)
                                    for stored in self.news).any()),
            loses.eq(self.store & bus.commits & (other.address[line_bits:] == line)),
        ]
        if self._coherent:
            with m.If(self.store & nic_changes & (nic.address[line_bits:] == line)):
                m.d.comb += loses.eq(1)
        self._access(m, state=state, entered=entered, enters=enters, changes=changes,
                     victim=Cat(slot, tag), strikes=strikes, misses=misses, loses=loses,
                     nic_changes=nic_changes)
        if self._coherent:
            self._tell(m, nic_changes=nic_changes)
        return m

    def _tell(self, m: Module, *, nic_changes: Value) -> None:
        """The lines that accesses take. ``nic_changes`` in the cycle after a store: the NIC has
        read the line in the store's last cycle, so that the store counts as later."""
        line_bits, taken = ceil_log2(self._line_bytes), self.taken
        stored, late = Signal(), Signal()
        line = Signal(32 - line_bits)
        m.d.sync += [stored.eq(self.done & self.store), line.eq(self.address[line_bits:])]
        m.d.comb += [
            late.eq(stored & nic_changes & (self.snoop.address[line_bits:] == line)),
            taken.valid.eq(late | (self.done & self.store & ~self._fsm.ongoing("LOOKUP"))),
            taken.address.eq(Cat(Const(0, line_bits),
                                 Mux(late, line, self.address[line_bits:]))),
        ]

    def _access(self, m: Module, *, state: Value, entered: Signal, enters: Signal, changes: Value,
                victim: Value, strikes: Value, misses: Value, loses: Value,
                nic_changes: Value) -> None:
        request, bus = self.memory.request, self.bus
        line_bits, beat_bits = ceil_log2(self._line_bytes), ceil_log2(self._beat_bytes)
        beats = line_beats(self._line_bytes, self._beat_bytes)
        beat = Signal(range(beats))
        last = beat == beats - 1
        word = Signal(64)
        left = Signal(12)
        taking, shared = self._taking, self._shared
        struck, missed = Signal(), Signal()

        m.d.comb += [
            bus.address.eq(self.address),
            bus.exclusive.eq(self.store),
            bus.held.eq(taking | self.hold),
            self.stale.eq(missed | misses),
            self.word.eq(word),
            entered.eq(Mux(self.store, Mesi.M, Mesi.S if self._coherent else
                           Mux(shared, Mesi.S, Mesi.E))),
            request.payload.beats.eq(beats),
            request.payload.address.eq(line_read(self.address, line_bits, beat_bits)),
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
            m.d.comb += request.valid.eq(1)
            m.next = "REQUEST"
            with m.If(request.ready):
                m.next = "READ"

        def write_back() -> None:
            m.d.comb += [request.valid.eq(1), request.payload.write.eq(1),
                         request.payload.address.eq(Cat(Const(0, line_bits), victim))]
            m.next = "VICTIM"
            with m.If(request.ready):
                m.next = "BACK"

        def upgrade() -> None:
            m.d.comb += bus.request.eq(1)
            with m.If(bus.grant):
                m.d.sync += [taking.eq(1), left.eq(self.timing.memory_upgrade - 2)]
                m.next = "UPGRADE"

        def store_block() -> None:
            m.d.comb += [bus.request.eq(~nic_changes), self.done.eq(bus.grant),
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
                if self._block_stores:
                    with m.If(self.block):
                        store_block()
                    fetches = m.Elif(self.hit & self.fetch)
                else:
                    fetches = m.If(self.hit & self.fetch)
                with fetches:
                    read()
                with m.Elif(self.hit & self.store & (state == Mesi.S)):
                    upgrade()
                if not self._coherent:
                    with m.Elif(self.hit & self.store & (state == Mesi.E)):
                        m.d.comb += [enters.eq(1), self.done.eq(~changes & ~loses)]
                with m.Elif(self.hit):
                    m.d.comb += self.done.eq(~loses)
                with m.Elif(state == Mesi.M):
                    write_back()
                with m.Else():
                    phase()
            with m.State("VICTIM"):
                write_back()
            with m.State("BACK"):
                m.d.comb += self.memory.write.valid.eq(1)
                with m.If(self.memory.write.ready):
                    m.d.sync += beat.eq(beat + 1)
                    with m.If(last):
                        m.next = "PHASE"
            with m.State("PHASE"):
                phase()
            with m.State("INTERVENTION"):
                m.d.sync += left.eq(left - 1)
                with m.If(left == 0):
                    read()
            with m.State("REQUEST"):
                read()
            with m.State("READ"):
                m.d.comb += [self.memory.read.ready.eq(1), self.reads.eq(1)]
                with m.If(self.memory.read.valid):
                    m.d.sync += beat.eq(beat + 1)
                    with m.If(beat == self.address[beat_bits:line_bits]):
                        m.d.comb += self.word.eq(self.memory.read.payload)
                        m.d.sync += word.eq(self.memory.read.payload)
                    with m.If(last):
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
