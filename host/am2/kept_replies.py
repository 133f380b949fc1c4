"""Replies that have found no room: they are kept, and go in a later poll."""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from ...layouts.am2 import LONG
from ...layouts.trace import BEGIN, END, Activity
from ..port.node import Node
from .copying import Copying
from .costs import Prices
from .packets import BULK, Packet

__all__ = ["Kept", "KeptReplies"]

REPLY_SEND = int(Activity.REPLY_SEND)

Kept = deque[tuple[Any, Packet]]
"""Where each goes, and the reply, oldest first: those of an endpoint, by one way."""
Send = Callable[[Any, Packet], Awaitable[bool]]
"""Sends a reply, or a message back. False: there is no room for it now."""


class KeptReplies:
    """Sends replies in their order, and keeps what finds no room, for the process on ``node``. Its
    data are copied to private memory: their place is the handler's."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._port = node.port
        self._copying = node.service(Copying)
        self._aside: list[int] = []
        """Private memory that is free."""
        self._c_keep = node.service(Prices).keep

    async def reply(self, kept: Kept, send: Send, back: Any, packet: Packet) -> None:
        """Send a reply to ``back``, unless others are ``kept``; else keep it, too."""
        if not kept and await send(back, packet):
            return
        self._port.spend(self._c_keep)
        if _has_data(packet):
            aside = self._aside.pop() if self._aside else self._node.allocate(LONG)
            await self._copying.copy(packet.source, aside, packet.length, packet.trace)
            packet.source = aside
        kept.append((back, packet))

    async def send(self, kept: Kept, send: Send) -> bool:
        """Send those that are ``kept``, as far as there is room; whether none is left."""
        while kept:
            back, packet = kept[0]
            self._port.mark(REPLY_SEND, BEGIN, packet.trace)
            sent = await send(back, packet)
            self._port.mark(REPLY_SEND, END, packet.trace)
            if not sent:
                return False
            kept.popleft()
            if _has_data(packet):
                self._aside.append(packet.source)
        return True


def _has_data(packet: Packet) -> bool:
    return packet.opcode in BULK and packet.length > 0 and not packet.returned
