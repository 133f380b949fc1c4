"""A way of messages: the queues in shared memory, or the NICs."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from ...layouts.am2 import Status
from ..port.port import Watch
from .control_block import ControlBlock
from .endpoint_name import EndpointName
from .packets import Arrived, Packet

__all__ = ["Deliver", "Poll", "Way"]

Deliver = Callable[[ControlBlock, Arrived], Awaitable[None]]
"""Handles a message; when it has ended, its slot and its data are free."""
Poll = Callable[[], Awaitable[Any]]
"""Polls the bundle of the endpoint that waits."""


class Way(Protocol):
    """A way of messages of one process. What it delivers is in order for each sender and receiver,
    and exactly once."""

    async def open(self, endpoint: ControlBlock) -> bool:
        """Give the endpoint its part of this way. False: there is no room."""
        ...

    async def close(self, endpoint: ControlBlock) -> None:
        """Take it back. What comes later is returned to its sender, BADENDPOINT."""
        ...

    def reaches(self, name: EndpointName) -> bool:
        """Tells whether messages to ``name`` can go this way."""
        ...

    async def route(self, endpoint: ControlBlock, name: EndpointName) -> Any:
        """Map ``name``; return what the translation keeps."""
        ...

    async def retag(self, endpoint: ControlBlock) -> None:
        """The endpoint's tag has changed: those that check it elsewhere must know."""
        ...

    async def request(self, endpoint: ControlBlock, route: Any, packet: Packet, poll: Poll,
                      wait: bool) -> Status:
        """Send a request. Without room back off and ``poll`` until there is some, or, unless
        ``wait``, return AM_ERR_NOT_SENT. A message that the receiver will not take may be delivered
        here at once, as one that comes back."""
        ...

    async def reply(self, endpoint: ControlBlock, back: Any, packet: Packet) -> None:
        """Send a reply, or a message back. It never waits for another process: what finds no room
        is kept, and goes in a later poll."""
        ...

    async def poll(self, endpoint: ControlBlock, most: int) -> int:
        """Send replies that were kept; take up to ``most`` messages, and return how many there
        were."""
        ...

    def watches(self, endpoint: ControlBlock) -> list[Watch]:
        """The words in memory that say that a message has come; none if they are not in memory."""
        ...

    async def sleep(self, endpoints: Sequence[ControlBlock], timeout: int) -> bool:
        """Give up the CPU until one of the ``endpoints`` has a message, or for ``timeout`` cycles
        (0: no limit); return whether one has. Only where messages are told of by interrupts."""
        ...

    def kept(self, endpoint: ControlBlock) -> int:
        """The number of replies that have found no room yet."""
        ...

    async def end(self, endpoint: ControlBlock) -> None:
        """The process has ended without closing the endpoint: the kernel sees to it that nobody
        waits for it in vain. Messages to it are returned, UNREACHABLE."""
        ...
