"""Send FIFO, DMA lane: fetches descriptors and payloads from host memory and makes packets."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ....layouts.packet import TRACE_BITS
from ...bus.burst import Burst
from ...bus.watch import LineTaken
from ...parts.event import EventPort
from ...parts.queue import Queue
from ...parts.sizes import check_power_of_two
from ..fifos.lanes import DmaLane
from ..fifos.packet_fifo import PacketFifo
from .burst_arbiter import BurstArbiter
from .descriptor_store import BATCH, DescriptorStore
from .done_reporter import DoneReporter
from .packet_maker import PacketMaker
from .payload_fetch import PayloadFetch
from .ring_fetch import PulledRing, RingFetch

__all__ = ["SendDma", "SendRingRegisters", "send_dma_members"]


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
        self._fetch = RingFetch(ring=ring, coherent=coherent)
        super().__init__(fifo_bytes=fifo_bytes, mtu=mtu, members=send_dma_members(coherent))

    @property
    def ring(self) -> int:
        """Descriptors in the ring."""
        return self._fetch.ring

    @property
    def coherent(self) -> bool:
        """Tells whether the NIC is on the memory bus."""
        return self._fetch.coherent

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.lane = lane = Queue(shape=64, depth=self._words)
        m.submodules.traces = traces = Queue(shape=TRACE_BITS, depth=self._words)
        m.submodules.fetch = fetch = self._fetch
        m.submodules.store = store = DescriptorStore()
        m.submodules.payload = payload = PayloadFetch(words=self._words, mtu=self._mtu)
        m.submodules.maker = maker = PacketMaker(mtu=self._mtu, longest=self._longest)
        m.submodules.reporter = reporter = DoneReporter()
        m.submodules.arbiter = arbiter = BurstArbiter()
        ring = self.registers
        for one, other in (
                (fetch.store, store.write), (store.read, maker.descriptor),
                (maker.payload, payload.order), (maker.words, lane.i), (maker.traces, traces.i),
                (lane.o, flipped(self.lane.words)), (traces.o, flipped(self.lane.traces)),
                (reporter.bus, arbiter.report), (payload.bus, arbiter.payload),
                (fetch.bus, arbiter.descriptors), (arbiter.bus, flipped(self.bus)),
                (maker.event, flipped(self.event))):
            connect(m, one, other)
        m.d.comb += [
            fetch.registers.enable.eq(ring.enable),
            fetch.registers.base.eq(ring.base),
            fetch.registers.posted.eq(ring.posted),
            fetch.registers.done.eq(maker.done),
            fetch.max_beats.eq(self.max_beats),
            fetch.now.eq(self.now),
            store.there.eq(fetch.there),
            store.number.eq(maker.done[:2]),
            payload.max_beats.eq(self.max_beats),
            payload.level.eq(lane.level),
            maker.merged.eq(self.lane.merged),
            self.lane.skip.eq(maker.skip),
            arbiter.trace.eq(maker.trace),
            reporter.place.eq(ring.report),
            reporter.done.eq(maker.done),
            reporter.finished.eq(maker.finished),
            ring.done.eq(maker.done),
            self.accepted.eq(fetch.accepted),
            self.idle.eq(arbiter.idle & ~reporter.bus.wanted & fetch.idle),
        ]
        with m.If(maker.finished):
            m.d.comb += ring.empty.eq((maker.done + 1)[:16] == ring.posted)
        if fetch.coherent:
            connect(m, flipped(self.pull), fetch.pull)
            for taken, watched in zip(self.watched, fetch.watched, strict=True):
                connect(m, flipped(taken), watched)
            with m.If(self.pull.enable):
                m.d.comb += ring.empty.eq(fetch.dry)
        return m
