"""Progress: packets that go, and packets that come, each handled by its kind.

Nothing happens outside calls of the layer. A call that waits handles whatever arrives meanwhile,
for all requests. A packet that its channel cannot take yet waits in a queue of its destination, so
that packets never overtake each other.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ....layouts.trace import BEGIN, END, Activity
from ...port.port import Port
from ...port.suspension import NOTHING
from ..collective.nonblocking import Task, aside
from ..costs import Prices
from ..data.copies import Pieces
from ..point_to_point.requests import Request
from .channel import SHARE, Arrived, Channel
from .packets import Header, parse
from .standstill import Standstill

__all__ = ["Progress"]

CHANNEL, WAITING = int(Activity.CHANNEL), int(Activity.WAITING)
MOST = 2 * SHARE
"""Most packets that a look takes from a channel that is alone, as from two together."""

Later = tuple[bytes, Pieces, Callable[[], Any] | None]


class _Condition:
    """Done if ``holds()``: what is awaited like a request."""

    __slots__ = ("_holds",)

    def __init__(self, holds: Callable[[], Any]) -> None:
        self._holds = holds

    @property
    def done(self) -> Any:
        return self._holds()


class Progress:
    """Sends packets to ranks and handles those that arrive.

    Parameters
    ----------
    port, rank
        The CPU, and this process's rank among all.
    channels
        All channels, each once; a call that waits does so at the first.
    to
        The channel of each rank.
    """

    def __init__(self, port: Port, rank: int, channels: Sequence[Channel],
                 to: Sequence[Channel], prices: Prices, world: Standstill) -> None:
        self._port = port
        self._rank = rank
        self._channels = channels
        self._aside = channels[1:]
        self.to = to
        """The channel to each rank."""
        self._prices = prices
        self._world = world
        self._later: dict[int, deque[Later]] = {}
        self.tasks: list[Task] = []
        """Calls that have only begun."""
        self._stepping = False
        self._handlers: Mapping[int, Callable[[Arrived, Header], Awaitable[None]]] = {}

    def handle_by(self, handlers: Mapping[int, Callable[[Arrived, Header], Awaitable[None]]]
                  ) -> None:
        """Sets what handles each kind of packet."""
        self._handlers = handlers

    # Packets that go

    @property
    def sent_all(self) -> bool:
        """Tells whether no packet waits for its channel."""
        return not self._later

    def generous(self, rank: int) -> bool:
        """Tells whether a message may go to ``rank`` with its data at once, by :meth:`send`."""
        return (not self._later or not self._later.get(rank)) and self.to[rank].generous(rank)

    def packet(self, rank: int, header: bytes, pieces: Pieces = (),
               left: Callable[[], Any] | None = None) -> Awaitable[None]:
        """Send a packet to ``rank``, or keep it until it can go. ``left`` is called when ``pieces``
        may be changed."""
        if self._later and self._later.get(rank) or not self.to[rank].ready(rank):
            self._port.spend(self._prices.later)
            self._later.setdefault(rank, deque()).append((header, pieces, left))
            return NOTHING
        return self.send(rank, header, pieces, left)

    async def send(self, rank: int, header: bytes, pieces: Pieces,
                   left: Callable[[], Any] | None) -> None:
        """The same, where no other packet waits and the channel is ready."""
        self._port.spend(self._prices.packet)
        self._world.under_way[rank] += 1
        sending = self.to[rank].send(rank, header, pieces)
        await self._port.marked(CHANNEL, sending)
        if left is not None:
            left()

    async def write(self, rank: int, pieces: Pieces, handles: list[int], address: int, handle: int,
                    done: Callable[[], Any]) -> None:
        """Write memory of ``rank``."""
        self._world.under_way[self._rank] += 1
        await self._port.marked(CHANNEL, self.to[rank].write(rank, pieces, handles, address, handle,
                                                                self._ended(done)))

    async def read(self, rank: int, pieces: Pieces, handles: list[int], address: int, handle: int,
                   done: Callable[[], Any]) -> None:
        """Read memory of ``rank``."""
        self._world.under_way[self._rank] += 1
        await self._port.marked(CHANNEL, self.to[rank].read(rank, pieces, handles, address, handle,
                                                               self._ended(done)))

    def _ended(self, done: Callable[[], Any]) -> Callable[[], Any]:
        """Something is under way to this process until ``done()``, which may take time, has
        ended: meanwhile others must not find that nothing will ever happen."""
        async def ended() -> None:
            result = done()
            if result is not None and hasattr(result, "__await__"):
                await result
            self._world.under_way[self._rank] -= 1
        return ended

    async def _send_later(self) -> None:
        for rank, later in list(self._later.items()):
            channel = self.to[rank]
            while later and channel.ready(rank):
                await self.send(rank, *later.popleft())
            if not later:
                del self._later[rank]

    # Packets that come

    async def look(self) -> None:
        """Handle what has arrived: one look at each channel, and another wherever something
        was, up to MOST packets of each. Processes that send as fast as this one receives must not
        keep it from its program."""
        self._port.spend(self._prices.look)
        for channel in self._channels:
            left = MOST
            while left and (packet := await self._port.marked(CHANNEL, channel.look())) is not None:
                await self._handle(packet)
                left -= 1
        if self._later:
            await self._send_later()
        if self.tasks and not self._stepping:
            await self._go_on()

    def until(self, condition: Callable[[], Any], what: Callable[[], str]) -> Awaitable[None]:
        """Handle what arrives until ``condition()`` holds (:meth:`until_done`)."""
        return self.until_done(_Condition(condition), what)

    async def until_done(self, awaited: "Request | _Condition", what: Callable[[], str]) -> None:
        """Handle what arrives until ``awaited`` is done, of which ``what`` tells in words.

        Raises
        ------
        MpiError
            It never will.
        """
        if self._stepping:
            while not awaited.done:
                await aside(partial(getattr, awaited, "done"), what)
            return
        port, world = self._port, self._world
        if self._later:
            await self._send_later()
        if self.tasks:
            await self._go_on()
        while not awaited.done:
            packet = None
            for channel in self._aside:
                packet = await port.marked(CHANNEL, channel.look())
                if packet is not None:
                    break
            if packet is None:
                # Else it will have credits, by packets only channels know.
                if not self._later or world.has_ended(self._later):
                    world.wait(self._rank, what)
                port.waiting_text = what
                port.mark(WAITING, BEGIN, 0)
                packet = await self._channels[0].wait()
                port.mark(WAITING, END, 0)
                port.waiting_text = ""
                world.waiting.pop(self._rank, None)
            if packet is not None:
                await self._handle(packet)
            if self._later:
                await self._send_later()
            if self.tasks:
                await self._go_on()

    # Calls that have only begun

    async def start(self, task: Task) -> None:
        """Begin ``task``."""
        self.tasks.append(task)
        await self._step(task)

    async def _go_on(self) -> None:
        """Go on with tasks until all wait for what has not come."""
        while (task := next((one for one in self.tasks if one.ready), None)) is not None:
            await self._step(task)

    async def _step(self, task: Task) -> None:
        self._port.spend(self._prices.task)
        self._stepping = True
        try:
            await task.step()
        finally:
            self._stepping = False
            if task.done:
                self.tasks.remove(task)

    async def _handle(self, packet: Arrived) -> None:
        self._world.under_way[self._rank] -= 1
        self._port.spend(self._prices.arrived)
        header = parse(packet.header)
        handler = self._handlers.get(header.kind)
        if handler is not None:
            await handler(packet, header)
        released = packet.release()
        await self._port.marked(CHANNEL, released)
