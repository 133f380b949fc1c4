"""Kernel-trap design point: what the kernel agent keeps of a VI, and how things complete."""

from collections import Counter, deque
from typing import TYPE_CHECKING

from ...layouts.via import (
    CONTROL_BYTES,
    CQ_ENTRY,
    Event,
    PacketKind,
    Reliability,
    RemoteOperation,
    Status,
    ViState,
)
from ..sent_again import SentAgain
from .handles import Cq, Posted, Ring, Vi
from .round_trip import RoundTrip
from .trap_memory import Descriptor, Refused, TrapMemory, Walk
from .trap_paths import TrapPrices
from .trap_ring import Packet, SendRing

if TYPE_CHECKING:
    from .kernel import Kernel

__all__ = ["FAR", "GOOD", "End", "CqState", "Job", "Message", "TrapState"]

FAR = 1 << 62
"""A deadline that never comes."""
GOOD = Status(0)
BACK_OFF = 4
"""Time-outs double up to 1 << this many times ``via.retry_timeout``: a peer that computes for a
while is not buried under probes, nor given up."""
STATUS_AT = 20
"""Where ImmediateData, Length and Status are in a descriptor."""


class Message:
    """A descriptor of the send queue, from when it is taken to its completion.

    Attributes
    ----------
    last
        Sequence number of its last packet, once that is made.
    error
        What is wrong with it: it completes so once all before it have completed.
    """

    __slots__ = ("posted", "descriptor", "walk", "last", "error")

    def __init__(self, posted: Posted, descriptor: Descriptor, walk: Walk) -> None:
        self.posted = posted
        self.descriptor = descriptor
        self.walk = walk
        self.last: int | None = None
        self.error: Status | None = None


class Job:
    """The peer's RDMA read: what is still to be sent of it."""

    __slots__ = ("va", "handle", "left", "sequence", "trace", "first")

    def __init__(self, va: int, handle: int, left: int, sequence: int, trace: int) -> None:
        self.va = va
        self.handle = handle
        self.left = left
        self.sequence = sequence
        self.trace = trace
        self.first = True


class Queue:
    """A work queue in the kernel: ``waiting``, posted and not taken; ``completed``, how many were
    since the VI was created; ``armed``."""

    __slots__ = ("waiting", "completed", "armed")

    def __init__(self) -> None:
        self.waiting: deque[Posted] = deque()
        self.completed = 0
        self.armed = False


class End:
    """One end of a connection: a VI as the kernel has it.

    Attributes
    ----------
    sequence, unasked, slots, message, unfinished, reading, job
        Sending: number of the next packet, packets since an acknowledgement was asked for, packets
        not acknowledged, the message being cut into packets, messages cut whole and not completed
        (Reliable Reception, or in error), the RDMA read under way, and the peer's.
    silent, trip, timed, timed_at, deadline
        Time-outs in a row without a word from the peer, how long the next is, the packet whose
        round trip is being measured, since when, and the cycle of the next time-out.
    asked, heeded
        Number of the last probe, and of the last before packets went again: answers to that one and
        those before it say nothing of these.
    owes, question
        The ACK or NAK that had no room, and the word of the probe that it is to answer.
    expected, told, kind, walk, taken, written
        Receiving: number of the next packet; whether a NAK was sent for the gap there is; the
        message begun (SEND, RDMA_WRITE, or None: what is left of it is dropped); where it goes, of
        which descriptor; bytes of an RDMA write so far.
    """

    __slots__ = ("vi", "state", "send", "receive", "route", "max_transfer", "sequence", "unasked",
                 "slots", "message", "unfinished", "reading", "job", "silent", "trip", "timed",
                 "timed_at", "deadline", "asked", "heeded", "owes", "question", "expected", "told",
                 "kind", "walk", "taken", "written", "starved", "timeout")

    def __init__(self, vi: Vi, timeout: int) -> None:
        self.vi = vi
        self.timeout = timeout
        self.state = ViState.IDLE
        self.send = Queue()
        self.receive = Queue()
        self.route = 0
        self.max_transfer = 0
        self.starved = False
        self.reset()

    def reset(self) -> None:
        """As a new connection begins."""
        self.sequence = 0
        self.unasked = 0
        self.slots: deque[Packet] = deque()
        self.message: Message | None = None
        self.unfinished: deque[Message] = deque()
        self.reading: Message | None = None
        self.job: Job | None = None
        self.silent = 0
        self.trip = RoundTrip(self.timeout, self.timeout << BACK_OFF)
        self.timed: int | None = None
        self.timed_at = 0
        self.deadline = FAR
        self.asked = self.heeded = 0
        self.owes: PacketKind | None = None
        self.question: int | None = None
        self.expected = 0
        self.told = False
        self.kind: PacketKind | None = None
        self.walk: Walk | None = None
        self.taken: Posted | None = None
        self.written = 0

    @property
    def reliable(self) -> bool:
        return self.vi.attributes.reliability is not Reliability.UNRELIABLE_DELIVERY

    @property
    def reception(self) -> bool:
        return self.vi.attributes.reliability is Reliability.RELIABLE_RECEPTION

    @property
    def tag(self) -> int:
        return self.vi.attributes.ptag.number


