"""One side of an exchange of messages, with the same interface on every layer. Benchmarks use it,
and so may programs that should run over any layer.

An :class:`Exchange` is what all sides know beforehand. An :class:`Endpoint` is one side of it: each
layer has its own in ``host/<layer>/endpoint.py``, and says in class attributes what it can do.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from ..layouts.errors import UserError

if TYPE_CHECKING:
    from ..layouts.description import Description
    from .port.node import Node

__all__ = ["Endpoint", "EndpointError", "Exchange", "Flow", "Spin", "needs_no_loss"]

Flow = tuple[int, int, int]
"""From node, to node, number of the stream between them."""

Spin = Callable[[Callable[[], Any] | None], Any]
"""``await spin(condition)`` takes what comes until the condition is true; without one, once."""


class EndpointError(UserError):
    """An exchange that a layer cannot carry, or a call of the layer that failed: one line."""

    def __init__(self, text: str) -> None:
        super().__init__(text, status=1)


@dataclass(frozen=True)
class Exchange:
    """The properties of an exchange that all its sides know beforehand.

    Attributes
    ----------
    size
        Bytes of each message; 0: requests alone.
    count
        Messages from each node to each of its peers, on each stream. 0: not known beforehand; then
        nodes 0 and 1 exchange messages, of which few are under way at a time unless the layer
        itself holds the sender back.
    ways
        The nodes to which each node sends.
    streams
        Streams from each node to each of its peers: VIs, say. 1 with layers that have none.
    crowd
        A receiver's buffers are shared out as if at least so many sent to it, so that exchanges
        with fewer senders cost a message as many credits.
    open
        Most transfers that a node has begun and that are not over; 0: any number.
    """

    size: int = 4
    count: int = 0
    ways: Mapping[int, Sequence[int]] = field(default_factory=lambda: {0: (1,), 1: (0,)})
    streams: int = 1
    crowd: int = 1
    open: int = 0

    @property
    def nodes(self) -> list[int]:
        """The nodes that take part."""
        return sorted({*self.ways, *(peer for peers in self.ways.values() for peer in peers)})

    def to(self, node: int) -> Sequence[int]:
        """Whom ``node`` sends to, in order."""
        return self.ways.get(node, ())

    def of(self, node: int) -> list[int]:
        """The nodes that send to ``node``."""
        return [one for one in self.nodes if node in self.to(one)]

    def expected(self, node: int) -> int:
        """Messages that come to ``node``."""
        return len(self.of(node)) * self.count * self.streams


def _nothing(*_: Any) -> None:
    pass


def needs_no_loss(description: "Description", name: str) -> Iterator[str]:
    """A line if ``description`` loses packets, or brings them twice, which layer ``name`` does
    nothing about: the rule of an exchange whose messages are counted."""
    for fault in ("drop", "corrupt", "duplicate"):
        if probability := getattr(description.faults, fault):
            yield (f"faults.{fault} = {probability}: {name} sends nothing again: what the network "
                   "loses is lost, and what it brings twice is handled twice; a benchmark would "
                   "never end. A program of your own, by nicbed run, may count what arrives")


class Endpoint:
    """A node's side of ``exchange`` over one layer, or a process'. Nodes, and processes, are named
    by their numbers.

    A layer overrides what differs from the defaults here: at least :meth:`open`, :meth:`send`,
    :meth:`close`, and :meth:`poll` or :meth:`receive` (:attr:`crowds` needs :meth:`poll`); if
    :attr:`replies`, :meth:`request`, :meth:`dismiss`, :meth:`serve` and :meth:`wait`. It counts in
    :attr:`received` and calls :attr:`on_message` for each message at the moment at which the
    program has it, and :attr:`on_send` at the moment at which the sending of one begins.

    Attributes
    ----------
    replies
        Requests have replies: :meth:`request`, :meth:`dismiss` and :meth:`serve` exist.
    messages
        Nodes 0 and 1 can exchange messages of ``exchange.size`` bytes whose number is not known
        beforehand (``exchange.count`` = 0).
    crowds
        Any number of nodes can exchange messages whose number is known beforehand.
    lossy
        The layer sends nothing again: what the network loses is lost.
    traced
        Its messages, marks and echoes can be found in the trace, so that a round trip can be split
        into what the CPUs do and the stages of the flights.
    lot
        Messages of a sender that arrive in a row where several send to one, because so many of its
        places come back at once.
    received
        Messages that have arrived.
    replied
        Replies that have arrived.
    on_send
        ``on_send(peer, stream)``, when the sending of a message begins.
    on_message
        ``on_message(source, stream)``, when the program has a message.
    on_reply
        ``on_reply()``, when the program has a reply.
    """

    replies: ClassVar[bool] = False
    messages: ClassVar[bool] = True
    crowds: ClassVar[bool] = False
    lossy: ClassVar[bool] = False
    traced: ClassVar[bool] = True
    lot: ClassVar[int] = 1

    def __init__(self, node: "Node", exchange: Exchange) -> None:
        self.node = node
        self.exchange = exchange
        self.received: int = 0
        self.replied: int = 0
        self.on_send: Callable[[int, int], None] = _nothing
        self.on_message: Callable[[int, int], None] = _nothing
        self.on_reply: Callable[[], None] = _nothing

    @classmethod
    def largest(cls, description: "Description") -> int | None:
        """Bytes of the largest message that :meth:`send` takes under ``description``; None: no
        limit but memory."""
        return None

    @property
    def number(self) -> int:
        """Its number in the exchange: its node's, unless the layer counts processes."""
        return self.node.home

    async def open(self) -> None:
        """Open the layer; the first call. Messages may come from here on."""
        raise NotImplementedError(f"{type(self).__name__} has no open()")

    async def send(self, peer: int, stream: int = 0) -> None:
        """Send one message of ``exchange.size`` bytes to node ``peer``. Wait where the layer has no
        room; return when the layer has the message."""
        raise NotImplementedError(f"{type(self).__name__} has no send()")

    async def answer(self, peer: int) -> None:
        """Tell node ``peer``, in the shortest message that the layer has, that a stream has
        arrived. It counts there as a message unless :meth:`answered` says otherwise."""
        await self.send(peer)

    async def request(self, peer: int, *words: int) -> None:
        """Send a request of up to four 32-bit words, whose reply brings the same words back. Wait
        where the layer has no room for it, not for the reply."""
        raise NotImplementedError(f"{type(self).__name__} has no request()")

    async def dismiss(self, peer: int) -> None:
        """Tell node ``peer`` that no more requests come from here."""
        raise NotImplementedError(f"{type(self).__name__} has no dismiss()")

    async def serve(self, requesters: int) -> None:
        """Reply to requests until so many nodes have called :meth:`dismiss`."""
        raise NotImplementedError(f"{type(self).__name__} has no serve()")

    async def poll(self) -> None:
        """Take what has come, without waiting."""
        raise NotImplementedError(f"{type(self).__name__} has no poll()")

    async def wait(self, condition: Callable[[], Any]) -> None:
        """Take what comes until ``condition`` is true."""
        while not condition():
            await self.poll()

    async def receive(self, messages: int) -> None:
        """Wait until ``messages`` have arrived in total, and take them."""
        await self.wait(lambda: self.received >= messages)

    async def answered(self, times: int) -> None:
        """Wait until the other node has answered ``times`` in total."""
        await self.receive(times)

    def over(self) -> bool:
        """Tells whether all that ``exchange`` brings has come, and all that was sent is over, as
        far as calls have seen it."""
        return self.received >= self.exchange.expected(self.number)

    async def finish(self) -> None:
        """Wait until it is over."""
        await self.wait(self.over)

    async def compute(self, cycles: int) -> None:
        """Compute for ``cycles``."""
        await self.node.port.delay(cycles)

    async def idle(self, cycles: int) -> None:
        """Compute for ``cycles``, and do what the layer wants done meanwhile."""
        await self.node.port.delay(cycles)
        await self.poll()

    async def leave(self, spin: Spin) -> None:
        """The first step of :meth:`close` where the CPU serves other endpoints by ``spin``."""

    async def close(self, spin: Spin | None = None) -> None:
        """Wait until all that was sent has arrived, then close the layer; the last call. ``spin``:
        serves the CPU's other endpoints meanwhile."""
