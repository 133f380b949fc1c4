"""Packets in: dispatch to handlers, acknowledgements and transfers."""

from collections.abc import Sequence

from ...layouts.am import CHANNEL_OF, AmKind
from ...layouts.operations import BLOCK, NIC_BASE
from ..port.suspension import check_given
from . import costs, wire
from .acknowledging import Acknowledging
from .bulk_receiving import BulkReceiving
from .bulk_sending import BulkSending
from .handlers import IN_REPLY, IN_REQUEST, PROGRAM, Handlers
from .marks import BULK_HANDLE, CONTROL, END, REPLY_HANDLE, REQUEST_HANDLE
from .receive_ring import ReceiveRing
from .sending import Sending
from .settling import Settling
from .window import Peer

__all__ = ["Receiving"]

SMALL_BYTES = wire.SMALL_BYTES
_HANDLES = {wire.K_REQUEST: REQUEST_HANDLE, wire.K_REPLY: REPLY_HANDLE, wire.K_NULL: REPLY_HANDLE,
            wire.K_STORE: BULK_HANDLE, wire.K_DATA: BULK_HANDLE}
ACTIVITIES = tuple(_HANDLES.get(kind, CONTROL) for kind in range(16))
"""What handling a packet of a kind is, if the packet is taken."""


class Receiving:
    """Handles the packets in ``ring``."""

    __slots__ = ("_peers", "_port", "_ring", "_handlers", "_sending", "_bulk_sending", "_bulk",
                 "_acknowledging", "_settling", "_flushes", "_quarter", "_by_ack",
                 "_c_request_handle", "_c_reply_handle", "_c_null_handle", "_c_control_handle")

    def __init__(self, peers: Sequence[Peer], ring: ReceiveRing, handlers: Handlers,
                 sending: Sending, bulk_sending: BulkSending, acknowledging: Acknowledging,
                 settling: Settling) -> None:
        self._peers = peers
        self._port = port = sending.port
        self._ring = ring
        self._handlers = handlers
        self._sending = sending
        self._bulk_sending = bulk_sending
        self._bulk = BulkReceiving(sending, bulk_sending, acknowledging, handlers, ring)
        self._acknowledging = acknowledging
        self._settling = settling
        self._flushes = bool(port.costs.flush_bytes)
        am = sending.node.description.am
        self._by_ack = am.credit == "ack"
        self._quarter = -(-am.request_window // 4) if self._by_ack else max(1, am.reply_window // 4)
        self._c_request_handle = [port.path(p) for p in costs.REQUEST_HANDLE]
        self._c_reply_handle = [port.path(p) for p in costs.REPLY_HANDLE]
        self._c_null_handle = port.path(costs.NULL_HANDLE)
        self._c_control_handle = port.path(costs.CONTROL_HANDLE)

    async def handle(self, begin: list[int]) -> None:
        """Handle the message whose completion word a poll has just found. ``begin`` is the mark at
        which this began; its activity is set here."""
        port, ring, handlers = self._port, self._ring, self._handlers
        sending, acknowledging = self._sending, self._acknowledging
        completion, length, source, flags, handler, sequence, acks, a0, a1, a2, a3 = (
            ring.read(ring.slot) if ring.near else await ring.load())
        number = completion >> wire.TRACE_SHIFT & wire.TRACE_MASK
        self._settling.idle = 0
        peer = self._peers[source]
        cycle = port.cycle
        peer.heard = cycle
        if acks != peer.acked:
            acknowledging.acknowledge(peer, acks)
        kind = flags & 15
        activity = ACTIVITIES[kind]
        if port.marking:
            begin[1], begin[3] = activity, number
        count = flags >> 4 & 7
        if kind == wire.K_REQUEST:
            expected = peer.expected
            if sequence != expected[0]:
                activity = CONTROL
                await acknowledging.misplaced(peer, 0, sequence)
            elif self._by_ack and acknowledging.refuses(peer):
                activity = CONTROL
            else:
                expected[0] = sequence + 1 & 255
                if self._by_ack:
                    acknowledging.owe(peer, cycle)
                if peer.gapped:
                    peer.gaps[0] = 0
                if count > 2 and ring.near:
                    if port.count == BLOCK:
                        await port.executed
                    port.put_touch(ring.slot + 32, 8)
                port.spend(self._c_request_handle[count])
                if sending.space < SMALL_BYTES and not sending.held:
                    await sending.refresh()
                if port.count > sending.full:
                    await port.executed
                handlers.context = IN_REQUEST
                handlers.source = peer
                handlers.replied = False
                try:
                    function = handlers.table[handler]
                except IndexError:
                    raise handlers.missing("request", source, handler) from None
                result = (function(handlers.am, source, a0) if count == 1
                          else function(handlers.am, source, *(a0, a1, a2, a3)[:count]))
                if result is not None:
                    try:
                        await result
                    except TypeError:
                        check_given(function, result)
                        raise
                if self._by_ack:
                    if peer.owed >= self._quarter:
                        acknowledging.due.append(peer)
                elif not handlers.replied:
                    if port.count > sending.full:
                        await port.executed
                    sending.null_reply(peer)
                    if sending.stores:
                        await sending.commit()
                handlers.context = PROGRAM
        elif kind == wire.K_REPLY or kind == wire.K_NULL:
            expected = peer.expected
            if sequence != expected[1]:
                activity = CONTROL
                await acknowledging.misplaced(peer, 1, sequence)
            else:
                expected[1] = sequence + 1 & 255
                if peer.gapped:
                    peer.gaps[1] = 0
                if kind == wire.K_NULL or not self._by_ack:
                    peer.credits += 1
                elif peer.unanswered:
                    peer.unanswered -= 1
                acknowledging.owe(peer, cycle)
                if peer.owed >= self._quarter:
                    acknowledging.due.append(peer)
                if kind == wire.K_NULL:
                    port.spend(self._c_null_handle)
                else:
                    if count > 2 and ring.near:
                        if port.count == BLOCK:
                            await port.executed
                        port.put_touch(ring.slot + 32, 8)
                    port.spend(self._c_reply_handle[count])
                    handlers.context = IN_REPLY
                    try:
                        function = handlers.table[handler]
                    except IndexError:
                        raise handlers.missing("reply", source, handler) from None
                    result = (function(handlers.am, source, a0) if count == 1
                              else function(handlers.am, source, *(a0, a1, a2, a3)[:count]))
                    if result is not None:
                        try:
                            await result
                        except TypeError:
                            check_given(function, result)
                            raise
                    handlers.context = PROGRAM
        elif kind == wire.K_STORE or kind == wire.K_DATA:
            if sequence != peer.expected[2]:
                activity = CONTROL
                await acknowledging.misplaced(peer, 2, sequence)
            elif (self._by_ack and kind == wire.K_STORE and flags & wire.LAST
                  and handler != wire.NO_HANDLER and acknowledging.refuses(peer)):
                activity = CONTROL
            else:
                peer.expected[2] = sequence + 1 & 255
                peer.gaps[2] = 0
                acknowledging.owe(peer, cycle)
                await self._bulk.packet(peer, kind, flags, handler, a0, a1,
                                        length - wire.BULK_HEADER_BYTES)
        elif kind == wire.K_GET or kind == wire.K_BYE:
            if sequence != peer.expected[0]:
                await acknowledging.misplaced(peer, 0, sequence)
            elif not (self._by_ack and kind == wire.K_BYE and acknowledging.refuses(peer)):
                peer.expected[0] = sequence + 1 & 255
                peer.gaps[0] = 0
                acknowledging.owe(peer, cycle)
                if kind == wire.K_GET:
                    activity = BULK_HANDLE
                    await self._bulk.get(peer, handler, a0, a1, a2, a3)
                else:
                    port.spend(self._c_control_handle)
                    peer.bye = True
                    if self._by_ack:
                        await self._null_reply(peer)
                    else:
                        acknowledging.owe_soon(peer)
        else:
            port.spend(self._c_control_handle)
            await acknowledging.control(peer, kind, flags, a0 | a1 << 32)
        if self._flushes:
            if port.count == BLOCK:
                await port.executed
            port.put_flush(ring.slot, wire.BEHIND_HEADER + length)
        if ring.advance():
            await sending.way.free()
        if self._bulk_sending.ended:
            await self._bulk_sending.run_ends()
        if acknowledging.due:
            await acknowledging.pay(acknowledging.due)
        if sending.backlog and not self._settling.blocked:
            await self._settling.pump()
        if port.marking:
            begin[1] = activity
            port.mark(activity, END, number)
        else:
            port.rounded = port.parts

    async def _null_reply(self, peer: Peer) -> None:
        """Tell a peer that makes no more requests that all replies to it have been sent."""
        port, sending = self._port, self._sending
        if sending.space < SMALL_BYTES and not sending.held:
            await sending.refresh()
        if port.count > sending.full:
            await port.executed
        sending.null_reply(peer)
        if sending.stores:
            await sending.commit()


if CHANNEL_OF[AmKind.GET] != CHANNEL_OF[AmKind.BYE] or NIC_BASE & 0xFFFF:
    raise AssertionError("the dispatch of packets does not match the declared layouts")
