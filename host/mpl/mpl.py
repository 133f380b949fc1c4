"""MPL on one node: the public calls, under their own names.

Messages have a type, and a receive asks for a source and a type, or for any (``DONTCARE``). Between
two nodes they are matched in the order in which they were sent. A message that arrives before its
receive is kept.

- Up to 8 bytes come as words of a request.
- Up to ``mpl.eager_bytes`` are stored into one of the eager buffers that the receiver has for each
  sender, and copied from there to the user's buffer. Buffers are returned by a request, half of
  them at a time. Without a free one the message goes as a long one.
- Longer ones are announced. The receiver asks for the data once there is a receive, and they are
  stored straight to the user's buffer.

Handlers of Active Messages may not send requests, so what follows from a message is sent by the
call that handled it. MPL sees to messages only inside its calls.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...layouts.trace import BEGIN, END, Activity
from ..am import Gam
from ..port.node import Node
from .costs import Prices
from .matching import DONTCARE, Envelope, Matching, MplError, Receive, Status, Way
from .peers import NUMBERS, SLOTS, Peer

__all__ = ["Mpl"]

WORDS_BYTES = 8
TYPES = 1 << 24
"""Types are smaller; the message's number is above them in a word."""
POST_SEND, POST_RECEIVE = int(Activity.POST_SEND), int(Activity.POST_RECEIVE)
WORDS, EAGER, ASK, GO, LANDED, FREED, BASE = range(7)


@dataclass(eq=False, slots=True)
class _Send:
    """A send; ``order`` is its number among the messages to its node."""

    number: int
    buffer: int
    status: Status
    order: int
    done: bool = False


