"""Bulk transfers in: stores, the data of gets, and requests for gets."""

from . import wire
from .acknowledging import Acknowledging
from .bulk_sending import BulkSending
from .costs import Prices
from .credit import Credit
from .handlers import GET, PROGRAM, STORE, Handlers
from .receive_ring import ReceiveRing
from .sending import Sending
from .window import AmError, Peer, Transfer

__all__ = ["BulkReceiving"]

SMALL_BYTES = wire.SMALL_BYTES


class BulkReceiving:
    """Copies bulk packets from their slots of ``ring`` to their destination."""

    __slots__ = ("_sending", "_out", "_acknowledging", "_handlers", "_ring", "_chunk", "_credit",
                 "_c_bulk_handle", "_c_bulk_last", "_c_get_handle", "_c_transfer")

    def __init__(self, sending: Sending, out: BulkSending, acknowledging: Acknowledging,
                 handlers: Handlers, ring: ReceiveRing, credit: Credit) -> None:
        self._sending = sending
        self._out = out
        self._acknowledging = acknowledging
        self._handlers = handlers
        self._ring = ring
        self._chunk = sending.node.description.am.chunk_packets
        self._credit = credit
        prices = sending.node.service(Prices)
        self._c_bulk_handle = prices.bulk_handle
        self._c_bulk_last = prices.bulk_last
        self._c_get_handle = prices.request_handle[4]
        self._c_transfer = prices.transfer

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
        if not store:
            peer.credits += 1
        elif sending.space < SMALL_BYTES and not sending.held:
            await sending.refresh()
        if handler != wire.NO_HANDLER:
            await handlers.call(STORE if store else GET, peer, handler, 3, peer.base,
                                peer.received, argument, 0)
            handlers.context = PROGRAM
        if store and not (handler != wire.NO_HANDLER and handlers.replied):
            await self._credit.stored(peer)
        if peer.owed:
            self._acknowledging.due.append(peer)

    async def get(self, peer: Peer, handler: int, remote: int, local: int, length: int,
                  argument: int) -> None:
        """Handle a peer's get: send the data, which takes the place of a reply."""
        port = self._sending.port
        if self._ring.near:
            port.put_touch(self._ring.slot + 32, 8)
        port.spend(self._c_get_handle)
        port.spend(self._c_transfer)
        self._out.begin(peer, Transfer(wire.K_DATA, remote, local, length, handler, argument,
                                       self._sending.node.trace_number()))
