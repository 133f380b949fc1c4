"""Fetches the descriptors of the send ring from host memory, ahead of those that are done."""

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.rings import LINE_BYTES
from ...bus.burst import beats_of
from ...bus.watch import LineTaken
from .burst_arbiter import ReadPart
from .descriptor_store import ADDRESS_WORD, BATCH, CONTROL_WORD, WORDS, StoreWrite
from .line_ring import LineRing

__all__ = ["PulledRing", "RingFetch", "RingPosted"]

LINE_WORDS = LINE_BYTES // 8

RingPosted = wiring.Signature({
    "enable": Out(1),
    "base": Out(32),
    "posted": Out(16),
    "done": Out(16),
})
"""The side that has the ring's registers: ``enable``: fetch; ``base``: where the ring lies;
``posted`` and ``done``: descriptors, modulo 65536."""

PulledRing = wiring.Signature({
    "enable": Out(1),
    "node": Out(8),
})
"""What a ring of lines needs beside its registers, from the side of the NIC: the ring is one of
lines; this node's number."""


class _Begins(enum.Enum, shape=2):
    """The purpose of a burst: the rest of a batch is what one burst was too short for."""

    NONE = 0
    REST = 1
    FETCH = 2
    LOOK = 3


class RingFetch(wiring.Component):
    """Reads descriptors from ``done`` to ``posted`` into the store, as far as it has room: in a
    burst as many as are posted, but not beyond a group of BATCH.

    With ``coherent`` and ``pull.enable`` the ring is one of lines (:class:`LineRing`) and is read
    without doorbells, a line a burst, as far as it holds descriptors.

    Latency: none from a doorbell to ``bus.wanted``, 1 cycle from a line watched; 1 cycle from a
    control word to ``there``. Throughput: 1 word a cycle; words never wait. Reset: nothing
    fetched.

    Parameters
    ----------
    ring : int
        Descriptors in the ring: a power of two of at least BATCH.
    coherent : int
        CPUs on the memory bus of the NIC; 0: it is on another bus.

    Members
    -------
    registers : In(RingPosted)
        The ring.
    pull : In(PulledRing), watched : In(LineTaken), dry : Out(1)
        Only with ``coherent``. ``watched``, one a CPU: lines of the ring that CPUs take. ``dry``: a
        line was looked at behind the last descriptor found, for the first time since that is done,
        and is none.
    max_beats : In(10), now : In(32)
        As of SendDma.
    bus : Out(ReadPart)
        To host memory.
    store : Out(StoreWrite), there : Out(1)
        The store; it has descriptor ``done``.
    accepted : Out(16)
        Descriptors known of, modulo 65536: those posted, or those found.
    idle : Out(1)
        All descriptors asked for are done, and nothing is to be asked for.
    """

    def __init__(self, *, ring: int, coherent: int = 0) -> None:
        self._ring = ring
        self._lines = LineRing(ring=ring, cpus=coherent) if coherent else None
        super().__init__({
            "registers": In(RingPosted),
            "max_beats": In(10),
            "now": In(32),
            "bus": Out(ReadPart),
            "store": Out(StoreWrite),
            "there": Out(1),
            "accepted": Out(16),
            "idle": Out(1),
        } | ({"pull": In(PulledRing), "watched": In(LineTaken).array(coherent), "dry": Out(1)}
             if coherent else {}))

    @property
    def ring(self) -> int:
        """Descriptors in the ring."""
        return self._ring

    @property
    def coherent(self) -> bool:
        """Tells whether the NIC is on the memory bus."""
        return self._lines is not None

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ring, bus, lines = self.registers, self.bus, self._lines
        requested = Signal(16)
        arrived = Signal(16)
        # Behind the words of a line that is looked at, or of descriptors.
        looking = Signal()
        # The cycle in which the last burst was asked for, but for the rest of a batch.
        asked = Signal(32)
        rest_left = Signal(6)
        rest_address = Signal(29)
        waits = Signal()

        begin = Signal(_Begins)
        fetches = Signal()
        looks = Signal()
        room = Signal()
        m.d.comb += [
            room.eq((requested - ring.done)[:3] != BATCH),
            bus.wanted.eq(begin != _Begins.NONE),
            bus.words.ready.eq(1),
        ]
        with m.If(bus.free):
            with m.If(requested != ring.posted):
                m.d.comb += fetches.eq(ring.enable & room)
            if lines is not None:
                with m.If(self.pull.enable):
                    m.d.comb += [fetches.eq(0), looks.eq(lines.look.due & room)]
            with m.If(rest_left != 0):
                m.d.comb += begin.eq(_Begins.REST)
            with m.Elif(looks):
                m.d.comb += begin.eq(_Begins.LOOK)
            with m.Elif(fetches):
                m.d.comb += begin.eq(_Begins.FETCH)
        with m.If(bus.begun):
            m.d.sync += looking.eq(begin == _Begins.LOOK)
            with m.If(begin != _Begins.REST):
                m.d.sync += asked.eq(self.now + 1)
        with m.Switch(begin):
            with m.Case(_Begins.REST):
                m.d.comb += [bus.address.eq(rest_address << 3),
                             bus.beats.eq(beats_of(rest_left, self.max_beats))]
                with m.If(bus.begun):
                    m.d.sync += [rest_address.eq(rest_address + bus.beats),
                                 rest_left.eq(rest_left - bus.beats)]
            with m.Case(_Begins.FETCH):
                self._fetch(m, requested, rest_address, rest_left)
            if lines is not None:
                with m.Case(_Begins.LOOK):
                    m.d.comb += [lines.look.begin.eq(bus.begun), bus.beats.eq(LINE_WORDS),
                                 bus.address.eq(lines.look.address)]

        self._keep(m, arrived, asked, bus.words.valid & ~looking)
        # Between done and requested lies everything that has arrived or is in the lane's making.
        m.d.comb += [
            self.there.eq(arrived != ring.done),
            waits.eq(requested == ring.posted),
            self.accepted.eq(ring.posted),
            self.idle.eq((requested == ring.done) & (waits | ~ring.enable)),
        ]
        if lines is not None:
            self._pull(m, lines, requested, arrived, looking)
            with m.If(self.pull.enable):
                m.d.comb += [self.accepted.eq(requested), waits.eq(~lines.look.due)]
        return m

    def _fetch(self, m: Module, requested: Signal, rest_address: Signal, rest_left: Signal) -> None:
        """The first burst for as many descriptors as are posted and the store has room for."""
        ring, bus = self.registers, self.bus
        slots = (self._ring - 1).bit_length()
        waiting = Signal(16)
        free = Signal(3)
        # Not beyond a group of BATCH, so neither beyond the ring's end.
        reach = Signal(3)
        limit = Signal(3)
        batch = Signal(3)
        place = Signal(29)
        m.d.comb += [
            waiting.eq(ring.posted - requested),
            free.eq(BATCH - (requested - ring.done)[:3]),
            reach.eq(BATCH - requested[:2]),
            limit.eq(beats_of(free, reach)),
            batch.eq(beats_of(waiting, limit)),
            place.eq(ring.base[3:] + Cat(Const(0, 3), requested[:slots])),
            bus.address.eq(place << 3),
            bus.beats.eq(beats_of(batch << 3, self.max_beats)),
        ]
        with m.If(bus.begun):
            m.d.sync += [
                rest_address.eq(place + bus.beats),
                rest_left.eq((batch << 3) - bus.beats),
                requested.eq(requested + batch),
            ]

    def _keep(self, m: Module, arrived: Signal, asked: Signal, comes: Signal) -> None:
        """Words of descriptors, one behind the other, go to the store."""
        store, word = self.store, self.bus.words.payload
        m.d.comb += [
            store.word.data.eq(word),
            store.address.data.eq(word[:32]),
            store.control.data.eq(word),
            store.asked.data.eq(asked),
        ]
        with m.If(comes):
            m.d.comb += store.word.en.eq(1)
            m.d.sync += store.index.eq(store.index + 1)
            with m.Switch(store.index[:3]):
                with m.Case(0):
                    m.d.comb += store.asked.en.eq(1)
                with m.Case(ADDRESS_WORD):
                    m.d.comb += store.address.en.eq(1)
                with m.Case(CONTROL_WORD):
                    m.d.comb += store.control.en.eq(1)
                    m.d.sync += arrived.eq(arrived + 1)

    def _pull(self, m: Module, lines: LineRing, requested: Signal, arrived: Signal,
              looking: Signal) -> None:
        """Joins the ring of lines: a line found becomes a descriptor like the others."""
        m.submodules.lines = lines
        ring, store, look, line = self.registers, self.store, lines.look, lines.line
        for taken, watched in zip(self.watched, lines.watched, strict=True):
            wiring.connect(m, wiring.flipped(taken), watched)
        m.d.comb += [
            lines.active.eq(ring.enable & self.pull.enable),
            lines.base.eq(ring.base),
            lines.node.eq(self.pull.node),
            lines.requested.eq(requested),
            look.word.payload.eq(self.bus.words.payload),
            look.word.valid.eq(self.bus.words.valid & looking),
        ]
        with m.If(look.word.valid):
            m.d.comb += [
                store.word.en.eq(line.there),
                store.asked.en.eq(line.there & (line.number == 0)),
                store.address.en.eq(line.found),
                store.control.en.eq(line.found),
                store.control.data.eq(line.control),
            ]
            with m.If(line.number == 0):
                m.d.comb += store.word.data.eq(line.header)
            with m.If(line.there):
                m.d.sync += store.index.eq(store.index + 1)
        with m.If(line.found):
            m.d.sync += [store.index.eq(store.index + 1 + WORDS - LINE_WORDS),
                         requested.eq(requested + 1), arrived.eq(arrived + 1)]
        ran = Signal()
        with m.If(self.pull.enable):
            m.d.comb += self.dry.eq(line.lacks & ran & (requested == ring.done))
            m.d.sync += ran.eq((ran & ~self.dry) | (requested != ring.done))
