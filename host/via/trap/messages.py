"""Kernel-trap design point: cuts messages into packets, and completes them in posting order."""

from ....layouts.via import (
    ADDRESS,
    HANDLE_BITS,
    VA_BITS,
    BreakCode,
    Control,
    Event,
    Operation,
    PacketKind,
    RemoteOperation,
    Status,
    ViState,
    format_error,
)
from ...kernel.timers import FAR
from .completing import Completing
from .ends import GOOD, End, Job, Message
from .memory import Access, Refused, Walk, Wrong
from .packets import Packets
from .trap_context import TrapContext

__all__ = ["Messages"]

BROKEN: dict[int, Status] = {BreakCode.REMOTE_DESCRIPTOR: Status.REMOTE_DESCRIPTOR,
                             BreakCode.RDMA_PROTECTION: Status.RDMA_PROTECTION}
"""Status of the descriptor that caused a BREAK, by the BREAK's code; TRANSPORT for other codes."""


class Messages:
    """Takes descriptors of send queues, and the peers' RDMA reads, and cuts them into ``packets``
    of up to ``nic.mtu`` bytes."""

    def __init__(self, context: TrapContext, packets: Packets, completing: Completing) -> None:
        self._mtu = context.node.description.nic.mtu
        self._space = context.space
        self._ring = context.ring
        self._packets = packets
        self._completing = completing

    async def next(self, end: End) -> Message | None:
        """Take and check the next descriptor of the send queue."""
        if not end.send.waiting or end.unfinished and end.unfinished[-1].error is not None:
            return None
        posted = end.send.waiting.popleft()
        descriptor = await self._completing.fetch(end, posted)
        if descriptor is None:
            await self._completing.lose(end, False, Event.POST_DESC)
            return None
        message = end.message = Message(posted, descriptor,
                                        Walk(self._space, descriptor, end.tag))
        remote = descriptor.remote
        if format_error(False, descriptor.count, descriptor.control, end.reliable):
            message.error = Status.FORMAT
        elif (not descriptor.whole or descriptor.rdma
              and (remote is None or remote[0] >> VA_BITS or remote[1] >> HANDLE_BITS)):
            message.error = Status.PROTECTION
        elif (descriptor.length > end.max_transfer
              or sum(segment.length for segment in descriptor.segments) != descriptor.length):
            message.error = Status.LENGTH
        return message

    async def cut(self, end: End, message: Message) -> None:
        """Send the next packet of a send or RDMA write."""
        descriptor, walk = message.descriptor, message.walk
        done = walk.bytes
        count = min(self._mtu, descriptor.length - done)
        last = done + count == descriptor.length
        write = descriptor.operation == Operation.RDMA_WRITE
        address = b""
        if write and descriptor.remote is not None:
            va, handle = descriptor.remote
            address = ADDRESS.pack(va=va + done & (1 << VA_BITS) - 1,
                                   handle=handle).to_bytes(8, "little")
        buffer = self._packets.buffer(count, address)
        try:
            data = await walk.gather(count, buffer)
        except Wrong as wrong:
            self._ring.put_back(buffer)
            message.error = wrong.status
            return
        immediate = bool(descriptor.control & Control.IMMEDIATE)
        packet = await self._packets.launch(
            end, PacketKind.RDMA_WRITE if write else PacketKind.SEND, address, data, buffer,
            first=not done, last=last, immediate=immediate,
            word=descriptor.immediate if immediate else 0, trace=message.posted.trace,
            message=message if last else None)
        if last:
            message.last = packet.sequence
            end.message = None
            if end.reception:
                end.unfinished.append(message)
            else:
                await self._completing.sent(end, message)

    async def request(self, end: End, message: Message) -> None:
        """Send the request of an RDMA read. While the read is under way, its VI sends nothing
        new."""
        descriptor = message.descriptor
        assert descriptor.remote is not None
        end.message, end.reading = None, message
        va, handle = descriptor.remote
        packet = await self._packets.launch(
            end, PacketKind.READ_REQUEST, ADDRESS.pack(va=va, handle=handle).to_bytes(8, "little"),
            b"", 0, first=True, last=True, word=descriptor.length, trace=message.posted.trace)
        message.last = packet.sequence

    async def respond(self, end: End, job: Job) -> None:
        """Send the next packet of the response to the peer's RDMA read."""
        count = min(self._mtu, job.left)
        buffer = self._packets.buffer(count, b"")
        try:
            data = await self._space.copy_in(job.va, job.handle, count, end.tag, buffer,
                                              Access.RDMA_READ)
        except Refused:
            self._ring.put_back(buffer)
            end.job = None
            self._completing.happened.append((Event.RDMAR_PROT, end.vi.number))
            await self._packets.tell(end, PacketKind.BREAK, job.sequence, BreakCode.RDMA_PROTECTION)
            await self._completing.break_(end, Event.CONN_LOST, False)
            return
        first, job.first = job.first, False
        job.va += count
        job.left -= count
        if not job.left:
            end.job = None
        await self._packets.launch(end, PacketKind.READ_RESPONSE, b"", data, buffer, first=first,
                           last=not job.left, trace=job.trace)

    async def finish(self, end: End) -> None:
        """Complete unfinished messages that can complete, in posting order."""
        open_ones = {packet.message for packet in end.slots}
        while end.unfinished:
            message = end.unfinished[0]
            if message.error is None and message in open_ones:
                return
            end.unfinished.popleft()
            await self._completing.sent(end, message, message.error or GOOD)
            if message.error is not None and end.reliable:
                await self._completing.break_(end, Event.CONN_LOST)
            if end.state is not ViState.CONNECTED:
                return

    async def read_done(self, end: End, length: int, status: Status = GOOD) -> None:
        """The RDMA read under way is over."""
        message, end.reading = end.reading, None
        assert message is not None
        if not end.slots:
            end.deadline = FAR
        await self._completing.complete(end, False, message.posted, length=length, status=status,
                                        operation=RemoteOperation.RDMA_READ)

    async def fail(self, end: End, status: Status, sequence: int | None = None) -> None:
        """Complete the descriptor of packet ``sequence`` with ``status``, and those before it as
        good; without ``sequence``, the oldest unfinished one."""
        if end.reading is not None:
            await self.read_done(end, 0, status)
            return
        if sequence is not None and end.slots:
            count = sequence - end.slots[0].sequence & 255
            if count < len(end.slots):
                arrived = {packet.message for packet in list(end.slots)[:count]}
                while end.unfinished and (end.unfinished[0] in arrived
                                          or self._arrived(end, end.unfinished[0])):
                    await self._completing.sent(end, end.unfinished.popleft())
        if end.unfinished:
            message = end.unfinished.popleft()
        elif end.message is not None:
            message, end.message = end.message, None
        else:
            return
        await self._completing.sent(end, message, message.error or status)

    def _arrived(self, end: End, message: Message) -> bool:
        """Whether all packets of the message were acknowledged."""
        return message.error is None and all(packet.message is not message for packet in end.slots)

    async def broken(self, end: End, sequence: int, code: int) -> None:
        """Handle a BREAK."""
        if end.reading is not None or code != BreakCode.LOST:
            await self.fail(end, BROKEN.get(code, Status.TRANSPORT), sequence)
        await self._completing.break_(end, Event.CONN_LOST, False)
