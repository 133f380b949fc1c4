"""Generic Active Messages 1.1 on one node: the public calls.

Handlers are ``async def h(am, source, *args)``, or plain functions that return None; those of bulk
transfers ``h(am, source, address, bytes, argument)``. A call names a handler by the callable or by
its index in the handler table, which must have the same order on all nodes. A request handler, and
a store's, may reply once; if it does not, the layer does unless ``am.credit`` = ack. A reply
handler, a get's, and a store's end function may not communicate. No handler may make requests or
poll.

The layer runs on one CPU of a node, only inside the program's calls.
"""

from collections.abc import Callable, Sequence
from functools import partial
from types import MethodType
from typing import Any

from ...layouts.packet import FLIT_BYTES, HEADER_BYTES
from ..port.node import Node
from ..port.suspension import NOTHING
from . import wire
from .acknowledging import Acknowledging
from .bulk_sending import BulkSending
from .costs import Prices
from .credit import credit_of
from .deadline import Deadline
from .handlers import IN_REPLY, IN_REQUEST, PROGRAM, Handler, Handlers
from .leaving import Leaving, Spin
from .marks import (
    BEGIN,
    CONTROL,
    EMPTY_POLL,
    END,
    REPLY_SEND,
    REQUEST_SEND,
)
from .polling import A_CALL, Polling
from .presence import Others
from .receiving import Receiving
from .sending import CHECK, Sending
from .settling import Settling
from .transfers import Transfers
from .ways import Way, way_of
from .window import AmError, Peer

__all__ = ["Gam"]

NO_HANDLER = wire.NO_HANDLER
CONTEXTS = {IN_REQUEST: "a request handler", IN_REPLY: "a reply handler or end function"}


