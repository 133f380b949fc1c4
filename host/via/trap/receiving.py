"""Kernel-trap design point: receives packets; checks, copies, acknowledges and completes them."""

from functools import cache
from struct import Struct

from ....layouts.bits import Word
from ....layouts.packet import HEADER, HEADER_BYTES
from ....layouts.via import (
    ADDRESS,
    DETAIL,
    VIA_HEADER,
    BreakCode,
    Event,
    PacketKind,
    RemoteOperation,
    Status,
    ViState,
    format_error,
)
from .completing import Completing
from .ends import GOOD, End, Job
from .memory import Access, Walk, Wrong
from .messages import Messages
from .packets import Packets
from .retransmission import Retransmission
from .trap_context import TrapContext
from .turns import Turns

__all__ = ["Receiving"]

KINDS = set(map(int, PacketKind))
ACK, NAK = int(PacketKind.ACK), int(PacketKind.NAK)
PROBE, BREAK = int(PacketKind.PROBE), int(PacketKind.BREAK)
SLOT_HEADERS = 8 + HEADER_BYTES
"""Completion word and wire header of a receive slot."""
ADDRESSED = (int(PacketKind.RDMA_WRITE), int(PacketKind.READ_REQUEST))

_WORDS = Struct("<QQ")


@cache
def _detail(detail: int) -> tuple[int, bool, bool, bool, bool]:
    found = DETAIL.unpack(detail)
    return (found["kind"], bool(found["first"]), bool(found["last"]), bool(found["acknowledge"]),
            bool(found["immediate"]))


def _fields(word: Word, *names: str) -> list[tuple[int, int]]:
    """Where fields are in ``word``: the lowest bit, and a mask behind it."""
    return [(word.offset(name), word.mask(name) >> word.offset(name)) for name in names]


(LENGTH_AT, LENGTH), (SOURCE_AT, SOURCE), (DETAIL_AT, DETAILS) = _fields(
    HEADER, "length", "source", "detail")
(VI_AT, VI), (VI_FROM_AT, _), (SEQUENCE_AT, SEQUENCE), (IMMEDIATE_AT, IMMEDIATE) = _fields(
    VIA_HEADER, "destination", "source", "sequence", "immediate")
(VA_AT, VA), (HANDLE_AT, HANDLE) = _fields(ADDRESS, "va", "handle")


class Fatal(Exception):
    """An error that breaks a reliable connection, and drops an unreliable message.

    ``code``: the code of the BREAK to the peer. ``event``: the event for the consumer at every
    level of reliability, in addition to CONN_LOST. ``lost``: a receive descriptor could not be
    read, which breaks a VI of any level.
    """

    def __init__(self, code: BreakCode, event: Event | None = None, lost: bool = False) -> None:
        super().__init__()
        self.code = code
        self.event = event
        self.lost = lost


class Arrived:
    """A packet in its receive slot. ``data`` is the physical address of its ``length`` bytes."""

    __slots__ = ("node", "kind", "first", "last", "ask", "has_immediate", "destination", "source",
                 "sequence", "immediate", "va", "handle", "data", "length", "trace")

    def __init__(self, header: int, words: bytes, slot: int, trace: int) -> None:
        via, address = _WORDS.unpack(words)
        self.node = header >> SOURCE_AT & SOURCE
        self.kind, self.first, self.last, self.ask, self.has_immediate = _detail(
            header >> DETAIL_AT & DETAILS)
        self.destination, self.source = via >> VI_AT & VI, via >> VI_FROM_AT & VI
        self.sequence = via >> SEQUENCE_AT & SEQUENCE
        self.immediate = via >> IMMEDIATE_AT & IMMEDIATE
        ahead = 16 if self.kind in ADDRESSED else 8
        self.va, self.handle = address >> VA_AT & VA, address >> HANDLE_AT & HANDLE
        self.data = slot + SLOT_HEADERS + ahead
        self.length = (header >> LENGTH_AT & LENGTH) - ahead
        self.trace = trace