class Mpl:
    """MPL on ``node``. All nodes must have the same ``mpl.eager_bytes``.

    Attributes
    ----------
    am
        The Active Messages below.
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self.port = port = node.port
        self.memory = node.memory
        self.am = Gam(node, [self._words, self._eager, self._ask, self._go, self._landed,
                             self._freed, self._base])
        settings = node.description.mpl
        self._eager_bytes = settings.eager_bytes
        self._stride = -(-settings.eager_bytes // 64) * 64
        self._slots = 0
        self._peers = [Peer() for _ in range(node.nodes)]
        self._matching = Matching(lambda: port.spend(self._c_search))
        self._sends: dict[int, _Send] = {}
        self._receives: dict[int, Receive] = {}
        self._number = 0
        self._due: deque[tuple[Callable[..., Any], tuple[Any, ...]]] = deque()
        """Calls of Active Messages that follow from handled messages."""
        prices = node.service(Prices)
        self._c_send = prices.send
        self._c_receive = prices.receive
        self._c_arrived = prices.arrived
        self._c_search = prices.search
        self._c_keep = prices.keep
        self._c_deliver = prices.deliver
        self._c_go = prices.go
        self._c_sent = prices.sent
        self._c_wait = prices.wait
        self._c_status = prices.polled
        self._c_query = prices.query
        self._c_enable = prices.enable
        self._c_enable_peer = prices.enable_peer

    async def enable(self) -> None:
        """Start the layer. This must be the first call."""
        self.port.spend(self._c_enable)
        self._slots = self.node.allocate(self.node.nodes * SLOTS * self._stride, 64)
        await self.am.enable()
        for number in self.node.active:
            self.port.spend(self._c_enable_peer)
            await self.am.request(number, BASE, self._slots + number * SLOTS * self._stride)

    async def disable(self) -> None:
        """Finish all sends, and serve the other nodes until they have called this, too.

        Raises
        ------
        MplError
            A receive was not waited for.
        """
        if self._receives:
            raise MplError(f"disable: {len(self._receives)} receives of node {self.node.number} "
                           "were not waited for")
        await self._until(lambda: all(one.done for one in self._sends.values()),
                          "its sends to finish, in disable")
        await self.am.disable()

    # Calls

    def mp_environ(self) -> tuple[int, int]:
        """mp_environ: how many nodes there are, and this node's number."""
        self.port.spend(self._c_query)
        return self.node.nodes, self.node.number

    async def mp_bsend(self, buffer: int, nbytes: int, dest: int, type: int) -> None:
        """mp_bsend: send ``nbytes`` at ``buffer`` to node ``dest``. Returns when the buffer may be
        reused."""
        await self.mp_wait(await self.mp_send(buffer, nbytes, dest, type))

    async def mp_brecv(self, buffer: int, nbytes: int, source: int = DONTCARE,
                       type: int = DONTCARE) -> Status:
        """mp_brecv: receive a message of at most ``nbytes`` into ``buffer``; return what it was."""
        return await self.mp_wait(await self.mp_recv(buffer, nbytes, source, type))

    async def mp_send(self, buffer: int, nbytes: int, dest: int, type: int) -> int:
        """mp_send: begin to send; return the number to wait for."""
        if not 0 <= dest < self.node.nodes:
            raise MplError(f"mp_send: node {dest}: there are nodes 0 to {self.node.nodes - 1}")
        if not 0 <= type < TYPES:
            raise MplError(f"mp_send: type {type}: must be 0 to {TYPES - 1}")
        self._check("mp_send", buffer, nbytes)
        port, peer = self.port, self._peers[dest]
        port.mark(POST_SEND, BEGIN, 0)
        port.spend(self._c_send)
        if peer.full:
            await self._until(lambda: not peer.full, f"node {dest} to acknowledge a message")
        self._number += 1
        send = self._sends[self._number] = _Send(self._number, buffer, Status(dest, type, nbytes),
                                                 peer.next)
        tag = type | peer.next % NUMBERS * TYPES
        peer.next += 1
        if nbytes <= WORDS_BYTES:
            if nbytes:
                port.work("load", -(-nbytes // 8))
                await port.touch(buffer, nbytes)
            data = int.from_bytes(self.memory.read(buffer, nbytes), "little") if nbytes else 0
            send.done = True
            words = (tag, nbytes, data & 0xFFFF_FFFF, data >> 32)
            await self.am.request(dest, WORDS, *words[:2 + -(-nbytes // 4)])
        elif nbytes <= self._eager_bytes and peer.slots and peer.base is not None:
            slot = peer.slots.pop(0)
            peer.open.append(send.order)
            await self.am.store_async(dest, buffer, peer.base + slot * self._stride, nbytes, EAGER,
                                      tag, self._sent, send)
        else:
            await self.am.request(dest, ASK, tag, nbytes, send.number)
        port.mark(POST_SEND, END, 0)
        return send.number

    async def mp_recv(self, buffer: int, nbytes: int, source: int = DONTCARE,
                      type: int = DONTCARE) -> int:
        """mp_recv: post a receive; return the number to wait for."""
        if not DONTCARE <= source < self.node.nodes:
            raise MplError(f"mp_recv: node {source}: there are nodes 0 to {self.node.nodes - 1}, "
                           "and DONTCARE")
        if not DONTCARE <= type < TYPES:
            raise MplError(f"mp_recv: type {type}: must be 0 to {TYPES - 1}, or DONTCARE")
        self._check("mp_recv", buffer, nbytes)
        port = self.port
        port.mark(POST_RECEIVE, BEGIN, 0)
        port.spend(self._c_receive)
        self._number += 1
        receive = self._receives[self._number] = Receive(self._number, buffer, nbytes, source, type)
        envelope = self._matching.post(receive)
        if envelope is not None:
            await self._deliver(receive, envelope)
        port.mark(POST_RECEIVE, END, 0)
        await self._follow()
        return receive.number

    async def mp_status(self, number: int) -> bool:
        """mp_status: poll once; return whether the send or receive ``number`` has finished."""
        self.port.spend(self._c_status)
        finished = self._finished(number)
        await self.am.poll()
        await self._follow()
        return finished()

    async def mp_wait(self, number: int) -> Status:
        """mp_wait: wait for a send or receive to finish; return what it sent or got. Its number is
        then invalid."""
        finished = self._finished(number)
        await self._until(finished, f"message {number}, in mp_wait")
        self.port.spend(self._c_wait)
        if number in self._sends:
            return self._sends.pop(number).status
        status = self._receives.pop(number).status
        assert status is not None
        return status

    # What follows from messages

    def _finished(self, number: int) -> Callable[[], bool]:
        if number in self._sends:
            send = self._sends[number]
            return lambda: send.done
        if number not in self._receives:
            raise MplError(f"message {number}: there is none, or it was waited for")
        receive = self._receives[number]
        return lambda: receive.status is not None

    async def _until(self, condition: Callable[[], bool], what: str) -> None:
        outer = self.port.waiting_text
        while True:
            await self._follow()
            if condition():
                break
            self.port.waiting_for(what)
            await self.am.wait(lambda: condition() or self._due)
            self.port.waiting_for(outer)

    async def _follow(self) -> None:
        while self._due:
            call, arguments = self._due.popleft()
            self.port.spend(self._c_go)
            await call(*arguments)

    def _check(self, call: str, buffer: int, nbytes: int) -> None:
        if nbytes < 0 or buffer < 0 or buffer + nbytes > self.memory.size:
            raise MplError(f"{call}: {nbytes} bytes at {buffer:#x} are not in the "
                           f"{self.memory.size} bytes of memory")

    async def _deliver(self, receive: Receive, envelope: Envelope) -> None:
        """Give ``receive`` the message that it takes, or ask for its data."""
        port, (source, type, nbytes, way, at) = self.port, envelope
        port.spend(self._c_deliver)
        if nbytes > receive.length:
            raise MplError(f"node {source} sent node {self.node.number} {nbytes} bytes of type "
                           f"{type}, and the receive has room for {receive.length}")
        if way is Way.ASKED:
            receive.source, receive.type, receive.length = source, type, nbytes
            self._due.append((self.am.request, (source, GO, at, receive.number, receive.buffer)))
            return
        data = at.to_bytes(WORDS_BYTES, "little")[:nbytes]
        if way is Way.EAGER:
            slot = self._slots + (source * SLOTS + at) * self._stride
            await port.touch(slot, nbytes)
            data = self.memory.read(slot, nbytes)
            self._free(source, at)
        if nbytes:
            port.work("copy_word", -(-nbytes // 8))
            await port.touch(receive.buffer, nbytes, store=True)
            self.memory.write(receive.buffer, data)
        receive.status = Status(source, type, nbytes)

    def _free(self, source: int, slot: int) -> None:
        freed = self._peers[source].freed
        freed.append(slot)
        if len(freed) >= SLOTS // 2:
            mask = sum(1 << one for one in freed)
            freed.clear()
            self._due.append((self.am.request, (source, FREED, mask)))

    # Handlers

    async def _arrived(self, tag: int, envelope: Envelope) -> None:
        port = self.port
        port.spend(self._c_arrived)
        for ready in self._peers[envelope.source].in_order(tag // TYPES, envelope):
            receive = self._matching.arrived(ready)
            if receive is None:
                port.spend(self._c_keep)
            else:
                await self._deliver(receive, ready)

    def _words(self, am: Gam, source: int, tag: int, nbytes: int, *words: int) -> Any:
        data = sum(word << 32 * place for place, word in enumerate(words))
        return self._arrived(tag, Envelope(source, tag % TYPES, nbytes, Way.WORDS, data))

    def _eager(self, am: Gam, source: int, address: int, nbytes: int, tag: int) -> Any:
        slot = (address - self._slots) // self._stride - source * SLOTS
        return self._arrived(tag, Envelope(source, tag % TYPES, nbytes, Way.EAGER, slot))

    def _ask(self, am: Gam, source: int, tag: int, nbytes: int, number: int) -> Any:
        return self._arrived(tag, Envelope(source, tag % TYPES, nbytes, Way.ASKED, number))

    def _go(self, am: Gam, source: int, number: int, receive: int, address: int) -> None:
        """The receiver asks for message ``number``, for its receive."""
        send = self._sends[number]
        self._due.append((am.store_async, (source, send.buffer, address, send.status.nbytes, LANDED,
                                           receive, self._sent, send)))

    def _landed(self, am: Gam, source: int, address: int, nbytes: int, number: int) -> None:
        self.port.spend(self._c_sent)
        receive = self._receives[number]
        receive.status = Status(source, receive.type, nbytes)

    def _sent(self, am: Gam, send: _Send) -> None:
        """A store has been acknowledged."""
        self.port.spend(self._c_sent)
        send.done = True
        peer = self._peers[send.status.node]
        if send.order in peer.open:
            peer.open.remove(send.order)

    def _freed(self, am: Gam, source: int, mask: int) -> None:
        self.port.spend(self._c_sent)
        self._peers[source].slots += [slot for slot in range(SLOTS) if mask >> slot & 1]

    def _base(self, am: Gam, source: int, address: int) -> None:
        self._peers[source].base = address
