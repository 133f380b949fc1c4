"""Generic Active Messages 1.1 on one node: the public calls.

Handlers are ``async def h(am, source, *args)``, or plain functions that return None; those of bulk
transfers ``h(am, source, address, bytes, argument)``. A call names a handler by the callable or by
its index in the handler table, which must have the same order on all nodes. A request handler, and
a store's, may reply once; if it does not, the layer does unless ``am.credit`` = ack. A reply
handler, a get's, and a store's end function may not communicate. No handler may make requests or
poll.

The layer runs on one CPU of a node, only inside the program's calls.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from ...layouts.packet import FLIT_BYTES, HEADER_BYTES
from ..port.node import Node
from ..port.suspension import NOTHING
from . import costs, wire
from .acknowledging import Acknowledging
from .bulk_sending import BulkSending
from .deadline import Deadline
from .handlers import IN_REPLY, IN_REQUEST, PROGRAM, Handler, Handlers
from .injection import Injection
from .marks import (
    BEGIN,
    BULK_SEND,
    CONTROL,
    EMPTY_POLL,
    END,
    REPLY_SEND,
    REQUEST_SEND,
    WINDOW_WAIT,
)
from .polling import Polling
from .presence import Others
from .receiving import Receiving
from .sending import Sending
from .settling import Settling
from .ways import injection
from .window import AmError, Peer, Transfer

__all__ = ["Gam"]

A_CALL = 2
"""Messages that a call handles after it has sent its own. A peer sends two for each of ours: a
request and a reply. A larger number would keep a node that receives many messages from sending."""
NO_HANDLER = wire.NO_HANDLER
SMALL_BYTES = wire.SMALL_BYTES
Spin = Callable[..., Awaitable[None]]
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
        self.port = port = node.port
        self.memory = node.memory
        self.enabled = self._has_left = False
        self.counters = {"nacks": 0, "duplicates": 0, "timeouts": 0, "probes": 0, "acks": 0,
                         "resent": 0, "samples": 0, "refused": 0}
        way = injection(node)
        self.peers = [_peer(node, way, number) for number in range(node.nodes)]
        self._partners = [peer for peer in self.peers
                          if peer.number in node.active and peer.number != node.number]
        self._window = node.description.am.request_window
        self._by_ack = node.description.am.credit == "ack"
        self._deadline = deadline = Deadline()
        self._handlers = Handlers(self, handlers)
        self._ring = way.ring
        self._sending = Sending(node, way, deadline, self.counters)
        self._bulk = BulkSending(self._sending, self._handlers, deadline)
        self._acknowledging = Acknowledging(self._sending, self._bulk, deadline, self.counters)
        self._others = Others(node, self._ring, deadline)
        self._settling = Settling(self._sending, self._bulk, self._acknowledging,
                                  deadline, self._others, self.counters)
        receiving = Receiving(self.peers, self._ring, self._handlers, self._sending, self._bulk,
                              self._acknowledging, self._settling)
        self._polling = Polling(self._ring, self._sending, self._acknowledging, self._settling,
                                receiving, deadline)
        self.again = self._sending.again
        self._c_request = [port.path(p) for p in costs.REQUEST]
        self._c_reply = [port.path(p) for p in costs.REPLY]
        self._c_poll = port.path(costs.POLL)
        self._c_wait = port.path(costs.WAIT)
        self._c_transfer = port.path(costs.TRANSFER)
        self._c_query = port.path(costs.QUERY)
        self._c_enable = port.path(costs.ENABLE)
        self._c_enable_peer = port.path(costs.ENABLE_PEER)
        self._c_disable = port.path(costs.DISABLE)
        self._c_bye = port.path(costs.BYE)
        self._c_register = port.path(costs.REGISTER)

    async def recheck(self) -> None:
        """Report how many slots of the receive ring have been taken, and have the NIC interrupt
        again if it has filled more: what came after the last look and before a posted clear of the
        interrupt would raise none. Firmware that has the ring is told nothing."""
        way = self._sending.way
        if way.recheck:
            self._ring.reported(self._ring.taken)
            await way.free(way.recheck)

    def register(self, handler: Handler) -> int:
        """Append ``handler`` to the handler table; return its index."""
        self.port.spend(self._c_register)
        return self._handlers.add(handler)

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
        port, sending = self.port, self._sending
        spin = spin or self._polling.spin
        self._ready("am_disable")
        port.spend(self._c_disable)
        self._settling.disabling = True
        port.waiting_for("its own requests to finish, in am_disable")
        while any(peer.credits < self._window or peer.transfers or peer.bulk.base != peer.bulk.next
                  for peer in self._deadline.watched if not peer.gone):
            await spin()
        for peer in self._partners:
            if peer.gone:
                continue
            if sending.space < SMALL_BYTES and not sending.held:
                await sending.refresh()
            if port.count > sending.full:
                await port.executed
            number = self.node.trace_number()
            port.mark(CONTROL, BEGIN, number)
            port.spend(self._c_bye)
            if self._by_ack:
                peer.credits -= 1
            sending.launch(peer, peer.request, wire.K_BYE, 0, 0, 3, number)
            if sending.stores:
                await sending.commit()
            port.mark(CONTROL, END, number)
        self._has_left = True

    async def disable(self, spin: Spin | None = None) -> None:
        """Finish all own communication, and serve the other nodes until they have called this, too.

        Every node's program must call it. A node that ends without this call is treated as gone by
        the others, unless it has announced that it will make no more requests.

        ``spin``: ``await spin(condition)`` waits for messages, of this layer and of others that the
        CPU has to serve, and does so again until the condition is true; by default of this one.
        """
        port = self.port
        spin = spin or self._polling.spin
        if not self._has_left:
            await self.leave(spin)
        # A peer that has finished stays so.
        left = [peer for peer in self._partners if not self._finished(peer)]

        def awaited() -> str:
            numbers = [str(peer.number) for peer in left if not self._finished(peer)]
            return f"am_disable of node{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"

        def finished() -> bool:
            while left and self._finished(left[-1]):
                left.pop()
            return not left

        port.waiting_for(awaited)
        if not finished():
            await spin(finished)
        await self._acknowledging.pay([peer for peer in self._partners
                                       if peer.owed and not peer.gone])
        await port.flush()
        port.waiting_for("")
        self.enabled = self._has_left = False
        self._others.left = True
        self._settling.disabling = False

    # Small messages

    async def request(self, dest: int, handler: int | Handler, *args: int) -> None:
        """am_request_N: run ``handler`` at node ``dest`` with up to four 32-bit words.

        If there is no credit for ``dest``, it polls until there is one. After sending the request
        it polls once.
        """
        port, sending = self.port, self._sending
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
        number = self.node.trace_number()
        if port.marking:
            port.mark(REQUEST_SEND, BEGIN, number)
        port.spend(self._c_request[count])
        if peer.credits <= 0 or peer.gone:
            await self._credit(peer, number)
        if sending.space < SMALL_BYTES and not sending.held:
            await sending.refresh()
        if port.count >= sending.full:
            await port.executed
        peer.credits -= 1
        if self._by_ack:
            peer.unanswered += 1
        sending.launch(peer, peer.request, wire.K_REQUEST | count << 4 | index << 16, low, high,
                       beats, number)
        if sending.stores:
            await sending.commit()
        if port.marking:
            port.mark(REQUEST_SEND, END, number)
        await self._polling.check(number, None, A_CALL)

    def reply(self, handler: int | Handler, *args: int) -> Any:
        """am_reply_N, in a request handler only, once: run ``handler`` at the requester. It never
        polls or waits. An ``async`` handler must await it."""
        port, handlers, sending = self.port, self._handlers, self._sending
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
        number = self.node.trace_number()
        peer = handlers.source
        assert peer is not None
        if port.marking:
            port.mark(REPLY_SEND, BEGIN, number)
        port.spend(self._c_reply[count])
        word = wire.K_REPLY | count << 4 | index << 16
        if port.count > sending.full:
            return self._reply_later(peer, word, low, high, beats, number)
        sending.launch(peer, peer.reply, word, low, high, beats, number)
        if sending.stores:
            return self._reply_stored(number)
        if port.marking:
            port.mark(REPLY_SEND, END, number)
        else:
            port.rounded = port.parts
        return NOTHING

    async def _reply_later(self, peer: Peer, word: int, low: int, high: int, beats: int,
                           number: int) -> None:
        await self.port.executed
        self._sending.launch(peer, peer.reply, word, low, high, beats, number)
        await self._reply_stored(number)

    async def _reply_stored(self, number: int) -> None:
        if self._sending.stores:
            await self._sending.commit()
        self.port.mark(REPLY_SEND, END, number)

    # Polling

    async def poll(self) -> None:
        """am_poll: handle all messages that have arrived."""
        if self._handlers.context or not self.enabled:
            self._ready("am_poll")
        await self._polling.check(0, self._c_poll, self._ring.entries)

    async def wait(self, condition: Callable[[], Any]) -> None:
        """Poll until ``condition()`` is true. The condition is evaluated after each message;
        between messages the CPU spins in the target."""
        port = self.port
        if self._handlers.context or not self.enabled:
            self._ready("am_poll")
        if port.marking:
            port.mark(EMPTY_POLL, BEGIN, 0)
        port.spend(self._c_wait)
        if port.marking:
            port.mark(EMPTY_POLL, END, 0)
        else:
            port.rounded = port.parts
        if condition():
            return
        outer = port.waiting_text
        port.waiting_text = outer or "its condition, in am.wait"
        if self._by_ack:
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
        elif self._by_ack:
            self._deadline.wait(self._partners)

    # Bulk

    async def store(self, dest: int, local: int, remote: int, length: int,
                    handler: int | Handler | None = None, arg: int = 0) -> None:
        """am_store: copy ``length`` bytes from ``local`` on this node to ``remote`` at node
        ``dest``, where ``handler`` runs after all bytes have arrived. Returns when the source may
        be reused."""
        transfer = await self._store(dest, local, remote, length, handler, arg, None, None)
        port = self.port
        port.waiting_for(f"node {dest} to acknowledge a store")
        while not transfer.finished:
            if self.peers[dest].gone:
                raise self._settling.lost(self.peers[dest])
            await self._polling.spin()
        port.waiting_for("")

    async def store_async(self, dest: int, local: int, remote: int, length: int,
                          handler: int | Handler | None = None, arg: int = 0,
                          end: Callable[..., Any] | None = None, earg: Any = None) -> None:
        """am_store_async: like am_store, but returns when as many packets as possible have been
        sent. When the source may be reused, ``end(am, earg)`` runs on this node, in a poll."""
        await self._store(dest, local, remote, length, handler, arg, end, earg)

    async def get(self, dest: int, remote: int, local: int, length: int,
                  handler: int | Handler | None = None, arg: int = 0) -> None:
        """am_get: copy ``length`` bytes from ``remote`` at node ``dest`` to ``local`` on this node,
        where ``handler`` runs after all bytes have arrived. Returns at once."""
        port, sending = self.port, self._sending
        peer, index = self._bulk_arguments("am_get", dest, local, remote, length, handler, arg)
        number = self.node.trace_number()
        port.mark(BULK_SEND, BEGIN, number)
        port.spend(self._c_transfer)
        port.spend(self._c_request[4])
        if peer.credits <= 0 or peer.gone:
            await self._credit(peer, number)
        if sending.space < SMALL_BYTES and not sending.held:
            await sending.refresh()
        if port.count >= sending.full:
            await port.executed
        peer.credits -= 1
        sending.launch(peer, peer.request, wire.K_GET | 4 << 4 | index << 16, remote | local << 32,
                       length | arg << 32, 4, number)
        if sending.stores:
            await sending.commit()
        port.mark(BULK_SEND, END, number)
        await self._polling.check(number, None, A_CALL)

    async def _store(self, dest: int, local: int, remote: int, length: int,
                     handler: int | Handler | None, arg: int, end: Callable[..., Any] | None,
                     earg: Any) -> Transfer:
        port = self.port
        peer, index = self._bulk_arguments("am_store", dest, local, remote, length, handler, arg)
        number = self.node.trace_number()
        port.mark(BULK_SEND, BEGIN, number)
        port.spend(self._c_transfer)
        if peer.credits <= 0 or peer.gone:
            await self._credit(peer, number)
        peer.credits -= 1
        if self._by_ack:
            peer.unanswered += 1
        transfer = Transfer(wire.K_STORE, local, remote, length, index, arg, number, end, earg)
        self._bulk.begin(peer, transfer)
        port.mark(BULK_SEND, END, number)
        await self._settling.pump()
        await self._polling.check(number, None, A_CALL)
        return transfer

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

    def _bulk_arguments(self, call: str, dest: int, local: int, remote: int, length: int,
                        handler: int | Handler | None, arg: int) -> tuple[Peer, int]:
        self._ready(call)
        if not 0 <= dest < len(self.peers):
            raise AmError(f"node {dest}: there are nodes 0 to {len(self.peers) - 1}")
        size = self.memory.size
        for name, at in (("local", local), ("remote", remote)):
            if length < 0 or at < 0 or at + length > size:
                raise AmError(f"{call}: {length} bytes at {name} address {at:#x} are not in the "
                              f"{size} bytes of memory")
        if arg < 0 or arg >> 32:
            raise ValueError(f"a handler's argument is an unsigned word of 32 bits, not {arg}")
        if handler is None:
            return self.peers[dest], NO_HANDLER
        return self.peers[dest], self._handlers.index(handler)

    def _finished(self, peer: Peer) -> bool:
        """Whether ``peer`` has called am_disable and nothing between it and this node is open, or
        it is gone."""
        return (peer.gone
                or peer.bye and not peer.open() and peer.credits >= self._window)

    async def _credit(self, peer: Peer, number: int) -> None:
        """Wait for a credit of ``peer``, handling messages meanwhile."""
        port = self.port
        if not peer.gone:
            port.mark(WINDOW_WAIT, BEGIN, number)
            port.waiting_for(f"credits from node {peer.number}")
            while peer.credits <= 0 and not peer.gone:
                await self._polling.spin()
            port.waiting_for("")
            port.mark(WINDOW_WAIT, END, number)
        if peer.gone:
            raise self._settling.lost(peer)


def _peer(node: Node, way: Injection, number: int) -> Peer:
    """The state that ``node`` keeps about node ``number``, with the headers of the packets to
    it."""
    am = node.description.am
    peer = Peer(number, am.request_window, am.reply_window, am.chunk_packets * am.chunks,
                am.retry_timeout, am.retries)
    peer.wire = tuple(way.header(number, beats * FLIT_BYTES - HEADER_BYTES) if beats > 2 else 0
                      for beats in range(wire.SMALL_BEATS + 1))
    peer.bulk_wire = way.header(number, wire.BULK_HEADER_BYTES, bulk=True)
    return peer
