"""Joins the channel within a node and the channel to other nodes: it looks at both, so that neither
is left out, and waits by one poll of the words of both."""

from ...port.node import Node
from ..progress.channel import SHARE, Arrived, Channel

__all__ = ["Both"]


class Both:
    """Looks at two channels, ``near`` and ``far``. Only ``far`` has a time by which it must be
    looked at."""

    def __init__(self, node: Node, near: Channel, far: Channel) -> None:
        self._port = node.port
        self._near = near
        self._far = far
        self._far_first = False
        self._left = [SHARE, SHARE]

    async def look(self) -> Arrived | None:
        """A packet of either, if there is one, first of the near channel. After SHARE packets of a
        channel it is not looked at until the look has ended: this has given None, or SHARE packets
        of each."""
        for turn, channel in enumerate((self._near, self._far)):
            if self._left[turn]:
                packet = await channel.look()
                if packet is not None:
                    self._left[turn] -= 1
                    if not any(self._left):
                        self._left = [SHARE, SHARE]
                    return packet
        self._left = [SHARE, SHARE]
        return None

    async def wait(self) -> Arrived | None:
        """Wait until one of them has something; a packet, if it is one. If both have, they take
        turns."""
        near, far = self._near.awaits(), self._far.awaits()
        self._far_first = far_first = not self._far_first
        if near is None or far is None:
            one, other = (self._far, self._near) if far_first else (self._near, self._far)
            return await one.look() or await other.look()
        words, limit = far
        found = await self._port.poll(words + near[0] if far_first else near[0] + words, limit)
        first = len(words) if far_first else len(near[0])
        if found.timed_out or (found.watch < first) is far_first:
            return await self._far.look()
        return await self._near.look()
