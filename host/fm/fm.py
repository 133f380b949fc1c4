"""Fast Messages 1.1 on one node: the public calls, under their own names.

Handlers are ``async def h(fm, source, i0, i1, i2, i3)`` for FM_send_4 and ``h(fm, source, address,
size)`` for FM_send, or plain functions that return None. A call names a handler by the callable or
by its index in the handler table, which must have the same order on all nodes. They run in
FM_extract only, one after the other; they may send, but not extract. The bytes at ``address`` are
theirs until they return.

What is promised: each message is handled once. Messages between two nodes are handled in the order
in which they were sent unless one of them came back, which those behind it overtake then. There is
nothing about a network that loses packets (:mod:`.returning`).
"""

from collections.abc import Callable, Sequence
from typing import Any

from ...layouts.fm import FM_HEADER, FRAME_BYTES, FmKind
from ...layouts.trace import Activity
from ..port.node import Node
from ..port.suspension import check_given
from ..port.work import Charge
from .costs import Prices
from .frames import FmError, Frames, Packet
from .returning import BEGIN, BYTES, CONTROL, END, KIND, Returning

__all__ = ["Fm"]

REQUEST_SEND, REQUEST_HANDLE = int(Activity.REQUEST_SEND), int(Activity.REQUEST_HANDLE)
EMPTY_POLL = int(Activity.EMPTY_POLL)
HANDLER = FM_HEADER.offset("handler")
HANDLERS = 256
PLACES = 64
PATIENCE = 4000
"""Cycles without a message after which a node gives back the places of fewer than a quarter. Less,
and a receiver that is faster than the network answers each message with a packet."""

Handler = Callable[..., Any]