class Receiving:
    """Handles packets of connections: copies messages to the consumer's memory, and
    passes other packets on."""

    def __init__(self, context: TrapContext, packets: Packets, completing: Completing,
                 messages: Messages, turns: Turns, retransmission: Retransmission) -> None:
        self._port = context.port
        self._prices = context.prices
        self._ends = context.ends
        self._space = context.space
        self._timers = context.timers
        self._counters = context.counters
        self._packets = packets
        self._completing = completing
        self._messages = messages
        self._turns = turns
        self._retransmission = retransmission

    async def arrive(self, header: int, slot: int, trace: int) -> None:
        """A packet of Protocol.VIA is in the receive slot."""
        port = self._port
        port.spend(self._prices.handle)
        await port.touch(slot + 8, 24)
        packet = Arrived(header, self._space.memory.read(slot + 16, 16), slot, trace)
        if packet.kind not in KINDS or packet.length < 0:
            self._counters["malformed"] += 1
            return
        end = self._ends.get(packet.destination)
        peer = end.vi.peer if end is not None else None
        if (end is None or peer is None or end.state is not ViState.CONNECTED
                or peer.node != packet.node or peer.vi != packet.source):
            self._counters["unmatched"] += 1
            return
        if packet.kind in (ACK, NAK):
            await self._retransmission.acknowledged(end, packet.sequence, packet.kind == NAK,
                                                    packet.immediate if packet.ask else None)
        elif packet.kind == PROBE:
            if end.reliable:
                await self._packets.answer(end, question=packet.immediate)
        elif packet.kind == BREAK:
            if end.reliable:
                await self._messages.broken(end, packet.sequence, packet.immediate)
        elif await self._in_sequence(end, packet):
            await self._take(end, packet)
        await self._turns.turn(end)

    async def _in_sequence(self, end: End, packet: Arrived) -> bool:
        """Whether the packet is the next one. On unreliable VIs every packet is, except for a
        repetition of the last one; a gap abandons the message under way."""
        ahead = packet.sequence - end.expected & 255
        if not end.reliable:
            if ahead == 255:
                self._counters["duplicates"] += 1
                return False
            if ahead:
                self._counters["gaps"] += 1
                end.kind = None
            end.expected = packet.sequence + 1 & 255
            return True
        if ahead == 0:
            end.told = False
            return True
        if ahead >= 128:
            self._counters["duplicates"] += 1
            await self._packets.answer(end)
        else:
            self._counters["gaps"] += 1
            if not end.told:
                end.told = True
                await self._packets.answer(end, PacketKind.NAK)
        return False

    async def _take(self, end: End, packet: Arrived) -> None:
        kind = packet.kind
        try:
            if kind == PacketKind.SEND:
                await self._send(end, packet)
            elif kind == PacketKind.RDMA_WRITE:
                await self._rdma_write(end, packet)
            elif kind == PacketKind.READ_REQUEST and end.reliable:
                if not self._read_request(end, packet):
                    return
            elif kind == PacketKind.READ_RESPONSE and end.reading is not None:
                await self._read_response(end, packet)
        except Fatal as fatal:
            end.kind = None
            if fatal.event is not None:
                self._completing.happened.append((fatal.event, end.vi.number))
            if end.reliable and end.state is ViState.CONNECTED:
                await self._packets.tell(end, PacketKind.BREAK, packet.sequence, fatal.code)
            if fatal.lost:
                await self._completing.lose(end, True, Event.POST_DESC)
            elif end.reliable:
                await self._completing.break_(end, Event.CONN_LOST, False)
        if end.state is ViState.CONNECTED and end.reliable:
            end.expected = packet.sequence + 1 & 255
            if packet.ask:
                await self._packets.answer(end)

    # Messages

    def _lost(self, end: End) -> BreakCode:
        """The break code if no receive descriptor could be used."""
        return BreakCode.REMOTE_DESCRIPTOR if end.reception else BreakCode.LOST

    async def _descriptor(self, end: End, operation: RemoteOperation) -> Walk:
        """The receive descriptor for a message: the one held from an abandoned message, or the next
        one. Raises Fatal."""
        if end.walk is not None:
            walk = end.walk = Walk(self._space, end.walk.descriptor, end.tag)
            return walk
        waiting = end.receive.waiting
        if not waiting:
            self._counters["dropped"] += 1
            raise Fatal(self._lost(end), None if end.reliable else Event.RECVQ_EMPTY)
        posted = waiting.popleft()
        descriptor = await self._completing.fetch(end, posted)
        if descriptor is None:
            raise Fatal(self._lost(end), lost=True)
        end.taken = posted
        walk = end.walk = Walk(self._space, descriptor, end.tag)
        if format_error(True, descriptor.count, descriptor.control, end.reliable):
            await self._completing.received(end, operation, status=Status.FORMAT)
            raise Fatal(self._lost(end))
        return walk

    async def _send(self, end: End, packet: Arrived) -> None:
        """Copy a part of a send to the segments of a receive descriptor."""
        if packet.first:
            end.kind = None
            await self._descriptor(end, RemoteOperation.RECEIVE)
            end.kind = PacketKind.SEND
        elif end.kind is not PacketKind.SEND:
            return
        walk = end.walk
        assert walk is not None
        try:
            await walk.scatter(packet.data, packet.length)
        except Wrong as wrong:
            await self._completing.received(end, RemoteOperation.RECEIVE, length=walk.bytes,
                                            status=wrong.status)
            raise Fatal(BreakCode.REMOTE_DESCRIPTOR if wrong.status is Status.LENGTH
                        else self._lost(end)) from None
        if packet.last:
            await self._completing.received(
                end, RemoteOperation.RECEIVE, length=walk.bytes,
                immediate=packet.immediate if packet.has_immediate else None)

    async def _rdma_write(self, end: End, packet: Arrived) -> None:
        """Copy a part of an RDMA write to its address; the last part with immediate data completes
        a receive descriptor."""
        if packet.first:
            end.kind, end.written = PacketKind.RDMA_WRITE, 0
        elif end.kind is not PacketKind.RDMA_WRITE:
            return
        done = 0
        allowed = end.vi.attributes.rdma_write
        if allowed:
            done = await self._space.copy_out(packet.data, packet.length, packet.va, packet.handle,
                                               end.tag, Access.RDMA_WRITE)
            end.written += done
        if done < packet.length or not allowed:
            end.kind = None
            event: Event | None = Event.RDMAW_PROT
            if packet.has_immediate and (end.walk is not None or end.receive.waiting):
                await self._descriptor(end, RemoteOperation.REMOTE_RDMA_WRITE)
                await self._completing.received(end, RemoteOperation.REMOTE_RDMA_WRITE,
                                                status=Status.RDMA_PROTECTION)
                event = None
            raise Fatal(BreakCode.RDMA_PROTECTION, event)
        if packet.last:
            end.kind = None
            if packet.has_immediate:
                await self._descriptor(end, RemoteOperation.REMOTE_RDMA_WRITE)
                await self._completing.received(end, RemoteOperation.REMOTE_RDMA_WRITE,
                                                length=end.written, immediate=packet.immediate)

    def _read_request(self, end: End, packet: Arrived) -> bool:
        """Accept the peer's RDMA read as our job; return False if there is one already: the request
        is then not acknowledged, and comes again."""
        if not end.vi.attributes.rdma_read:
            raise Fatal(BreakCode.RDMA_PROTECTION, Event.RDMAR_PROT)
        if end.job is not None:
            return False
        end.job = Job(packet.va, packet.handle, packet.immediate, packet.sequence, packet.trace)
        return True

    async def _read_response(self, end: End, packet: Arrived) -> None:
        """Copy a part of the response to our RDMA read to the segments of its descriptor."""
        message = end.reading
        assert message is not None
        end.silent = 0
        self._timers.watch(end)
        walk = message.walk
        status = GOOD
        try:
            await walk.scatter(packet.data, packet.length)
        except Wrong as wrong:
            status = wrong.status
        if packet.last or status:
            await self._messages.read_done(end, walk.bytes, status)
        if status:
            raise Fatal(BreakCode.LOST)
