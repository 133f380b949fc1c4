"""The CPU's cache without data: the lines it holds, and its traffic on the memory port."""

from amaranth.hdl import Cat, Const, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ...layouts.operations import CACHE_LINE, Forgotten
from ..bus.burst import Burst
from ..bus.memory import Snoop
from ..bus.watch import LineTaken
from ..parts.sizes import check_power_of_two
from .beats import check_beat, line_beats, line_read
from .inner_cache import TagChange

__all__ = ["Fault", "TagCache"]


class Fault(data.Struct):
    """In a cycle with ``valid``: the line at ``address`` was not flushed, and ``what`` happened to
    it."""

    valid: 1
    what: Forgotten
    address: 32


class TagCache(wiring.Component):
    """Direct-mapped, write-back, write-allocate cache of ``lines`` lines that keeps only tags.

    ``valid`` requests an access to the line at ``address``. The access ends with the cycle in which
    ``done`` is high, which may be the first one; until then the inputs hold. Cycles:

    - a hit, without ``fetch``: 1;
    - a miss, or any ``fetch``: ``memory.latency + 2 + n`` without other users of the memory, n
      being the beats of a line: a read burst of the line, requested in the first cycle. A
      miss whose victim is dirty first writes the victim back (n + 1 cycles more: a request and n
      beats with no byte strobed, as the memory's bytes are always current).

    With ``coherent``, a store that hits a clean line first takes it by an *upgrade*: an
    address-only transaction, 2 cycles (a request, and one beat with no byte strobed) without other
    users of the memory. If another initiator writes to the line before the upgrade has passed, the
    line becomes invalid, and a read for ownership follows. A store that misses is a read for
    ownership in any case.

    A block store makes the line invalid without reading it or writing it back, in 1 cycle.

    With ``flushes`` the bus is not coherent: snoops change no tag, and lines that others write to
    leave the cache by a *flush* alone. It takes 1 cycle, of a dirty line n + 2: it is written back.
    A fetch reads a line as if it had been flushed, so of a dirty one it takes n + 1 cycles more. A
    line that DMA has written to is stale, until it is flushed or fetched. ``fault`` tells of an
    access to a stale line, and of DMA's reads and writes of dirty ones, whose program has forgotten
    a flush; nothing else follows from it.

    A store makes the line dirty. Snoops take effect in the cycle in which they arrive: another
    initiator's write makes a line invalid, and its read makes a dirty line clean. If a snoop and
    the access change tags in the same cycle, the access takes a cycle longer. A line written to by
    another while it is being read stays invalid (a fetched line: becomes invalid), and ``stale``
    says so.

    Reset: all lines invalid. The tags carry the time of their reset, so that reset takes one cycle
    for any number of lines.

    Parameters
    ----------
    lines : :class:`int`
        A power of two, 2 or more.
    source : :class:`int`
        This CPU's number among the memory controller's initiators: its own accesses are not
        snooped.
    line_bytes : :class:`int`
        Bytes of a line: a power of two, 16 or more.
    coherent : :class:`bool`
        Whether a store to a clean line is a transaction that other agents can watch.
    block_stores : :class:`bool`
        Whether there are block stores. Not with ``coherent``.
    beat_bytes : :class:`int`
        Bytes of a line that a beat of the memory port has: a power of two, 8 to ``line_bytes``.
    flushes : :class:`bool`
        Whether the bus is not coherent. Not with ``coherent`` or ``block_stores``.
    inner : :class:`bool`
        Whether there is an :class:`InnerCache` in front of it.

    Members
    -------
    valid : ``In(1)``, address : ``In(32)``, store : ``In(1)``, fetch : ``In(1)``
        The access: a store or a load of any byte of the line; ``fetch`` reads the line from memory
        even on a hit.
    block : ``In(1)``
        Only with ``block_stores``, and with ``store``: the access is a block store.
    flush : ``In(1)``, fault : ``Out(Fault)``
        Only with ``flushes``: the access is a flush, not a store or a fetch; what was forgotten.
    hit : ``Out(1)``
        In a cycle with ``valid``: the line at ``address`` is in the cache now.
    done : ``Out(1)``
        Last cycle of the access.
    reads : ``Out(1)``, word : ``Out(64)``, stale : ``Out(1)``
        ``reads``: the access has gone on to memory. In its last cycle: the 8-byte word at
        ``address``, and whether it may have changed since.
    taken : ``Out(LineTaken)``
        Only with ``coherent``: last cycle of a store's access that took its line, by an upgrade or
        a read for ownership. The stored data is in memory from the next cycle on. So if an agent
        reads the line before that and finds the old data, it sees this signal after its read (or
        in the cycle of its read).
    change : ``Out(TagChange)``
        Only with ``inner``: the entry of the tags that it writes.
    memory : ``Out(Burst)``
        The memory controller.
    snoop : ``In(Snoop)``
        Everybody's accesses to memory.

    Raises
    ------
    TypeError
        ``lines`` or ``source`` is not an integer.
    ValueError
        ``lines`` is not a power of two of at least 2, ``line_bytes`` not one of at least 16,
        ``beat_bytes`` not one of 8 to ``line_bytes``, ``source`` is not 0 to 15, or
        ``block_stores`` is wanted with ``coherent``.
    """

    def __init__(self, *, lines: int, source: int = 0, line_bytes: int = CACHE_LINE,
                 coherent: bool = False, block_stores: bool = False,
                 beat_bytes: int = 8, flushes: bool = False, inner: bool = False) -> None:
        for name, value in (("lines", lines), ("source", source)):
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"{name} must be an integer, not {value!r}")
        check_power_of_two("lines", lines)
        check_power_of_two("line_bytes", line_bytes, least=16)
        check_beat(beat_bytes, line_bytes)
        if not 0 <= source <= 15:
            raise ValueError(f"source must be 0 to 15, not {source}")
        if block_stores and coherent:
            raise ValueError("a NIC on the memory bus is not told of block stores")
        if flushes and (coherent or block_stores):
            raise ValueError("a cache with flushes has no block stores, and no NIC on its bus")
        self._lines = lines
        self._line_bytes = line_bytes
        self._beat_bytes = beat_bytes
        self._source = source
        self._coherent = coherent
        self._block_stores = block_stores
        self._flushes = flushes
        self._inner = inner
        index_bits = ceil_log2(lines)
        # Each cycle of reset makes a line invalid and increments the epoch. An entry counts only
        # in its own epoch: before an epoch returns, every line was made invalid.
        self._epoch = Signal(index_bits, reset_less=True, name="epoch")
        self._tags = memory.Memory(depth=lines, init=[], shape=data.StructLayout({
            "held": 1, "dirty": 1, "epoch": index_bits,
            "tag": 32 - ceil_log2(line_bytes) - index_bits, **({"stale": 1} if flushes else {})}))
        super().__init__({
            "valid": In(1),
            "address": In(32),
            "store": In(1),
            "fetch": In(1),
            "hit": Out(1),
            "done": Out(1),
            "reads": Out(1),
            "word": Out(64),
            "stale": Out(1),
            "taken": Out(LineTaken),
            "memory": Out(Burst()),
            "snoop": In(Snoop),
            **({"block": In(1)} if block_stores else {}),
            **({"flush": In(1), "fault": Out(Fault)} if flushes else {}),
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
    def source(self) -> int:
        """Number among the memory controller's initiators."""
        return self._source

    @property
    def coherent(self) -> bool:
        """Tells whether a store to a clean line is a transaction."""
        return self._coherent

    @property
    def flushes(self) -> bool:
        """Tells whether the bus is not coherent."""
        return self._flushes

    def elaborate(self, platform: object) -> Module:
        m = Module()
        line_bits = ceil_log2(self._line_bytes)
        index_bits = ceil_log2(self._lines)
        epoch = self._epoch
        m.submodules.tags = tags = self._tags
        write = tags.write_port()
        own = tags.read_port(domain="comb")
        other = tags.read_port(domain="comb")

        def parts(address: Value) -> tuple[Value, Value]:
            return address[line_bits:][:index_bits], address[line_bits + index_bits:]

        index, tag = parts(self.address)
        snooped, snooped_tag = parts(self.snoop.address)
        held = Signal()
        m.d.comb += [
            own.addr.eq(index),
            other.addr.eq(snooped),
        ]
        with m.If(self.valid):
            m.d.comb += [
                held.eq(own.data.held & (own.data.epoch == epoch)),
                self.hit.eq(held & (own.data.tag == tag)),
            ]

        struck = Signal()
        strikes = Signal()
        changes = Signal()
        was_read = Signal(init=1)
        if self._flushes:
            matters = self.snoop.write & ~other.data.stale
            self._tell_faults(m, other=other.data, known=other.data.held
                              & (other.data.epoch == epoch) & (other.data.tag == snooped_tag),
                              own=own.data)
        else:
            matters = self.snoop.write | other.data.dirty
        with m.If(self.snoop.valid):
            with m.If(self.snoop.source != self._source):
                m.d.comb += [
                    changes.eq(other.data.held & (other.data.epoch == epoch)
                               & (other.data.tag == snooped_tag)
                               & matters),
                    strikes.eq(self.snoop.write & (self.snoop.address[line_bits:]
                                                   == self.address[line_bits:])),
                ]
                if self._flushes:
                    with m.If(~was_read):
                        m.d.comb += strikes.eq(0)

        # The new state of the access's line: entered, or made dirty.
        enters = Signal()
        with m.If(ResetSignal()):
            m.d.comb += [write.en.eq(1), write.addr.eq(epoch)]
            m.d.sync += epoch.eq(epoch + 1)
        with m.Elif(changes):
            m.d.comb += [write.en.eq(1), write.addr.eq(snooped),
                         write.data.held.eq(1 if self._flushes else ~self.snoop.write),
                         write.data.epoch.eq(epoch), write.data.tag.eq(snooped_tag)]
            if self._flushes:
                m.d.comb += [write.data.stale.eq(1), write.data.dirty.eq(other.data.dirty)]
        with m.Elif(enters):
            m.d.comb += [write.en.eq(1), write.addr.eq(index),
                         write.data.held.eq(~self.block if self._block_stores else
                                            ~self.flush if self._flushes else 1),
                         write.data.dirty.eq(self.store), write.data.epoch.eq(epoch),
                         write.data.tag.eq(tag)]
        if self._inner:
            m.d.comb += [
                self.change.valid.eq(changes | enters),
                self.change.held.eq(write.data.held),
                self.change.address.eq(Cat(Const(0, line_bits), write.addr, write.data.tag)),
            ]

        self._access(m, held=held, was_dirty=own.data.dirty, victim=Cat(index, own.data.tag),
                     enters=enters, changes=changes, struck=struck, strikes=strikes,
                     was_read=was_read)
        return m

    def _tell_faults(self, m: Module, *, other: Value, known: Value, own: Value) -> None:
        """``other``: the entry of the snoop's line, which is in the cache if ``known``; ``own``: of
        the access's."""
        fault, snoop = self.fault, self.snoop
        with m.If(snoop.valid & (snoop.source != self._source) & known & other.dirty):
            m.d.comb += [
                fault.valid.eq(1),
                fault.what.eq(Mux(snoop.write, Forgotten.LOST_WRITE, Forgotten.OLD_READ)),
                fault.address.eq(snoop.address),
            ]
        with m.Elif(self.hit & own.stale & ~self.fetch & ~self.flush):
            m.d.comb += [
                fault.valid.eq(1),
                fault.what.eq(Forgotten.OLD_LOAD),
                fault.address.eq(self.address),
            ]

    def _access(self, m: Module, *, held: Value, was_dirty: Value, victim: Value, enters: Signal,
                changes: Value, struck: Signal, strikes: Value, was_read: Signal) -> None:
        request = self.memory.request
        line_bits, beat_bits = ceil_log2(self._line_bytes), ceil_log2(self._beat_bytes)
        beats = line_beats(self._line_bytes, self._beat_bytes)
        beat = Signal(range(beats))
        last = beat == beats - 1
        word = Signal(64)
        fills = Signal()

        m.d.comb += [self.stale.eq(struck | strikes), self.word.eq(word)]
        if self._flushes:
            # What is written before its beat is read is read, so the line is not old.
            m.d.comb += was_read.eq(self.snoop.address[beat_bits:line_bits] < beat)
        if self._coherent:
            upgrades = Signal()
            loses = Signal()
            m.d.comb += [
                upgrades.eq(self.hit & ~self.fetch & self.store & ~was_dirty),
                loses.eq(self.store & (self.snoop.address[line_bits:]
                                       == self.address[line_bits:])),
            ]

        def ask() -> None:
            m.d.comb += [request.valid.eq(1), request.payload.write.eq(1),
                         request.payload.beats.eq(1)]
            m.next = "UPGRADE"
            with m.If(request.ready):
                m.next = "ADDRESS"

        def upgraded() -> None:
            # The line is gone, or is invalidated in this cycle: read it.
            with m.If(~self.hit | strikes):
                m.d.sync += fills.eq(1)
                m.next = "REQUEST"
            with m.Else():
                m.d.comb += [enters.eq(1), self.done.eq(~changes)]
                m.next = "TAKE"
                with m.If(self.done):
                    m.next = "LOOKUP"

        def finish() -> None:
            # A snoop writes tags in the same cycle: repeat.
            with m.If(fills & ~self.stale):
                m.d.comb += [enters.eq(1), self.done.eq(~changes)]
            with m.Else():
                m.d.comb += self.done.eq(1)

        with m.If(self.valid):
            m.d.comb += [request.payload.beats.eq(beats), request.payload.address.eq(
                line_read(self.address, line_bits, beat_bits))]
        with m.If(self.valid), m.FSM() as fsm:
            with m.State("LOOKUP"):
                m.d.sync += struck.eq(0)
                if self._block_stores:
                    with m.If(self.block):
                        m.d.comb += [enters.eq(self.hit), self.done.eq(~(enters & changes))]
                    hits = m.Elif(self.hit & ~self.fetch)
                elif self._flushes:
                    with m.If(self.flush & ~(self.hit & was_dirty)):
                        m.d.comb += [enters.eq(self.hit), self.done.eq(~(enters & changes))]
                    hits = m.Elif(self.hit & ~self.fetch & ~self.flush)
                else:
                    hits = m.If(self.hit & ~self.fetch)
                with hits:
                    if self._coherent:
                        m.d.comb += self.done.eq(~upgrades & ~(loses & changes))
                        with m.If(upgrades):
                            ask()
                    else:
                        m.d.comb += [enters.eq(self.store & ~was_dirty),
                                     self.done.eq(~(enters & changes))]
                with m.Else():
                    m.d.comb += request.valid.eq(1)
                    m.d.sync += fills.eq(1 if self._flushes else ~self.hit)
                    with m.If(held & was_dirty & (1 if self._flushes else ~self.hit)):
                        m.d.comb += [request.payload.write.eq(1),
                                     request.payload.address.eq(Cat(Const(0, line_bits), victim))]
                        m.next = "VICTIM"
                    with m.Else():
                        m.next = "REQUEST"
                    with m.If(request.ready):
                        with m.If(request.payload.write):
                            m.next = "BACK"
                        with m.Else():
                            m.next = "READ"
            with m.State("VICTIM"):
                m.d.comb += [request.valid.eq(1), request.payload.write.eq(1),
                             request.payload.address.eq(Cat(Const(0, line_bits), victim))]
                with m.If(request.ready):
                    m.next = "BACK"
            with m.State("BACK"):
                m.d.comb += self.memory.write.valid.eq(1)
                with m.If(self.memory.write.ready):
                    m.d.sync += beat.eq(beat + 1)
                    with m.If(last):
                        m.next = "REQUEST"
                        if self._flushes:
                            with m.If(self.flush):
                                m.next = "GONE"
            with m.State("REQUEST"):
                m.d.comb += request.valid.eq(1)
                m.d.sync += struck.eq(0)
                with m.If(request.ready):
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += [self.memory.read.ready.eq(1), self.reads.eq(1)]
                with m.If(strikes):
                    m.d.sync += struck.eq(1)
                with m.If(self.memory.read.valid):
                    m.d.sync += beat.eq(beat + 1)
                    with m.If(beat == self.address[beat_bits:line_bits]):
                        m.d.comb += self.word.eq(self.memory.read.payload)
                        m.d.sync += word.eq(self.memory.read.payload)
                    with m.If(last):
                        finish()
                        with m.If(self.done):
                            m.next = "LOOKUP"
                        with m.Else():
                            m.next = "ENTER"
            with m.State("ENTER"):
                m.d.comb += self.reads.eq(1)
                if self._flushes:
                    m.d.comb += was_read.eq(1)
                finish()
                with m.If(strikes):
                    m.d.sync += struck.eq(1)
                with m.If(self.done):
                    m.next = "LOOKUP"
            if self._flushes:
                with m.State("GONE"):
                    m.d.comb += [enters.eq(1), self.done.eq(~changes)]
                    with m.If(self.done):
                        m.next = "LOOKUP"
            if self._coherent:
                with m.State("UPGRADE"):
                    ask()
                with m.State("ADDRESS"):
                    m.d.comb += self.memory.write.valid.eq(1)
                    with m.If(self.memory.write.ready):
                        upgraded()
                with m.State("TAKE"):
                    upgraded()
        self._fsm = fsm
        if self._coherent:
            # Somebody read a dirty line in the very cycle of a store to it, of which a snoop tells
            # now: the store comes behind the read, and its upgrade is told of late.
            stored = Signal()
            stored_line = Signal(32 - line_bits)
            late = Signal()
            m.d.sync += [stored.eq(self.done & self.store),
                         stored_line.eq(self.address[line_bits:])]
            m.d.comb += [
                late.eq(stored & changes & (self.snoop.address[line_bits:] == stored_line)),
                self.taken.valid.eq(late | (self.done & self.store & ~fsm.ongoing("LOOKUP"))),
                self.taken.address.eq(Cat(Const(0, line_bits),
                                  Mux(late, stored_line, self.address[line_bits:]))),
            ]