class Fm:
    """Fast Messages on ``node``, with the handler table ``handlers``.

    Parameters
    ----------
    reject_queue
        Packets that this node may have under way, and has room for should they come back. At most
        as many as leave room for all others' in every ring.
    receive_queue
        Messages that wait for FM_extract outside of the ring.

    Attributes
    ----------
    counters, again
        Of its packets (:class:`.frames.Frames`).
    places
        Packets that this node may have under way.
    """

    def __init__(self, node: Node, handlers: Sequence[Handler] = (), *,
                 reject_queue: int = PLACES, receive_queue: int = PLACES) -> None:
        self.node = node
        self.port = node.port
        self.memory = node.memory
        self._frames = frames = Frames(node)
        self._returning = Returning(frames, reject_queue, receive_queue)
        self.counters, self.again = frames.counters, frames.again
        self.places = self._returning.places
        if len(handlers) > HANDLERS:
            raise FmError(f"a handler table has {HANDLERS} entries, not {len(handlers)}")
        self._handlers = list(handlers)
        self._ready = False
        self._handling = False
        self._buffer = 0
        self._heard = 0
        prices = node.service(Prices)
        self._c_send_4, self._c_send = prices.send_4, prices.send
        self._c_extract = prices.extract
        self._c_handle_4, self._c_handle = prices.handle_4, prices.handle
        self._c_initialize = prices.initialize
        self._c_finalize = prices.finalize

    async def FM_initialize(self) -> None:
        """Start the firmware and the layer. This must be the first call."""
        if self._ready:
            raise FmError("FM_initialize was called twice")
        port = self.port
        port.mark(CONTROL, BEGIN, 0)
        port.spend(self._c_initialize)
        await self._returning.open()
        self._buffer = self.node.allocate(FRAME_BYTES)
        port.mark(CONTROL, END, 0)
        self._ready = True

    async def FM_send_4(self, dest: int, handler: int | Handler, i0: int, i1: int, i2: int,
                        i3: int) -> None:
        """Run ``handler`` at ``dest`` with four 32-bit words. If no place is free it waits for one
        and keeps arriving messages for FM_extract."""
        words = (i0, i1, i2, i3)
        if any(word < 0 or word >> 32 for word in words):
            raise ValueError(f"a message's words are unsigned, of 32 bits, not {list(words)}")
        await self._send(dest, handler, FmKind.WORDS,
                         b"".join(word.to_bytes(4, "little") for word in words), 16)

    async def FM_send(self, dest: int, handler: int | Handler, buf: int, size: int) -> None:
        """Run ``handler`` at ``dest`` with a copy of the ``size`` bytes at ``buf``, at most a
        frame's. The program may reuse the buffer at once."""
        if not 0 <= size <= FRAME_BYTES:
            raise FmError(f"FM_send: a frame has 0 to {FRAME_BYTES} bytes, not {size}")
        if buf < 0 or buf + size > self.memory.size:
            raise FmError(f"FM_send: {size} bytes at {buf:#x} are not in the {self.memory.size} "
                          "bytes of memory")
        await self._send(dest, handler, FmKind.FRAME, None, size, buf)

    async def _send(self, dest: int, handler: int | Handler, kind: FmKind, payload: bytes | None,
                    size: int, buf: int = 0) -> None:
        port = self.port
        if not self._ready:
            raise FmError("FM_send before FM_initialize or after FM_finalize")
        if not 0 <= dest < self.node.nodes:
            raise FmError(f"node {dest}: there are nodes 0 to {self.node.nodes - 1}")
        index = self._index(handler)
        number = self.node.trace_number()
        port.mark(REQUEST_SEND, BEGIN, number)
        port.spend(self._c_send_4 if kind is FmKind.WORDS else self._c_send)
        await self._returning.claim(number)
        if payload is None:
            if size:
                port.work("load", -(-size // 8))
                await port.touch(buf, size)
            payload = self.memory.read(buf, size) + bytes(-size % 8)
        await self._frames.put(dest, kind | index << HANDLER | size << BYTES, payload, number)
        port.mark(REQUEST_SEND, END, number)

    async def FM_extract(self) -> int:
        """Run the handlers of all messages that have arrived; return their number."""
        port = self.port
        if self._handling:
            raise FmError("FM_extract in a handler")
        if not self._ready:
            raise FmError("FM_extract before FM_initialize or after FM_finalize")
        returning = self._returning
        count = 0
        path: Charge | None = self._c_extract
        while True:
            begin = port.mark(EMPTY_POLL, BEGIN, 0)
            if path is not None:
                port.spend(path)
                path = None
            if returning.received:
                packet, at = returning.received.popleft()
                await self._handle(begin, packet, at)
                count += 1
            elif await self._frames.check():
                count += await self._handle_next(begin)
            else:
                port.mark(EMPTY_POLL, END, 0)
                break
        if count:
            self._heard = port.cycle
        # While messages come, the places of a quarter are given back by one packet.
        await returning.pay(1 if port.cycle - self._heard >= PATIENCE else returning.quarter)
        await returning.send_again()
        return count

    async def extract_until(self, condition: Callable[[], Any]) -> None:
        """Call FM_extract until ``condition()`` is true. The condition is evaluated after each
        round; between rounds the CPU spins in the target."""
        port, returning = self.port, self._returning
        outer = port.waiting_text
        while not condition():
            if await self.FM_extract() or condition():
                continue
            port.waiting_for(outer or "its condition, in FM_extract")
            port.mark(EMPTY_POLL, BEGIN, 0)
            until = [returning.again_at] if returning.rejected else []
            if any(self._frames.owed):
                until.append(self._heard + PATIENCE)
            await self._frames.check(max(1, min(until) - port.cycle) if until else 0)
            port.mark(EMPTY_POLL, END, 0)
            port.waiting_for(outer)

    async def FM_finalize(self) -> None:
        """End when everything that this node sent has been accepted. Messages to this node that
        were not extracted before this call are discarded."""
        if not self._ready or self._handling:
            raise FmError("FM_finalize before FM_initialize, or in a handler")
        port, returning = self.port, self._returning
        port.spend(self._c_finalize)
        port.waiting_for("its packets to be accepted, in FM_finalize")
        await returning.pay(1)
        while returning.under_way:
            returning.received.clear()
            await returning.wait()
        await returning.pay(1)
        await port.flush()
        port.waiting_for("")
        self._ready = False

    # Helpers

    async def _handle_next(self, begin: list[int]) -> int:
        """Handle the packet at the ring's head; how many messages that were."""
        port, frames = self.port, self._frames
        number = frames.number()
        begin[1], begin[3] = CONTROL, number
        found = await self._returning.arrived()
        if found is None:
            port.mark(CONTROL, END, number)
            return 0
        packet, size = found
        at = self._buffer
        if packet.header & KIND == FmKind.FRAME:
            await frames.copied(size, at)
            await port.flush()
            self.memory.write(at, packet.payload)
        else:
            await port.room(1)
            port.put_touch(frames.slots.slot + 32, 8)
        frames.owed[packet.node] += 1
        await frames.advance()
        await self._handle(begin, packet, at)
        return 1

    async def _handle(self, begin: list[int], packet: Packet, at: int) -> None:
        """Run the handler of a message whose bytes are at ``at``."""
        port = self.port
        begin[1], begin[3] = REQUEST_HANDLE, packet.number
        index, size = packet.header >> HANDLER & 255, packet.header >> BYTES & 255
        if index >= len(self._handlers):
            me = self.node.number
            raise FmError(f"node {packet.node} sent node {me} a message for handler {index}: there "
                          f"are {len(self._handlers)} in node {me}'s table; it has the same order "
                          "on all nodes")
        function = self._handlers[index]
        self._handling = True
        if packet.header & KIND == FmKind.WORDS:
            port.spend(self._c_handle_4)
            words = [int.from_bytes(packet.payload[at:at + 4], "little") for at in (0, 4, 8, 12)]
            result = function(self, packet.node, *words)
        else:
            port.spend(self._c_handle)
            result = function(self, packet.node, at, size)
        if result is not None:
            try:
                await result
            except TypeError:
                check_given(function, result)
                raise
        self._handling = False
        port.mark(REQUEST_HANDLE, END, packet.number)

    def _index(self, handler: int | Handler) -> int:
        if isinstance(handler, int):
            if not 0 <= handler < HANDLERS:
                raise FmError(f"handler {handler}: an index is 0 to {HANDLERS - 1}")
            return handler
        try:
            return self._handlers.index(handler)
        except ValueError:
            raise FmError(f"{getattr(handler, '__name__', handler)!r} is not in the handler table: "
                          "it has the same order on all nodes") from None
