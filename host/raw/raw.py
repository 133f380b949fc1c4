"""Frames between programs, as the NIC has them."""

from collections.abc import Callable
from typing import Any

from ...layouts.trace import BEGIN, END, Activity
from ..nic.kinds import Frame, Frames
from ..port.node import Node

__all__ = ["Raw"]

REQUEST_SEND, REQUEST_HANDLE = int(Activity.REQUEST_SEND), int(Activity.REQUEST_HANDLE)
EMPTY_POLL, CONTROL = int(Activity.EMPTY_POLL), int(Activity.CONTROL)


class Raw:
    """Frames of ``node``, or of one of its NICs: ``Raw(node)``, ``Raw(node.nic(1))``. What is lost
    stays lost, and frames may overtake each other.

    Attributes
    ----------
    mtu
        Bytes of the longest frame.
    sent, received
        Frames so far.

    Raises
    ------
    RuntimeError
        The NIC has no driver of the kind Frames, or another CPU drives it.
    """

    def __init__(self, node: Node) -> None:
        node.drive_nic("raw frames")
        self.node = node
        self._port = node.port
        self._frames: Frames = node.nic_driver(Frames)
        self.mtu = self._frames.mtu
        self.sent = 0
        self.received = 0

    async def open(self) -> None:
        """The first call. Frames that come before it has returned are lost."""
        port = self._port
        port.mark(CONTROL, BEGIN, 0)
        await self._frames.open()
        port.mark(CONTROL, END, 0)

    async def room(self) -> bool:
        """Tells whether :meth:`send` would take a frame at once."""
        return await self._frames.room()

    async def send(self, peer: int, address: int, length: int) -> None:
        """Send the ``length`` bytes (1 to ``mtu``) at ``address`` to ``peer``
        (``node.address_on(number)``). They must stay as they are until :meth:`drain` has
        returned."""
        port = self._port
        begin = port.mark(REQUEST_SEND, BEGIN, 0)
        number = await self._frames.send(peer, address, length)
        self.sent += 1
        port.finish(begin, REQUEST_SEND, number)

    async def drain(self) -> None:
        """Wait until the bytes of no frame are needed any more."""
        await self._frames.drain()

    async def poll(self, handle: Callable[[Frame], Any]) -> bool:
        """Take the next frame, if one has come, and call ``handle(frame)``; whether one had. Its
        bytes are at ``frame.address`` until ``handle`` returns."""
        port, frames = self._port, self._frames
        begin = port.mark(EMPTY_POLL, BEGIN, 0)
        frame = await frames.poll()
        if frame is None:
            port.mark(EMPTY_POLL, END, 0)
            return False
        self.received += 1
        found = handle(frame)
        if found is not None:
            await found
        await frames.release(frame)
        # The look has found one: it was the handling's.
        port.finish(begin, REQUEST_HANDLE, frame.trace)
        return True

    async def wait(self, condition: Callable[[], Any], handle: Callable[[Frame], Any]) -> None:
        """Take frames, each as :meth:`poll` does, until ``condition()`` is true; it is evaluated
        after each."""
        port, outer = self._port, self._port.waiting_text
        port.waiting_for(outer or "its condition, in raw.wait")
        while not condition():
            if not await self.poll(handle):
                port.mark(EMPTY_POLL, BEGIN, 0)
                await self._frames.wait()
                port.mark(EMPTY_POLL, END, 0)
        port.waiting_for(outer)

    async def lost(self) -> int:
        """Frames that were lost here: that the NIC has dropped, as far as it counts them."""
        return await self._frames.dropped()

    async def close(self) -> None:
        """Wait until all frames have left host memory; the last call."""
        await self._frames.close()
