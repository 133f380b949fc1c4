"""Kernel-trap design point: outgoing packets, kept until acknowledged, and owed answers."""

from collections import deque
from collections.abc import Awaitable
from functools import cache

from ....layouts.packet import HEADER, Protocol
from ....layouts.rings import INLINE_BYTES
from ....layouts.via import DETAIL, VIA_HEADER, PacketKind, ViState
from ...kernel.timers import FAR
from .ends import End, Message
from .packet import Packet
from .trap_context import TrapContext

__all__ = ["Packets"]

LENGTH, DETAIL_AT = HEADER.offset("length"), HEADER.offset("detail")
SEQUENCE, IMMEDIATE = VIA_HEADER.offset("sequence"), VIA_HEADER.offset("immediate")


@cache
def _detail(kind: int, first: bool, last: bool, immediate: bool, acknowledge: bool) -> int:
    return DETAIL.pack(kind=kind, first=first, last=last, immediate=immediate,
                       acknowledge=acknowledge)


class Packets:
    """Numbers packets and puts them into the send ring. If few buffers are left, every packet
    requests an acknowledgement, so that packets without a requested acknowledgement never hold all
    buffers.

    Attributes
    ----------
    starved
        Ends that wait for a buffer, or for room in the ring; the first is next.
    """

    def __init__(self, context: TrapContext) -> None:
        self.starved: deque[End] = deque()
        self._node = node = context.node
        self._port = context.port
        self._prices = context.prices
        self._ring = context.ring
        self._timers = context.timers
        self._counters = context.counters
        self._window = node.description.via.window
        self._headers: dict[tuple[int, int], int] = {}
        """By route and node: the wire header, but for length and detail."""
        self._via_headers: dict[tuple[int, int], int] = {}
        """By the VIs of both ends: the header behind it, but for sequence and immediate data."""

    def _header(self, end: End, detail: int, length: int) -> int:
        peer = end.vi.peer
        assert peer is not None
        place = end.route, peer.node
        fixed = self._headers.get(place)
        if fixed is None:
            fixed = self._headers[place] = HEADER.pack(
                route=end.route, source=self._node.number, destination=peer.node,
                protocol=Protocol.VIA)
        return fixed | length << LENGTH | detail << DETAIL_AT

    def _via_header(self, end: End, sequence: int, word: int) -> bytes:
        peer = end.vi.peer
        assert peer is not None
        place = peer.vi, end.vi.number
        fixed = self._via_headers.get(place)
        if fixed is None:
            fixed = self._via_headers[place] = VIA_HEADER.pack(destination=peer.vi,
                                                               source=end.vi.number)
        return (fixed | sequence << SEQUENCE | word << IMMEDIATE).to_bytes(8, "little")

    def buffer(self, count: int, address: bytes) -> int:
        """A buffer for ``count`` bytes of data; 0 if the descriptor holds them."""
        return 0 if 8 + len(address) + count <= INLINE_BYTES else self._ring.take()

    async def launch(self, end: End, kind: PacketKind, address: bytes, data: bytes | memoryview,
                     buffer: int, *, first: bool, last: bool, immediate: bool = False,
                     word: int = 0, trace: int = 0, message: Message | None = None) -> Packet:
        """Number a packet, send it, and keep it until it is acknowledged."""
        self._port.spend(self._prices.packet)
        end.unasked += 1
        ask = end.reliable and (last or 2 * end.unasked >= self._window or self._ring.short)
        if ask:
            end.unasked = 0
        sequence = end.sequence
        end.sequence = sequence + 1 & 255
        inline = self._via_header(end, sequence, word) + address
        length = len(inline) + len(data)
        if not buffer:
            inline += data
        packet = Packet(
            self._header(end, _detail(kind, first, last, immediate, ask), length),
            inline, buffer, len(data) if buffer else 0, trace, sequence, message)
        self._counters["sent"] += 1
        await self.put(packet)
        if not end.reliable:
            self.drop(packet)
            return packet
        end.slots.append(packet)
        if end.timed is None:
            end.timed, end.timed_at = sequence, self._port.cycle
        if end.deadline == FAR:
            self._timers.watch(end)
        return packet

    def put(self, packet: Packet) -> Awaitable[None]:
        """Put ``packet`` into the ring, for the first time or again. There must be room."""
        return self._ring.post(packet.header, packet.inline, packet.buffer, packet.length,
                               packet.trace)

    def drop(self, packet: Packet) -> None:
        """``packet`` will not be sent again: free its buffer."""
        if packet.buffer:
            self._ring.free(packet.buffer)
            packet.buffer = 0

    async def tell(self, end: End, kind: PacketKind, sequence: int, word: int = 0,
                   answers: bool = False) -> None:
        """Send an ACK, NAK, BREAK or PROBE. Without room it is lost, as it may be on the wire."""
        if not await self._ring.room():
            return
        self._port.spend(self._prices.control)
        inline = self._via_header(end, sequence, word)
        detail = _detail(kind, True, True, False, answers)
        await self._ring.post(self._header(end, detail, 8), inline, 0, 0,
                              self._node.trace_number())

    async def answer(self, end: End, kind: PacketKind = PacketKind.ACK,
                     question: int | None = None) -> None:
        """Report to the peer what has arrived: by an ACK, which may be the answer to its probe, or
        a NAK. Without room it is owed."""
        if await self._ring.room():
            await self.tell(end, kind, end.expected, question or 0, question is not None)
            return
        if end.owes is not PacketKind.NAK:
            end.owes = kind
        if question is not None:
            end.question = question
        self.starve(end)

    async def pay(self, end: End) -> None:
        """Send the answer that is owed to the peer; there is room."""
        missed = end.owes is PacketKind.NAK and end.told and end.question is None
        question, end.owes, end.question = end.question, None, None
        if end.state is ViState.CONNECTED:
            await self.answer(end, PacketKind.NAK if missed else PacketKind.ACK, question)

    def starve(self, end: End) -> None:
        """Append ``end`` to the ends that wait for room."""
        if not end.starved:
            end.starved = True
            self.starved.append(end)
