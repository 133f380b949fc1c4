"""Packets in: dispatch to handlers, acknowledgements and transfers."""

from collections.abc import Awaitable, Sequence

from ...layouts.am import CHANNEL_OF, AmKind
from ...layouts.operations import NIC_BASE
from ..port.port import Mark
from ..port.suspension import NOTHING
from . import wire
from .acknowledging import Acknowledging
from .bulk_receiving import BulkReceiving
from .bulk_sending import BulkSending
from .costs import Prices
from .credit import Credit
from .handlers import PROGRAM, REPLY, REQUEST, Handlers
from .marks import BULK_HANDLE, CONTROL, END, REPLY_HANDLE, REQUEST_HANDLE
from .receive_ring import ReceiveRing
from .sending import Sending
from .settling import Settling
from .window import Peer

__all__ = ["Receiving"]

SMALL_BYTES = wire.SMALL_BYTES
Packet = tuple[int, ...]
"""The beginning of a slot, in the fields of :data:`.wire.SLOT`."""


class Receiving:
    """Handles the packets in ``ring``: a method for each kind."""

    __slots__ = ("_peers", "_port", "_ring", "_handlers", "_sending", "_bulk_sending", "_bulk",
                 "_acknowledging", "_settling", "_credit", "_flushes", "_kinds",
                 "_c_request_handle", "_c_reply_handle", "_c_null_handle", "_c_control_handle")

    def __init__(self, peers: Sequence[Peer], ring: ReceiveRing, handlers: Handlers,
                 sending: Sending, bulk_sending: BulkSending, acknowledging: Acknowledging,
                 settling: Settling, credit: Credit) -> None:
        self._peers = peers
        self._port = port = sending.port
        self._ring = ring
        self._handlers = handlers
        self._sending = sending
        self._bulk_sending = bulk_sending
        self._bulk = BulkReceiving(sending, bulk_sending, acknowledging, handlers, ring, credit)
        self._acknowledging = acknowledging
        self._settling = settling
        self._credit = credit
        self._flushes = bool(port.costs.flush_bytes)
        prices = sending.node.service(Prices)
        self._c_request_handle = prices.request_handle
        self._c_reply_handle = prices.reply_handle
        self._c_null_handle = prices.null_handle
        self._c_control_handle = prices.control_handle
        kinds = {wire.K_REQUEST: (REQUEST_HANDLE, self._request),
                 wire.K_REPLY: (REPLY_HANDLE, self._reply),
                 wire.K_NULL: (REPLY_HANDLE, self._reply),
                 wire.K_STORE: (BULK_HANDLE, self._store),
                 wire.K_DATA: (BULK_HANDLE, self._store),
                 wire.K_GET: (CONTROL, self._get), wire.K_BYE: (CONTROL, self._bye)}
        self._kinds = tuple(kinds.get(kind, (CONTROL, self._control)) for kind in range(16))
        """By kind: the activity that handling a packet is, if it is taken, and its method."""

    async def handle(self, packet: Packet, begin: Mark) -> None:
        """Handle ``packet``, which is in the ring's next slot, and do what is due then. ``begin``
        is the mark at which this began; its activity is set here."""
        completion, length, source, flags, _, _, acks, _, _, _, _ = packet
        port, sending, acknowledging = self._port, self._sending, self._acknowledging
        self._settling.idle = 0
        peer = self._peers[source]
        peer.heard = port.cycle
        if acks != peer.acked:
            acknowledging.acknowledge(peer, acks)
        begin[1], method = self._kinds[flags & 15]
        begin[3] = completion >> wire.TRACE_SHIFT & wire.TRACE_MASK
        handling = method(peer, packet, begin)
        if handling is not NOTHING:
            await handling
        if self._flushes:
            await port.room(1)
            port.put_flush(self._ring.slot, wire.BEHIND_HEADER + length)
        if self._ring.advance():
            await sending.way.free()
        if self._bulk_sending.ended:
            await self._bulk_sending.run_ends()
        if acknowledging.due:
            await acknowledging.pay(acknowledging.due)
        if sending.backlog and not self._settling.blocked:
            await self._settling.pump()
        port.mark(begin[1], END, begin[3])

    # A method a kind, called while the port has nothing to do: a check has just ended

    def _request(self, peer: Peer, packet: Packet, begin: Mark) -> Awaitable[None]:
        _, _, _, flags, handler, sequence, _, a0, a1, a2, a3 = packet
        expected, credit, sending = peer.expected, self._credit, self._sending
        if sequence != expected[0]:
            begin[1] = CONTROL
            return self._acknowledging.misplaced(peer, 0, sequence)
        if credit.acks:
            if credit.refuses(peer):
                begin[1] = CONTROL
                return NOTHING
            self._acknowledging.owe(peer, peer.heard)
        expected[0] = sequence + 1 & 255
        if peer.gapped:
            peer.gaps[0] = 0
        count = flags >> 4 & 7
        if count > 2 and self._ring.near:
            self._port.put_touch(self._ring.slot + 32, 8)
        self._port.spend(self._c_request_handle[count])
        if sending.space < SMALL_BYTES and not sending.held:
            return self._request_later(peer, handler, count, a0, a1, a2, a3)
        handlers = self._handlers
        running = handlers.call(REQUEST, peer, handler, count, a0, a1, a2, a3)
        if running is not NOTHING:
            return self._request_handled(running, peer)
        handlers.context = PROGRAM
        return credit.handled(peer) if credit.acks or not handlers.replied else NOTHING

    async def _request_later(self, peer: Peer, handler: int, count: int, a0: int, a1: int, a2: int,
                             a3: int) -> None:
        """Look for room for a reply; then run the handler."""
        await self._sending.refresh()
        await self._request_handled(
            self._handlers.call(REQUEST, peer, handler, count, a0, a1, a2, a3), peer)

    async def _request_handled(self, running: Awaitable[None], peer: Peer) -> None:
        """The handler of a request of ``peer`` is ``running``."""
        await running
        handlers, credit = self._handlers, self._credit
        handlers.context = PROGRAM
        if credit.acks or not handlers.replied:
            await credit.handled(peer)

    def _reply(self, peer: Peer, packet: Packet, begin: Mark) -> Awaitable[None]:
        """A reply of a handler, or one that the layer sent in its place."""
        _, _, _, flags, handler, sequence, _, a0, a1, a2, a3 = packet
        expected, acknowledging = peer.expected, self._acknowledging
        if sequence != expected[1]:
            begin[1] = CONTROL
            return acknowledging.misplaced(peer, 1, sequence)
        expected[1] = sequence + 1 & 255
        if peer.gapped:
            peer.gaps[1] = 0
        null = flags & 15 == wire.K_NULL
        if null or not self._credit.acks:
            peer.credits += 1
        elif peer.unanswered:
            peer.unanswered -= 1
        acknowledging.owe(peer, peer.heard)
        if peer.owed >= self._credit.quarter:
            acknowledging.due.append(peer)
        if null:
            self._port.spend(self._c_null_handle)
            return NOTHING
        count = flags >> 4 & 7
        if count > 2 and self._ring.near:
            self._port.put_touch(self._ring.slot + 32, 8)
        self._port.spend(self._c_reply_handle[count])
        handlers = self._handlers
        running = handlers.call(REPLY, peer, handler, count, a0, a1, a2, a3)
        if running is not NOTHING:
            return self._reply_handled(running)
        handlers.context = PROGRAM
        return NOTHING

    async def _reply_handled(self, running: Awaitable[None]) -> None:
        """A reply's handler is ``running``."""
        await running
        self._handlers.context = PROGRAM

    async def _store(self, peer: Peer, packet: Packet, begin: Mark) -> None:
        """A packet of a store, or of the data of a get."""
        _, length, _, flags, handler, sequence, _, a0, a1, _, _ = packet
        kind = flags & 15
        if sequence != peer.expected[2]:
            begin[1] = CONTROL
            await self._acknowledging.misplaced(peer, 2, sequence)
        elif (kind == wire.K_STORE and flags & wire.LAST and handler != wire.NO_HANDLER
              and self._credit.refuses(peer)):
            begin[1] = CONTROL
        else:
            peer.expected[2] = sequence + 1 & 255
            peer.gaps[2] = 0
            self._acknowledging.owe(peer, peer.heard)
            await self._bulk.packet(peer, kind, flags, handler, a0, a1,
                                    length - wire.BULK_HEADER_BYTES)

    async def _get(self, peer: Peer, packet: Packet, begin: Mark) -> None:
        _, _, _, _, handler, sequence, _, a0, a1, a2, a3 = packet
        if await self._next_of_requests(peer, sequence):
            begin[1] = BULK_HANDLE
            await self._bulk.get(peer, handler, a0, a1, a2, a3)

    async def _bye(self, peer: Peer, packet: Packet, begin: Mark) -> None:
        sequence = packet[5]
        if sequence != peer.expected[0] or not self._credit.refuses(peer):
            if await self._next_of_requests(peer, sequence):
                self._port.spend(self._c_control_handle)
                peer.bye = True
                await self._credit.parted(peer)

    async def _next_of_requests(self, peer: Peer, sequence: int) -> bool:
        """Take the next packet of the sequence of requests; False: it is none."""
        if sequence != peer.expected[0]:
            await self._acknowledging.misplaced(peer, 0, sequence)
            return False
        peer.expected[0] = sequence + 1 & 255
        peer.gaps[0] = 0
        self._acknowledging.owe(peer, peer.heard)
        return True

    async def _control(self, peer: Peer, packet: Packet, begin: Mark) -> None:
        """A packet without sequence number."""
        _, _, _, flags, _, _, _, a0, a1, _, _ = packet
        self._port.spend(self._c_control_handle)
        await self._acknowledging.control(peer, flags & 15, flags, a0 | a1 << 32)


if CHANNEL_OF[AmKind.GET] != CHANNEL_OF[AmKind.BYE] or NIC_BASE & 0xFFFF:
    raise AssertionError("the dispatch of packets does not match the declared layouts")