class CqState:
    """A completion queue's ring in the kernel."""

    __slots__ = ("ring", "tail", "armed")

    def __init__(self, ring: Ring, armed: bool) -> None:
        self.ring = ring
        self.tail = 0
        self.armed = armed


class TrapState:
    """What all of the design point shares; completing descriptors and breaking connections.

    Attributes
    ----------
    ends
        By VI number.
    happened
        Events not yet told: (event, number).
    counters
        unmatched, duplicates, gaps, dropped, malformed, sent, resent, timeouts, probes.
    again
        The packets ``resent``, by peer and cause.
    """

    def __init__(self, kernel: "Kernel") -> None:
        self.kernel = kernel
        self.node = kernel.node
        self.port = kernel.port
        self.prices = kernel.node.service(TrapPrices)
        self.space = TrapMemory(kernel)
        self.ring = SendRing(kernel)
        description = kernel.description
        self.mtu = description.nic.mtu
        self.window = description.via.window
        self.depth = description.via.queue_depth
        self.timeout = description.via.retry_timeout
        self.retries = description.via.retries
        self.ends: dict[int, End] = {}
        self.happened: list[tuple[Event, int]] = []
        self.counters: Counter[str] = Counter()
        self.again = SentAgain(self.port, "VIA in the kernel")

    # Completing

    async def complete(self, end: End, receive: bool, posted: Posted, *, length: int = 0,
                       status: Status = GOOD, operation: RemoteOperation,
                       immediate: int | None = None) -> None:
        """A descriptor is over: its status, its queue's entry, an event if asked for."""
        self.port.spend(self.prices.complete)
        word = Status.DONE | status | operation << 16
        if immediate is not None:
            word |= Status.IMMEDIATE
        broken = None
        try:
            at, room = self.space.piece(posted.va, posted.handle, end.tag)
            if room < CONTROL_BYTES:
                raise Refused
            await self.port.touch(at + STATUS_AT, 12, store=True)
            data = length.to_bytes(4, "little") + int(word).to_bytes(4, "little")
            if immediate is not None:
                data = immediate.to_bytes(4, "little") + data
            self.space.memory.write(at + CONTROL_BYTES - len(data), data)
        except Refused:
            broken = Event.COMP_PROT
        await self._completed(end, receive, broken)

    async def lose(self, end: End, receive: bool, event: Event) -> None:
        """A descriptor that cannot be read or taken: it counts as completed, and breaks the VI."""
        await self._completed(end, receive, event)

    async def _completed(self, end: End, receive: bool, broken: Event | None) -> None:
        queue = end.receive if receive else end.send
        queue.completed += 1
        if broken is not None:
            end.vi.lost = True
        cq = (end.vi.receive if receive else end.vi.send).cq
        if cq is not None and cq.private is not None:
            broken = await self._append(cq, end, receive) or broken
        if queue.armed:
            queue.armed = False
            self.happened.append((Event.RECEIVE_DONE if receive else Event.SEND_DONE,
                                  end.vi.number))
        if broken is not None:
            await self.break_(end, broken)

    async def _append(self, cq: Cq, end: End, receive: bool) -> Event | None:
        """An entry of ``cq``; what the VI is broken with if there can be none."""
        state: CqState = cq.private
        ring = state.ring
        self.port.spend(self.prices.entry)
        if state.tail - ring.told >= ring.size:
            return Event.VI_OVERRUN
        index = state.tail % ring.size
        region = ring.region
        try:
            at, _ = self.space.piece(region.va + 8 * index, region.handle, region.ptag.number)
        except Refused:
            return Event.COMP_PROT
        entry = CQ_ENTRY.pack(phase=1 - (state.tail // ring.size & 1), receive=receive,
                              vi=end.vi.number)
        await self.port.touch(at, 8, store=True)
        self.space.memory.write(at, entry.to_bytes(8, "little"))
        state.tail += 1
        if state.armed:
            state.armed = False
            self.happened.append((Event.CQ_READY, cq.number))
        return None

    # Breaking

    async def break_(self, end: End, event: Event, tell: bool = True) -> None:
        """Reported once, and only of a VI that is idle or connected; a connection is over. ``tell``
        the peer, if it is reliable."""
        if end.state in (ViState.IDLE, ViState.CONNECTED):
            self.happened.append((event, end.vi.number))
        if end.state is ViState.CONNECTED:
            await self.error(end, tell)

    async def error(self, end: End, tell: bool) -> None:
        """To the state ERROR: what was begun, then all that is posted, completes flushed."""
        raise NotImplementedError

    async def fetch(self, end: End, posted: Posted) -> Descriptor | None:
        """The descriptor, copied in; None if it cannot be read."""
        try:
            return await self.space.descriptor(posted.va, posted.handle, end.tag)
        except Refused:
            return None

    async def flush(self, end: End, receive: bool) -> None:
        """Complete all that waits in a queue flushed, oldest first."""
        waiting = (end.receive if receive else end.send).waiting
        while waiting:
            posted = waiting.popleft()
            descriptor = await self.fetch(end, posted)
            if descriptor is None:
                await self.lose(end, receive, Event.POST_DESC)
            else:
                await self.complete(
                    end, receive, posted, status=Status.FLUSHED,
                    operation=RemoteOperation.RECEIVE if receive else descriptor.sent_as)
