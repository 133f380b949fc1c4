"""Send FIFO, DMA lane: fetches descriptors and payloads from host memory and makes packets."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, enum, memory, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.packet import TRACE_BITS
from ....layouts.rings import DESCRIPTOR_BYTES, INLINE_BYTES, LINE_BYTES
from ....layouts.trace import Drop, Kind
from ...bus.burst import Burst, beats_of
from ...bus.watch import LineTaken
from ...parts.aligner import Aligner
from ...parts.event import EventPort
from ...parts.flit import Header
from ...parts.queue import Queue
from ...parts.sizes import check_power_of_two
from ..fifos.lanes import DmaLane
from ..fifos.packet_fifo import PacketFifo
from .line_ring import Control, LineRing

__all__ = ["PulledRing", "SendDma", "SendRingRegisters", "send_dma_members"]

BATCH = 4
"""Descriptors fetched in one burst at most, and held at once."""

WORDS = DESCRIPTOR_BYTES // 8
ADDRESS_WORD = 5
CONTROL_WORD = 6
LINE_WORDS = LINE_BYTES // 8


SendRingRegisters = wiring.Signature({
    "enable": Out(1),
    "base": Out(32),
    "posted": Out(16),
    "report": Out(32),
    "done": In(16),
    "empty": In(1),
})
"""The send ring's registers, from the side of software: ``enable``: fetch; low: what is fetched is
finished, nothing more is; ``send_base``, ``send_doorbell``, ``send_report``, ``send_done``;
``empty``, high for a cycle: the last posted descriptor is done (of a ring of lines: and the next
line looked at is no descriptor)."""

PulledRing = wiring.Signature({
    "enable": Out(1),
    "node": Out(8),
})
"""What a ring of lines needs beside its registers, from the side of the NIC: the ring is one of
lines; this node's number."""


def send_dma_members(coherent: int = 0) -> dict[str, wiring.Member]:
    """The ports of :class:`SendDma`, or of what is in its place."""
    return {
        "registers": In(SendRingRegisters),
        "max_beats": In(10),
        "now": In(32),
        "bus": Out(Burst()),
        "lane": Out(DmaLane),
        "accepted": Out(16),
        "idle": Out(1),
        "event": Out(EventPort),
    } | (
        {"pull": In(PulledRing), "watched": In(LineTaken).array(coherent)} if coherent else {})


