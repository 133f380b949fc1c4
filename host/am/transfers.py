"""Bulk transfers that the program begins: am_store and am_get."""

from collections.abc import Callable, Sequence
from typing import Any

from ..port.node import Node
from . import wire
from .bulk_sending import BulkSending
from .costs import Prices
from .credit import Credit
from .handlers import Handler, Handlers
from .marks import BULK_SEND, END
from .polling import A_CALL, Polling
from .sending import CHECK, Sending
from .settling import Settling
from .window import AmError, Peer, Transfer

__all__ = ["Transfers"]


class Transfers:
    """Begins transfers to and from ``peers``, by number."""

    def __init__(self, node: Node, peers: Sequence[Peer], handlers: Handlers, sending: Sending,
                 bulk: BulkSending, settling: Settling, polling: Polling,
                 credit: Credit) -> None:
        self._node, self._port = node, node.port
        self._peers = peers
        self._handlers = handlers
        self._sending = sending
        self._bulk = bulk
        self._settling = settling
        self._polling = polling
        self._credit = credit
        prices = node.service(Prices)
        self._c_transfer = prices.transfer
        self._c_request = prices.request[4]

    async def store(self, dest: int, local: int, remote: int, length: int,
                    handler: int | Handler | None, arg: int,
                    end: Callable[[], Any] | None = None) -> Transfer:
        """Send as many packets of a store as possible; ``end`` runs when its source may be
        reused."""
        port = self._port
        peer, index = self._checked("am_store", dest, local, remote, length, handler, arg)
        number = self._node.trace_number()
        port.begin(BULK_SEND, number, self._c_transfer)
        if peer.credits <= 0 or peer.gone:
            await self._polling.wait_for_credit(peer, number)
        peer.credits -= 1
        if self._credit.acks:
            peer.unanswered += 1
        transfer = Transfer(wire.K_STORE, local, remote, length, index, arg, number, end)
        self._bulk.begin(peer, transfer)
        port.mark(BULK_SEND, END, number)
        await self._settling.pump()
        await self._polling.check(number, None, A_CALL)
        return transfer

    async def end(self, dest: int, transfer: Transfer) -> None:
        """Wait until the source of ``transfer``, a store to ``dest``, may be reused."""
        peer, port = self._peers[dest], self._port
        port.waiting_for(f"node {dest} to acknowledge a store")
        while not transfer.finished:
            if peer.gone:
                raise self._settling.lost(peer)
            await self._polling.spin()
        port.waiting_for("")

    async def get(self, dest: int, remote: int, local: int, length: int,
                  handler: int | Handler | None, arg: int) -> None:
        """Ask for data."""
        port = self._port
        peer, index = self._checked("am_get", dest, local, remote, length, handler, arg)
        number = self._node.trace_number()
        port.begin(BULK_SEND, number, self._c_transfer)
        port.spend(self._c_request)
        if peer.credits <= 0 or peer.gone:
            await self._polling.wait_for_credit(peer, number)
        peer.credits -= 1
        await self._sending.send(
            peer.request, (wire.K_GET | 4 << 4 | index << 16, remote | local << 32,
                           length | arg << 32, 4, number), BULK_SEND, CHECK)
        await self._polling.check(number, None, A_CALL)

    def _checked(self, call: str, dest: int, local: int, remote: int, length: int,
                 handler: int | Handler | None, arg: int) -> tuple[Peer, int]:
        """The peer, and the index of the handler, of a call whose arguments are sound."""
        if not 0 <= dest < len(self._peers):
            raise AmError(f"node {dest}: there are nodes 0 to {len(self._peers) - 1}")
        size = self._node.memory.size
        for name, at in (("local", local), ("remote", remote)):
            if length < 0 or at < 0 or at + length > size:
                raise AmError(f"{call}: {length} bytes at {name} address {at:#x} are not in the "
                              f"{size} bytes of memory")
        if arg < 0 or arg >> 32:
            raise ValueError(f"a handler's argument is an unsigned word of 32 bits, not {arg}")
        return self._peers[dest], (wire.NO_HANDLER if handler is None
                                   else self._handlers.index(handler))