class Gam:
    """Active Messages on ``node``, with the handler table ``handlers``.

    Attributes
    ----------
    counters
        Counts of events besides ordinary sends and receives: nacks, duplicates, timeouts, probes,
        acks, resent, samples (of round trips), refused (for want of room in the reply window).
    again
        The packets ``resent``, by peer and cause.
    """

    def __init__(self, node: Node, handlers: Sequence[Handler] = ()) -> None:
        node.drive_nic("Active Messages")
        self.node = node
        self.port = node.port
        self.memory = node.memory
        self._numbers = node.trace_numbers
        self.enabled = False
        self.counters = {"nacks": 0, "duplicates": 0, "timeouts": 0, "probes": 0, "acks": 0,
                         "resent": 0, "samples": 0, "refused": 0}
        way = way_of(node)
        self.peers = [_peer(node, way, number) for number in range(node.nodes)]
        self._partners = [peer for peer in self.peers
                          if peer.number in node.active and peer.number != node.number]
        self._deadline = deadline = Deadline()
        self._handlers = Handlers(node.number)
        for handler in handlers:
            self._add(handler)
        self._ring = way.ring
        self._sending = Sending(node, way, deadline, self.counters)
        bulk = BulkSending(self._sending, self._handlers, deadline)
        acknowledging = Acknowledging(self._sending, bulk, deadline, self.counters)
        self._others = Others(node, self._ring, deadline)
        settling = Settling(self._sending, bulk, acknowledging, deadline, self._others,
                            self.counters)
        self._credit = credit_of(self._sending, acknowledging)
        receiving = Receiving(self.peers, self._ring, self._handlers, self._sending, bulk,
                              acknowledging, settling, self._credit)
        self._polling = Polling(self._ring, self._sending, acknowledging, settling, receiving,
                                deadline)
        self._transfers = Transfers(node, self.peers, self._handlers, self._sending, bulk, settling,
                                    self._polling, self._credit)
        self._leaving = Leaving(node, self._partners, self._sending, acknowledging, settling,
                                self._credit, deadline)
        self.again = self._sending.again
        prices = node.service(Prices)
        self._c_request = prices.request
        self._c_reply = prices.reply
        self._c_poll = prices.poll
        self._c_wait = prices.wait
        self._c_query = prices.query
        self._c_enable = prices.enable
        self._c_enable_peer = prices.enable_peer
        self._c_register = prices.register

    async def recheck(self) -> None:
        """Report how many slots of the receive ring have been taken, and have the NIC interrupt
        again if it has filled more: what came after the last look and before a posted clear of the
        interrupt would raise none. Firmware that has the ring is told nothing."""
        await self._sending.way.recheck()

    def register(self, handler: Handler) -> int:
        """Append ``handler`` to the handler table; return its index."""
        self.port.spend(self._c_register)
        return self._add(handler)

    def _add(self, handler: Handler) -> int:
        return self._handlers.add(handler, MethodType(handler, self))

    async def enable(self) -> None:
        """Set up the rings and start the layer. This must be the first call. Messages that arrived
        earlier are not lost."""
        if self.enabled:
            raise AmError("am_enable was called twice")
        port = self.port
        port.mark(CONTROL, BEGIN, 0)
        port.spend(self._c_enable)
        for _ in self.node.active:
            port.spend(self._c_enable_peer)
        await self._sending.way.open(self._ring.allocate())
        await self._sending.refresh()
        port.mark(CONTROL, END, 0)
        self.enabled = True
        self._others.enabled()

    async def leave(self, spin: Spin | None = None) -> None:
        """The first step of :meth:`disable`: finish all own communication, and tell the others.
        They are still served. ``spin`` as there."""
        self._ready("am_disable")
        await self._leaving.tell(spin or self._polling.spin)

    async def disable(self, spin: Spin | None = None) -> None:
        """Finish all own communication, and serve the other nodes until they have called this, too.

        Every node's program must call it. A node that ends without this call is treated as gone by
        the others, unless it has announced that it will make no more requests.

        ``spin`` waits for messages (:data:`.leaving.Spin`); by default for those of this layer.
        """
        leaving = self._leaving
        if not leaving.told:
            await self.leave(spin)
        alone = leaving.alone()
        if not alone():
            await (spin or self._polling.spin)(alone)
        await leaving.end()
        self.enabled = False
        self._others.left = True

    # Small messages

    async def request(self, dest: int, handler: int | Handler, *args: int) -> None:
        """am_request_N: run ``handler`` at node ``dest`` with up to four 32-bit words.

        If there is no credit for ``dest``, it polls until there is one. After sending the request
        it polls once.
        """
        if self._handlers.context or not self.enabled:
            self._ready("am_request")
        if not 0 <= dest < len(self.peers):
            raise AmError(f"node {dest}: there are nodes 0 to {len(self.peers) - 1}")
        peer = self.peers[dest]
        index = (handler if isinstance(handler, int) and 0 <= handler < NO_HANDLER
                 else self._handlers.index(handler))
        count = len(args)
        if count == 1 and not args[0] >> 32:  # the usual message
            low, high, beats = args[0], 0, 3
        else:
            low, high, beats = wire.arguments(args)
        number = next(self._numbers)
        self.port.begin(REQUEST_SEND, number, self._c_request[count])
        if peer.credits <= 0 or peer.gone:
            await self._polling.wait_for_credit(peer, number)
        peer.credits -= 1
        if self._credit.acks:
            peer.unanswered += 1
        sending = self._sending.send(
            peer.request, (wire.K_REQUEST | count << 4 | index << 16, low, high, beats, number),
            REQUEST_SEND, CHECK)
        if sending is not NOTHING:
            await sending
        await self._polling.check(number, None, A_CALL)

    def reply(self, handler: int | Handler, *args: int) -> Any:
        """am_reply_N, in a request handler only, once: run ``handler`` at the requester. It never
        polls or waits. An ``async`` handler must await it."""
        handlers = self._handlers
        if handlers.context != IN_REQUEST:
            raise AmError("am_reply is for request handlers")
        if handlers.replied:
            raise AmError("a request handler replies once: this is a second reply")
        index = (handler if isinstance(handler, int) and 0 <= handler < NO_HANDLER
                 else handlers.index(handler))
        count = len(args)
        if count == 1 and not args[0] >> 32:  # the usual message
            low, high, beats = args[0], 0, 3
        else:
            low, high, beats = wire.arguments(args)
        handlers.replied = True
        number = next(self._numbers)
        peer = handlers.source
        self.port.begin(REPLY_SEND, number, self._c_reply[count])
        return self._sending.send(
            peer.reply, (wire.K_REPLY | count << 4 | index << 16, low, high, beats, number),
            REPLY_SEND)

    # Polling

    async def poll(self) -> None:
        """am_poll: handle all messages that have arrived."""
        if self._handlers.context or not self.enabled:
            self._ready("am_poll")
        await self._polling.check(0, self._c_poll, self._ring.entries)

    async def wait(self, condition: Callable[[], Any]) -> None:
        """Poll until ``condition()`` is true. The condition is evaluated after each message;
        between messages the CPU spins in the target."""
        if self._handlers.context or not self.enabled:
            self._ready("am_poll")
        port = self.port
        port.span(EMPTY_POLL, 0, self._c_wait)
        if condition():
            return
        outer = port.waiting_text
        port.waiting_text = outer or "its condition, in am.wait"
        if self._credit.acks:
            self._deadline.wait(self._partners)
        try:
            await self._polling.spin(condition)
        finally:
            self._deadline.waits = False
        port.waiting_text = outer

    def expect(self, waits: bool) -> None:
        """For a program that polls several layers while it waits: from now on it ``waits``, so that
        peers that have ended without a reply are told; or no longer. :meth:`wait` does it
        itself."""
        if not waits:
            self._deadline.waits = False
        elif self._credit.acks:
            self._deadline.wait(self._partners)

    # Bulk

    async def store(self, dest: int, local: int, remote: int, length: int,
                    handler: int | Handler | None = None, arg: int = 0) -> None:
        """am_store: copy ``length`` bytes from ``local`` on this node to ``remote`` at node
        ``dest``, where ``handler`` runs after all bytes have arrived. Returns when the source may
        be reused."""
        self._ready("am_store")
        transfers = self._transfers
        await transfers.end(
            dest, await transfers.store(dest, local, remote, length, handler, arg))

    async def store_async(self, dest: int, local: int, remote: int, length: int,
                          handler: int | Handler | None = None, arg: int = 0,
                          end: Callable[..., Any] | None = None, earg: Any = None) -> None:
        """am_store_async: like am_store, but returns when as many packets as possible have been
        sent. When the source may be reused, ``end(am, earg)`` runs on this node, in a poll."""
        self._ready("am_store")
        await self._transfers.store(dest, local, remote, length, handler, arg,
                                    None if end is None else partial(end, self, earg))

    async def get(self, dest: int, remote: int, local: int, length: int,
                  handler: int | Handler | None = None, arg: int = 0) -> None:
        """am_get: copy ``length`` bytes from ``remote`` at node ``dest`` to ``local`` on this node,
        where ``handler`` runs after all bytes have arrived. Returns at once."""
        self._ready("am_get")
        await self._transfers.get(dest, remote, local, length, handler, arg)

    # Questions

    def procs(self) -> int:
        """am_procs: how many nodes there are."""
        self.port.spend(self._c_query)
        return self.node.nodes

    def my_proc(self) -> int:
        """am_my_proc: this node's number."""
        self.port.spend(self._c_query)
        return self.node.number

    def max_size(self) -> int:
        """am_max_size: most bytes of a store or get."""
        self.port.spend(self._c_query)
        return self.memory.size

    # Helpers

    def _ready(self, call: str) -> None:
        context = self._handlers.context
        if context != PROGRAM:
            raise AmError(f"{call} in {CONTEXTS[context]}: handlers may not request or poll")
        if not self.enabled:
            raise AmError(f"{call} before am_enable or after am_disable")


def _peer(node: Node, way: Way, number: int) -> Peer:
    """The state that ``node`` keeps about node ``number``, with the headers of the packets to
    it."""
    am = node.description.am
    peer = Peer(number, am.request_window, am.reply_window, am.chunk_packets * am.chunks,
                am.retry_timeout, am.retries)
    peer.wire = tuple(way.header(number, beats * FLIT_BYTES - HEADER_BYTES) if beats > 2 else 0
                      for beats in range(wire.SMALL_BEATS + 1))
    peer.bulk_wire = way.header(number, wire.BULK_HEADER_BYTES, bulk=True)
    return peer