class SendDma(PacketFifo):
    """Reads the send ring from ``done`` to ``posted``, one packet a descriptor.

    Up to four posted descriptors are fetched in one burst; a payload is read in bursts of at most
    ``max_beats``, each requested only when the lane has room for it, so that the bus never waits
    for the link. Words go to the lane as they come. A descriptor whose lengths disagree is
    refused: it makes no packet, but counts as done, once the descriptors before it have gone.

    With ``coherent`` and ``pull.enable`` the ring is one of lines (:class:`LineRing`) and is read
    without doorbells, a line a burst, as far as it holds descriptors.

    Latency: 2 cycles from a doorbell, or a line watched, to the request, 3 from a descriptor's
    control word to its header in the lane. Throughput: 1 word a cycle within a burst.
    Back-pressure: a full lane stops further requests. Reset: idle, nothing done.

    Parameters
    ----------
    fifo_bytes : int
        Capacity of the lane in bytes, a power of two.
    mtu : int
        Payload bytes of a packet.
    ring : int
        Descriptors in the ring: a power of two of at least 4.
    coherent : int
        CPUs on the memory bus of the NIC; 0: it is on another bus.

    Members
    -------
    registers : In(SendRingRegisters)
        The ring's registers.
    pull : In(PulledRing), watched : In(LineTaken)
        Only with ``coherent``. ``watched``, one a CPU: lines of the ring that CPUs take.
    max_beats : In(10)
        Longest burst in beats, at least 1; of a ring of lines at least the 4 of a line.
    now : In(32)
        Low bits of the cycle counter.
    bus : Out(Burst)
        To host memory.
    lane : Out(DmaLane)
        Packets; ``skip`` with each descriptor refused.
    accepted : Out(16)
        Descriptors known of, modulo 65536: those posted, or those found.
    idle : Out(1)
        Nothing under way but what the lane holds.
    event : Out(EventPort)
        Block SEND_DMA: BEGIN when the descriptor has come, ``arg`` being the low 32 bits of the
        cycle in which its fetch was requested; END when the packet's last word enters the lane;
        DROP for a refused descriptor.

    Raises
    ------
    ValueError
        The lane cannot hold a packet, or the ring is no power of two.
    """

    def __init__(self, *, fifo_bytes: int, mtu: int, ring: int, coherent: int = 0) -> None:
        check_power_of_two("ring", ring, least=BATCH)
        self._ring = ring
        self._lines = LineRing(ring=ring, cpus=coherent) if coherent else None
        super().__init__(fifo_bytes=fifo_bytes, mtu=mtu, members=send_dma_members(coherent))

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
        m.submodules.lane = lane = Queue(shape=64, depth=self._words)
        m.submodules.traces = traces = Queue(shape=TRACE_BITS, depth=self._words)
        m.submodules.align = align = Aligner()
        wiring.connect(m, wiring.flipped(self.lane.words), lane.o)
        wiring.connect(m, wiring.flipped(self.lane.traces), traces.o)

        requested = Signal(16)
        arrived = Signal(16)
        # The payload still to be requested, and the words still to go in front of it.
        payload_address = Signal(29)
        payload_left = Signal(max(10, (self._mtu + 14 >> 3).bit_length()))
        front_left = Signal(3)
        report_pending = Signal()

        store = self._fetched(m, arrived)
        bus_idle = self._bus(
            m, align=align, lane=lane, store=store, requested=requested,
            payload_address=payload_address, payload_left=payload_left, front_left=front_left,
            report_pending=report_pending)
        self._packets(
            m, align=align, lane=lane, traces=traces, store=store,
            payload_address=payload_address, payload_left=payload_left, front_left=front_left,
            report_pending=report_pending)
        # Between done and requested lies everything that has arrived or is in the lane's making.
        waits = Signal()
        m.d.comb += [
            waits.eq(requested == self.registers.posted),
            self.accepted.eq(self.registers.posted),
            self.idle.eq(bus_idle & ~report_pending & (requested == self.registers.done)
                         & (waits | ~self.registers.enable)),
        ]
        if self._lines is not None:
            self._pull(m, self._lines, store, requested, arrived, waits)
        return m

    def _pull(self, m: Module, lines: LineRing, store: "_Store", requested: Signal,
              arrived: Signal, waits: Signal) -> None:
        """Joins the ring of lines: a line found becomes a descriptor like the others."""
        m.submodules.lines = lines
        for taken, watched in zip(self.watched, lines.watched, strict=True):
            wiring.connect(m, wiring.flipped(taken), watched)
        ran = Signal()
        ring = self.registers
        m.d.comb += [
            lines.active.eq(ring.enable & self.pull.enable),
            lines.base.eq(ring.base),
            lines.node.eq(self.pull.node),
            lines.requested.eq(requested),
            lines.look.word.payload.eq(self.bus.read.payload),
        ]
        with m.If(self.pull.enable):
            m.d.comb += [self.accepted.eq(requested), waits.eq(~lines.look.due),
                         ring.empty.eq(lines.line.lacks & ran & (requested == ring.done))]
            m.d.sync += ran.eq((ran & ~ring.empty) | (requested != ring.done))
        with m.If(lines.look.word.valid & lines.line.there):
            m.d.sync += store.index.eq(store.index + 1)
        with m.If(lines.line.found):
            m.d.sync += [store.index.eq(store.index + 1 + WORDS - LINE_WORDS),
                         requested.eq(requested + 1), arrived.eq(arrived + 1)]

    def _fetched(self, m: Module, arrived: Signal) -> "_Store":
        """Where fetched descriptors wait: BATCH of them, by the low bits of their number."""
        store = _Store()
        depth = BATCH * WORDS
        m.submodules.front = front = memory.Memory(shape=64, depth=depth, init=[])
        m.submodules.address = address = memory.Memory(shape=32, depth=BATCH, init=[])
        m.submodules.control = control = memory.Memory(shape=Control, depth=BATCH, init=[])
        m.submodules.asked = asked = memory.Memory(shape=32, depth=BATCH, init=[])
        slot = store.index[3:]
        ports = [items.write_port() for items in (front, address, control, asked)]
        for port, place, value in zip(
                ports, (store.index, slot, slot, slot),
                (self.bus.read.payload, self.bus.read.payload[:32], self.bus.read.payload,
                 store.asked_at), strict=True):
            m.d.comb += [port.addr.eq(place), port.data.eq(value)]
        if self._lines is not None:
            lines = self._lines
            with m.If(lines.look.word.valid):
                m.d.comb += [
                    ports[0].en.eq(lines.line.there),
                    ports[3].en.eq(lines.line.there & (lines.line.number == 0)),
                    *(port.en.eq(lines.line.found) for port in ports[1:3]),
                    ports[2].data.eq(lines.line.control),
                ]
                with m.If(lines.line.number == 0):
                    m.d.comb += ports[0].data.eq(lines.line.header)
        with m.If(store.write):
            m.d.comb += ports[0].en.eq(1)
            m.d.sync += store.index.eq(store.index + 1)
            with m.Switch(store.index[:3]):
                with m.Case(0):
                    m.d.comb += ports[3].en.eq(1)
                with m.Case(ADDRESS_WORD):
                    m.d.comb += ports[1].en.eq(1)
                with m.Case(CONTROL_WORD):
                    m.d.comb += ports[2].en.eq(1)
                    m.d.sync += arrived.eq(arrived + 1)
        number = self.registers.done[:2]
        m.d.comb += store.there.eq(arrived != self.registers.done)
        for items, value, place in (
                (front, store.word, Cat(store.front, number)),
                (address, store.address, number),
                (control, store.control, number), (asked, store.asked, number)):
            port = items.read_port(domain="comb")
            m.d.comb += port.addr.eq(place)
            with m.If(store.there):
                m.d.comb += value.eq(port.data)
        return store

    def _bus(self, m: Module, *, align: Aligner, lane: Queue, store: "_Store", requested: Signal,
             payload_address: Signal, payload_left: Signal, front_left: Signal,
             report_pending: Signal) -> Value:
        """One burst at a time: the report first, then payload, then descriptors."""
        request = self.bus.request.payload
        # What the burst is, and what to begin in this cycle.
        burst = Signal(_Burst)
        begin = Signal(_Burst)
        address = Signal(32)
        beats = Signal(10)
        next_address = Signal(32)
        next_beats = Signal(10)
        reported = Signal(16)
        # The rest of a batch that one burst was too short for.
        fetch_left = Signal(6)
        fetch_address = Signal(29)
        payload_beats = Signal(10)
        fits = Signal()
        fetches = Signal()
        looks = Signal()
        free = Signal()
        m.d.comb += free.eq((requested - self.registers.done)[:3] != BATCH)
        lines = self._lines

        with m.FSM(name="bus_state") as state:
            with m.State("IDLE"):
                with m.If(payload_left != 0):
                    m.d.comb += [
                        payload_beats.eq(beats_of(payload_left, self.max_beats)),
                        # One word more: the aligner may hold one of an earlier burst.
                        fits.eq(payload_beats + front_left + 1 + lane.level <= self._words),
                    ]
                with m.If(requested != self.registers.posted):
                    m.d.comb += fetches.eq(self.registers.enable & free)
                if lines is not None:
                    with m.If(self.pull.enable):
                        m.d.comb += [fetches.eq(0), looks.eq(lines.look.due & free)]
                with m.If(report_pending):
                    m.d.comb += begin.eq(_Burst.REPORT)
                with m.Elif(fits):
                    m.d.comb += begin.eq(_Burst.PAYLOAD)
                with m.Elif(fetch_left != 0):
                    m.d.comb += begin.eq(_Burst.REST)
                with m.Elif(looks):
                    m.d.comb += begin.eq(_Burst.LOOK)
                with m.Elif(fetches):
                    m.d.comb += begin.eq(_Burst.FETCH)
                with m.If(begin != _Burst.NONE):
                    m.next = "REQUEST"
            with m.State("REQUEST"):
                m.d.comb += self.bus.request.valid.eq(1)
                with m.If(self.bus.request.ready):
                    m.next = "READ"
                    with m.If(burst == _Burst.REPORT):
                        m.next = "WRITE"
            with m.State("READ"):
                with m.If(burst == _Burst.PAYLOAD):
                    m.d.comb += [align.i.valid.eq(self.bus.read.valid),
                                 self.bus.read.ready.eq(align.i.ready)]
                with m.Else():
                    m.d.comb += [self.bus.read.ready.eq(1),
                                 store.write.eq(self.bus.read.valid & (burst != _Burst.LOOK))]
                    if lines is not None:
                        m.d.comb += lines.look.word.valid.eq(
                            self.bus.read.valid & (burst == _Burst.LOOK))
                with m.If(self.bus.done):
                    m.next = "IDLE"
            with m.State("WRITE"):
                m.d.comb += [
                    self.bus.write.valid.eq(1),
                    self.bus.write.payload.data.eq(reported),
                    self.bus.write.payload.strobe.eq(0xFF),
                ]
                with m.If(self.bus.write.ready):
                    m.next = "WRITTEN"
                with m.If(self.bus.done):
                    m.next = "IDLE"
            with m.State("WRITTEN"):
                with m.If(self.bus.done):
                    m.next = "IDLE"
        # Registers as they are: cheaper to simulate than zeroes while there is no request.
        m.d.comb += [
            align.i.payload.eq(self.bus.read.payload),
            request.write.eq(burst == _Burst.REPORT),
            request.address.eq(address),
            request.beats.eq(beats),
            request.trace.eq(Mux(burst == _Burst.PAYLOAD, store.trace, 0)),
        ]

        with m.If(begin != _Burst.NONE):
            m.d.sync += [burst.eq(begin), address.eq(next_address), beats.eq(next_beats)]
            with m.Switch(begin):
                with m.Case(_Burst.REPORT):
                    m.d.comb += [next_address.eq(self.registers.report), next_beats.eq(1)]
                    m.d.sync += [report_pending.eq(0), reported.eq(self.registers.done)]
                with m.Case(_Burst.PAYLOAD):
                    m.d.comb += [next_address.eq(payload_address << 3),
                                 next_beats.eq(payload_beats)]
                    m.d.sync += [payload_address.eq(payload_address + payload_beats),
                                 payload_left.eq(payload_left - payload_beats)]
                with m.Case(_Burst.REST):
                    m.d.comb += [
                        next_address.eq(fetch_address << 3),
                        next_beats.eq(beats_of(fetch_left, self.max_beats)),
                    ]
                    m.d.sync += [fetch_address.eq(fetch_address + next_beats),
                                 fetch_left.eq(fetch_left - next_beats)]
                with m.Case(_Burst.FETCH):
                    self._fetch(m, requested, next_address, next_beats, fetch_address, fetch_left)
                    m.d.sync += store.asked_at.eq(self.now + 1)
                if lines is not None:
                    with m.Case(_Burst.LOOK):
                        m.d.comb += [lines.look.begin.eq(1), next_address.eq(lines.look.address),
                                     next_beats.eq(LINE_WORDS)]
                        m.d.sync += store.asked_at.eq(self.now + 1)
        return state.ongoing("IDLE")

    def _fetch(self, m: Module, requested: Signal, address: Signal, beats: Signal,
               fetch_address: Signal, fetch_left: Signal) -> None:
        """The first burst for as many descriptors as are posted and BATCH has room for."""
        slots = (self._ring - 1).bit_length()
        waiting = Signal(16)
        free = Signal(3)
        # Not beyond a group of BATCH, so neither beyond the ring's end.
        reach = Signal(3)
        limit = Signal(3)
        batch = Signal(3)
        place = Signal(29)
        m.d.comb += [
            waiting.eq(self.registers.posted - requested),
            free.eq(BATCH - (requested - self.registers.done)[:3]),
            reach.eq(BATCH - requested[:2]),
            limit.eq(Mux(free < reach, free, reach)),
            batch.eq(Mux(waiting < limit, waiting, limit)),
            place.eq(self.registers.base[3:] + Cat(Const(0, 3), requested[:slots])),
            address.eq(place << 3),
            beats.eq(beats_of(batch << 3, self.max_beats)),
        ]
        m.d.sync += [
            fetch_address.eq(place + beats),
            fetch_left.eq((batch << 3) - beats),
            requested.eq(requested + batch),
        ]

    def _packets(self, m: Module, *, align: Aligner, lane: Queue, traces: Queue, store: "_Store",
                 payload_address: Signal, payload_left: Signal, front_left: Signal,
                 report_pending: Signal) -> None:
        """One descriptor at a time: check it, then header, inline bytes and payload to the lane."""
        header = data.View(Header, store.word)
        control = store.control
        ring = self.registers
        good = Signal()
        payload = Signal()
        finish = Signal()
        next_done = Signal(16)
        m.d.comb += [
            align.offset.eq(store.address[:3]),
            align.bytes.eq(control.payload),
            traces.i.payload.eq(store.trace),
            self.event.number.eq(store.trace),
        ]

        with m.FSM(name="packet_state"):
            with m.State("IDLE"):
                with m.If(store.there):
                    m.d.sync += store.trace.eq(control.trace)
                    m.d.comb += [
                        self.event.number.eq(control.trace),
                        good.eq((header.length == control.inline + control.payload)
                                & (header.length <= self._longest)
                                & (control.inline <= INLINE_BYTES)
                                & (control.payload <= self._mtu)
                                & ((control.payload == 0) | (control.inline[:3] == 0))),
                    ]
                    with m.If(good):
                        m.d.comb += [self.event.valid.eq(1), self.event.kind.eq(Kind.BEGIN),
                                     self.event.arg.eq(store.asked),
                                     align.start.eq(control.payload != 0)]
                        m.d.sync += [
                            payload.eq(control.payload != 0),
                            payload_address.eq(store.address[3:]),
                            payload_left.eq(Mux(control.payload == 0, 0,
                                                (control.payload + store.address[:3] + 7) >> 3)),
                            front_left.eq(1 + ((control.inline[:6] + 7) >> 3)),
                        ]
                        m.next = "FRONT"
                    with m.Else():
                        m.next = "REFUSED"
            with m.State("FRONT"):
                m.d.comb += [
                    lane.i.payload.eq(store.word),
                    lane.i.valid.eq(1),
                    traces.i.valid.eq((store.front == 0) & lane.i.ready),
                ]
                with m.If(lane.i.ready):
                    m.d.sync += [front_left.eq(front_left - 1), store.front.eq(store.front + 1)]
                    with m.If(front_left == 1):
                        m.d.sync += store.front.eq(0)
                        m.next = "PAYLOAD"
                        with m.If(~payload):
                            m.d.comb += finish.eq(1)
                            m.next = "IDLE"
            with m.State("PAYLOAD"):
                m.d.comb += [
                    lane.i.payload.eq(align.o.payload),
                    lane.i.valid.eq(align.o.valid),
                    align.o.ready.eq(lane.i.ready),
                ]
                with m.If(align.o.valid & lane.i.ready & align.last):
                    m.d.comb += finish.eq(1)
                    m.next = "IDLE"
            with m.State("REFUSED"):
                with m.If(self.lane.merged == self.registers.done):
                    m.d.comb += [self.lane.skip.eq(1), self.event.valid.eq(1),
                                 self.event.kind.eq(Kind.DROP), self.event.arg.eq(Drop.REFUSED)]
                    m.d.comb += finish.eq(1)
                    m.next = "IDLE"

        with m.If(finish):
            m.d.comb += [next_done.eq(ring.done + 1), ring.empty.eq(next_done == ring.posted)]
            m.d.sync += ring.done.eq(next_done)
            with m.If(ring.report != 0):
                m.d.sync += report_pending.eq(1)
            with m.If(~self.lane.skip):
                m.d.comb += [self.event.valid.eq(1), self.event.kind.eq(Kind.END)]


class _Burst(enum.Enum, shape=3):
    """The purpose of a burst: the rest of a fetch is what one burst was too short for."""

    NONE = 0
    REPORT = 1
    PAYLOAD = 2
    REST = 3
    FETCH = 4
    LOOK = 5


class _Store:
    """Signals of the descriptor store: one writer (the bus), one reader (``done``'s descriptor,
    all zero unless it is ``there``)."""

    def __init__(self) -> None:
        self.there = Signal()
        self.write = Signal()
        self.index = Signal(range(BATCH * WORDS))
        self.asked_at = Signal(32)
        self.front = Signal(3)
        self.word = Signal(64)
        self.address = Signal(32)
        self.control = Signal(Control)
        self.asked = Signal(32)
        self.trace = Signal(TRACE_BITS)
