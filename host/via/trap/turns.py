"""Kernel-trap design point: chooses the VI that sends next, and tells whether it may send."""

from ....layouts.rings import INLINE_BYTES
from ....layouts.via import Operation, ViState
from .ends import End, Job, Message
from .messages import Messages
from .packets import Packets
from .trap_context import TrapContext

__all__ = ["Turns"]

RDMA_READ = int(Operation.RDMA_READ)
CONNECTED = ViState.CONNECTED


class Turns:
    """A VI sends as much as its window (``via.window``), the kernel's buffers and the send ring
    allow. The rest waits in its queue until the kernel is entered again with an acknowledgement or
    with room. VIs that wait for room send one packet each in turn, after owed
    acknowledgements."""

    def __init__(self, context: TrapContext, packets: Packets, messages: Messages) -> None:
        self._window = context.node.description.via.window
        self._ring = context.ring
        self._packets = packets
        self._messages = messages

    async def turn(self, end: End) -> None:
        """Send the packets of ``end``, as far as it may, after the ends that wait for room."""
        if self._packets.starved:
            self._packets.starve(end)
            await self.feed()
            return
        while await self._send_one(end):
            pass

    async def _send_one(self, end: End) -> bool:
        """Send ``end``'s next packet, if it has one and may send; return whether it did. Without
        room the end is starved from now on."""
        while end.state is CONNECTED:
            if end.reliable and len(end.slots) >= self._window:
                return False
            job, message = end.job, end.message
            if job is None:
                if end.reading is not None:
                    return False
                if message is None:
                    message = await self._messages.next(end)
                    if message is None:
                        return False
                if message.error is not None:
                    end.message = None
                    end.unfinished.append(message)
                    await self._messages.finish(end)
                    continue
                if message.descriptor.operation == RDMA_READ and end.unfinished:
                    return False
            if not await self._has_room(end, job, message):
                return False
            if job is not None:
                await self._messages.respond(end, job)
            elif message is not None and message.descriptor.operation == RDMA_READ:
                await self._messages.request(end, message)
            elif message is not None:
                await self._messages.cut(end, message)
            return True
        return False

    async def _has_room(self, end: End, job: Job | None, message: Message | None) -> bool:
        """Whether the next packet has room in the ring and, if it needs one, a buffer."""
        ring = self._ring
        if ring.posted - ring.done < ring.size or await ring.room():
            left = 0
            if job is not None:
                left = job.left
            elif message is not None and message.descriptor.operation != RDMA_READ:
                left = message.descriptor.length - message.walk.bytes
            if left <= INLINE_BYTES - 16 or await ring.available():
                return True
        self._packets.starve(end)
        return False

    async def feed(self) -> None:
        """Serve the starved ends: owed acknowledgements, and one packet of each in turn, as long as
        there is room. An end that lacks a buffer does not delay ends that need none."""
        starved, without = self._packets.starved, 0
        while without < len(starved) and await self._ring.room():
            end = starved.popleft()
            end.starved = False
            if end.owes is not None:
                await self._packets.pay(end)
            if await self._send_one(end):
                self._packets.starve(end)
                without = 0
            elif end.starved:
                without += 1
