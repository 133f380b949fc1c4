"""Bulk transfers in: stores, the data of gets, and requests for gets."""

from ...layouts.operations import BLOCK
from ..port.suspension import check_given
from . import costs, wire
from .acknowledging import Acknowledging
from .bulk_sending import BulkSending
from .handlers import IN_REPLY, IN_REQUEST, PROGRAM, Handlers
from .receive_ring import ReceiveRing
from .sending import Sending
from .window import AmError, Peer, Transfer

__all__ = ["BulkReceiving"]

SMALL_BYTES = wire.SMALL_BYTES


class BulkReceiving:
    """Copies bulk packets from their slots of ``ring`` to their destination."""

    __slots__ = ("_sending", "_out", "_acknowledging", "_handlers", "_ring", "_chunk", "_by_ack",
                 "_c_bulk_handle", "_c_bulk_last", "_c_get_handle", "_c_transfer")

    def __init__(self, sending: Sending, out: BulkSending, acknowledging: Acknowledging,
                 handlers: Handlers, ring: ReceiveRing) -> None:
        self._sending = sending
        self._out = out
        self._acknowledging = acknowledging
        self._handlers = handlers
        self._ring = ring
        self._chunk = sending.node.description.am.chunk_packets
        self._by_ack = sending.node.description.am.credit == "ack"
        path = sending.port.path
        self._c_bulk_handle = path(costs.BULK_HANDLE)
        self._c_bulk_last = path(costs.BULK_LAST)
        self._c_get_handle = path(costs.REQUEST_HANDLE[4])
        self._c_transfer = path(costs.TRANSFER)

    async def packet(self, peer: Peer, kind: int, flags: int, handler: int, target: int,
                     argument: int, length: int) -> None:
        """Copy a bulk packet to its destination; after the last one, run the handler."""
        sending, handlers = self._sending, self._handlers
        port, memory = sending.port, sending.memory
        port.spend(self._c_bulk_handle)
        if flags & wire.FIRST:
            peer.base = target
            peer.received = 0
        if length:
            if target + length > memory.size:
                raise AmError(f"node {peer.number} stores {length} bytes at {target:#x} of node "
                              f"{sending.node.number}, which has {memory.size} (memory.bytes)")
            source = self._ring.payload
            if port.count > BLOCK - 2:
                await port.executed
            port.put_touch(source, length)
            port.work("copy_word", -(-length // 8))
            port.put_touch(target, length, store=True)
            await port.executed
            memory.write(target, memory.read(source, length))
            peer.received += length
        if not flags & wire.LAST:
            if peer.owed >= self._chunk:
                self._acknowledging.due.append(peer)
            return
        port.spend(self._c_bulk_last)
        store = kind == wire.K_STORE
        if store:
            if sending.space < SMALL_BYTES and not sending.held:
                await sending.refresh()
            if port.count > sending.full:
                await port.executed
            handlers.context, handlers.source, handlers.replied = IN_REQUEST, peer, False
        else:
            peer.credits += 1
            handlers.context = IN_REPLY
        if handler != wire.NO_HANDLER:
            try:
                function = handlers.table[handler]
            except IndexError:
                raise handlers.missing("store" if store else "get", peer.number,
                                       handler) from None
            result = function(handlers.am, peer.number, peer.base, peer.received, argument)
            if result is not None:
                try:
                    await result
                except TypeError:
                    check_given(function, result)
                    raise
        if store and not handlers.replied and not self._by_ack:
            if port.count > sending.full:
                await port.executed
            sending.null_reply(peer)
            if sending.stores:
                await sending.commit()
        handlers.context = PROGRAM
        if peer.owed:
            self._acknowledging.due.append(peer)

    async def get(self, peer: Peer, handler: int, remote: int, local: int, length: int,
                  argument: int) -> None:
        """Handle a peer's get: send the data, which takes the place of a reply."""
        port = self._sending.port
        if self._ring.near:
            if port.count == BLOCK:
                await port.executed
            port.put_touch(self._ring.slot + 32, 8)
        port.spend(self._c_get_handle)
        port.spend(self._c_transfer)
        self._out.begin(peer, Transfer(wire.K_DATA, remote, local, length, handler, argument,
                                       self._sending.node.trace_number()))
