"""Kernel-trap design point, sending: messages become packets, kept until acknowledged."""

from collections import deque
from typing import TYPE_CHECKING

from ...layouts.packet import HEADER, Protocol
from ...layouts.rings import INLINE_BYTES
from ...layouts.via import (
    ADDRESS,
    DETAIL,
    HANDLE_BITS,
    VA_BITS,
    VIA_HEADER,
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
from ..sent_again import Cause
from .trap_memory import Access, Refused, Walk, Wrong
from .trap_ring import Packet
from .trap_state import FAR, GOOD, End, Job, Message, TrapState

if TYPE_CHECKING:
    from .kernel import Kernel

__all__ = ["Sending"]

SEQUENCE = 0xFF
"""Of a probe's word: the next packet when it was sent. Above: the probe's number."""
NUMBER_AT = 8
NUMBERS = 1 << 24
BROKEN: dict[int, Status] = {BreakCode.REMOTE_DESCRIPTOR: Status.REMOTE_DESCRIPTOR,
                             BreakCode.RDMA_PROTECTION: Status.RDMA_PROTECTION}
"""What a BREAK's code makes of the descriptor that caused it; any other: TRANSPORT."""


class Sending(TrapState):
    """The state, with the sending side of connections.

    A VI sends what its window, the kernel's buffers and the send ring have room for; the rest waits
    in its queue until the kernel is entered again with an acknowledgement, or with room. Those that
    wait for room send a packet each in turn, and owed acknowledgements first. Where few buffers are
    left, every packet asks for its acknowledgement: they are never all held by messages of which
    nobody has asked for one.
    """

    def __init__(self, kernel: "Kernel") -> None:
        super().__init__(kernel)
        self.starved: deque[End] = deque()
        """Those that wait for a buffer, or for room in the ring; the first is next."""
        self.due = FAR
        """The next cycle in which something is late; FAR if nothing can be."""

    async def turn(self, end: End) -> None:
        """Send what ``end`` has to send, as far as it may, behind those that wait for room."""
        if self.starved:
            self._starve(end)
            await self.feed()
            return
        while await self._send_one(end):
            pass

    async def _send_one(self, end: End) -> bool:
        """Send ``end``'s next packet, if it has one and may; whether it did. Without room it is
        one of the starved from now on."""
        while end.state is ViState.CONNECTED:
            if end.reliable and len(end.slots) >= self.window:
                return False
            job, message = end.job, end.message
            if job is None:
                if end.reading is not None:
                    return False
                if message is None:
                    message = await self._next(end)
                    if message is None:
                        return False
                if message.error is not None:
                    end.message = None
                    end.unfinished.append(message)
                    await self._finish(end)
                    continue
                if message.descriptor.operation == Operation.RDMA_READ and end.unfinished:
                    return False
            if not await self._has_room(end, job, message):
                return False
            if job is not None:
                await self._respond(end, job)
            elif message is not None and message.descriptor.operation == Operation.RDMA_READ:
                await self._request(end, message)
            elif message is not None:
                await self._cut(end, message)
            return True
        return False

    async def _next(self, end: End) -> Message | None:
        """Take the next descriptor of the send queue, and check it."""
        if not end.send.waiting or end.unfinished and end.unfinished[-1].error is not None:
            return None
        posted = end.send.waiting.popleft()
        descriptor = await self.fetch(end, posted)
        if descriptor is None:
            await self.lose(end, False, Event.POST_DESC)
            return None
        message = end.message = Message(posted, descriptor,
                                        Walk(self.space, descriptor, end.tag))
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

    async def _has_room(self, end: End, job: Job | None, message: Message | None) -> bool:
        """Whether the next packet has room in the ring and, if it needs one, a buffer."""
        if await self.ring.room():
            left = 0
            if job is not None:
                left = job.left
            elif message is not None and message.descriptor.operation != Operation.RDMA_READ:
                left = message.descriptor.length - message.walk.bytes
            if left <= INLINE_BYTES - 16 or await self.ring.available():
                return True
        self._starve(end)
        return False

    def _starve(self, end: End) -> None:
        if not end.starved:
            end.starved = True
            self.starved.append(end)

    async def feed(self) -> None:
        """Those that are starved: what they owe, and a packet of each in turn, as long as there is
        room. One that lacks a buffer does not hold up those that need none."""
        starved, without = self.starved, 0
        while without < len(starved) and await self.ring.room():
            end = starved.popleft()
            end.starved = False
            if end.owes is not None:
                await self._pay(end)
            if await self._send_one(end):
                self._starve(end)
                without = 0
            elif end.starved:
                without += 1

    # Messages

    async def _cut(self, end: End, message: Message) -> None:
        """The next packet of a send or RDMA write."""
        descriptor, walk = message.descriptor, message.walk
        done = walk.bytes
        count = min(self.mtu, descriptor.length - done)
        last = done + count == descriptor.length
        write = descriptor.operation == Operation.RDMA_WRITE
        address = b""
        if write and descriptor.remote is not None:
            va, handle = descriptor.remote
            address = ADDRESS.pack(va=va + done & (1 << VA_BITS) - 1,
                                   handle=handle).to_bytes(8, "little")
        buffer = self._buffer(count, address)
        try:
            data = await walk.gather(count, buffer)
        except Wrong as wrong:
            self.ring.put_back(buffer)
            message.error = wrong.status
            return
        immediate = bool(descriptor.control & Control.IMMEDIATE)
        packet = await self._launch(
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
                await self._over(end, message)

    async def _request(self, end: End, message: Message) -> None:
        """The request of an RDMA read; while it is under way, its VI sends nothing new."""
        descriptor = message.descriptor
        assert descriptor.remote is not None
        end.message, end.reading = None, message
        va, handle = descriptor.remote
        packet = await self._launch(
            end, PacketKind.READ_REQUEST, ADDRESS.pack(va=va, handle=handle).to_bytes(8, "little"),
            b"", 0, first=True, last=True, word=descriptor.length, trace=message.posted.trace)
        message.last = packet.sequence

    async def _respond(self, end: End, job: Job) -> None:
        """The next packet of the answer to the peer's RDMA read."""
        count = min(self.mtu, job.left)
        buffer = self._buffer(count, b"")
        try:
            data = await self.space.copy_in(job.va, job.handle, count, end.tag, buffer,
                                             Access.RDMA_READ)
        except Refused:
            self.ring.put_back(buffer)
            end.job = None
            self.happened.append((Event.RDMAR_PROT, end.vi.number))
            await self.tell(end, PacketKind.BREAK, job.sequence, BreakCode.RDMA_PROTECTION)
            await self.break_(end, Event.CONN_LOST, False)
            return
        first, job.first = job.first, False
        job.va += count
        job.left -= count
        if not job.left:
            end.job = None
        await self._launch(end, PacketKind.READ_RESPONSE, b"", data, buffer, first=first,
                           last=not job.left, trace=job.trace)

    async def _finish(self, end: End) -> None:
        """Complete what is unfinished and can be, in posting order."""
        open_ones = {packet.message for packet in end.slots}
        while end.unfinished:
            message = end.unfinished[0]
            if message.error is None and message in open_ones:
                return
            end.unfinished.popleft()
            await self._over(end, message, message.error or GOOD)
            if message.error is not None and end.reliable:
                await self.break_(end, Event.CONN_LOST)
            if end.state is not ViState.CONNECTED:
                return

    async def _over(self, end: End, message: Message, status: Status = GOOD) -> None:
        descriptor = message.descriptor
        await self.complete(end, False, message.posted, status=status,
                            length=0 if status else descriptor.length,
                            operation=descriptor.sent_as)

    async def read_done(self, end: End, length: int, status: Status = GOOD) -> None:
        """The RDMA read under way is over."""
        message, end.reading = end.reading, None
        assert message is not None
        if not end.slots:
            end.deadline = FAR
        await self.complete(end, False, message.posted, length=length, status=status,
                            operation=RemoteOperation.RDMA_READ)

    # Packets

    def header(self, end: End, detail: int, length: int) -> int:
        peer = end.vi.peer
        assert peer is not None
        return HEADER.pack(route=end.route, length=length, source=self.node.number,
                           destination=peer.node, protocol=Protocol.VIA, detail=detail)

    def _via_header(self, end: End, sequence: int, word: int) -> bytes:
        assert end.vi.peer is not None
        return VIA_HEADER.pack(destination=end.vi.peer.vi, source=end.vi.number,
                               sequence=sequence, immediate=word).to_bytes(8, "little")

    def _buffer(self, count: int, address: bytes) -> int:
        """A buffer for ``count`` bytes of data; 0 if the descriptor holds them."""
        return 0 if 8 + len(address) + count <= INLINE_BYTES else self.ring.take()

    async def _launch(self, end: End, kind: PacketKind, address: bytes, data: bytes, buffer: int,
                      *, first: bool, last: bool, immediate: bool = False, word: int = 0,
                      trace: int = 0, message: Message | None = None) -> Packet:
        """Number a packet, send it, and keep it until it is acknowledged."""
        self.port.spend(self.prices.packet)
        end.unasked += 1
        ask = end.reliable and (last or 2 * end.unasked >= self.window or self.ring.short)
        if ask:
            end.unasked = 0
        sequence = end.sequence
        end.sequence = sequence + 1 & 255
        inline = self._via_header(end, sequence, word) + address
        length = len(inline) + len(data)
        if not buffer:
            inline += data
        packet = Packet(
            self.header(end, DETAIL.pack(kind=kind, first=first, last=last, immediate=immediate,
                                         acknowledge=ask), length),
            inline, buffer, len(data) if buffer else 0, trace, sequence, message)
        self.counters["sent"] += 1
        await self.ring.send(packet)
        if not end.reliable:
            self.ring.give(packet)
            return packet
        end.slots.append(packet)
        if end.timed is None:
            end.timed, end.timed_at = sequence, self.port.cycle
        if end.deadline == FAR:
            self.watch(end)
        return packet

    async def tell(self, end: End, kind: PacketKind, sequence: int, word: int = 0,
                   answers: bool = False) -> None:
        """An ACK, NAK, BREAK or PROBE. Without room it is lost, as it may be on the wire."""
        if not await self.ring.room():
            return
        self.port.spend(self.prices.control)
        inline = self._via_header(end, sequence, word)
        detail = DETAIL.pack(kind=kind, first=1, last=1, acknowledge=answers)
        await self.ring.send(Packet(self.header(end, detail, 8), inline, 0, 0,
                                    self.node.trace_number()))

    async def answer(self, end: End, kind: PacketKind = PacketKind.ACK,
                     question: int | None = None) -> None:
        """Tell the peer what has arrived: an ACK, which may be the answer to its probe, or a NAK.
        Without room it is owed."""
        if await self.ring.room():
            await self.tell(end, kind, end.expected, question or 0, question is not None)
            return
        if end.owes is not PacketKind.NAK:
            end.owes = kind
        if question is not None:
            end.question = question
        self._starve(end)

    async def _pay(self, end: End) -> None:
        """What is owed to the peer; there is room."""
        missed = end.owes is PacketKind.NAK and end.told and end.question is None
        question, end.owes, end.question = end.question, None, None
        if end.state is ViState.CONNECTED:
            await self.answer(end, PacketKind.NAK if missed else PacketKind.ACK, question)

    # Acknowledgements and time-outs

    async def acknowledged(self, end: End, sequence: int, again: bool,
                           question: int | None) -> None:
        """All before ``sequence`` have arrived; ``again``: and that one was missed. ``question``:
        word of the probe that this answers."""
        self.port.spend(self.prices.acknowledged)
        slots = end.slots
        end.silent = 0
        if not slots:
            return
        oldest = slots[0].sequence
        count = sequence - oldest & 255
        if count > len(slots):
            return
        if count:
            if end.timed is not None and end.timed - oldest & 255 < count:
                end.trip.measured(self.port.cycle - end.timed_at)
                end.timed = None
            for _ in range(count):
                self.ring.give(slots.popleft())
            self.watch(end)
            await self._finish(end)
        if end.state is not ViState.CONNECTED:
            return
        if again:
            await self._resend(end, Cause.NACK)
        elif question is not None and self._was_lost(end, sequence, question):
            await self._resend(end, Cause.ANSWER)

    def _was_lost(self, end: End, sequence: int, question: int) -> bool:
        """Whether something was lost of what was sent before the probe, and not again since."""
        number = question >> NUMBER_AT
        return (0 < (number - end.heeded) % NUMBERS <= (end.asked - end.heeded) % NUMBERS
                and 0 < (question - sequence & SEQUENCE) <= len(end.slots))

    async def _resend(self, end: End, cause: Cause) -> None:
        """Go back to the oldest packet that is not acknowledged, and ask what of that was lost."""
        assert end.vi.peer is not None
        for packet in list(end.slots):
            if not await self.ring.room():
                break
            self.port.spend(self.prices.again)
            self.counters["resent"] += 1
            self.again.note(end.vi.peer.node, cause)
            await self.ring.send(packet)
        end.heeded, end.timed = end.asked, None
        await self._probe(end)
        self.watch(end)

    async def _probe(self, end: End) -> None:
        """Ask what has arrived."""
        self.counters["probes"] += 1
        end.asked = (end.asked + 1) % NUMBERS
        await self.tell(end, PacketKind.PROBE, end.sequence, end.asked << NUMBER_AT | end.sequence)

    def watch(self, end: End) -> None:
        """Start the timer anew; stop it if nothing is open. An RDMA read is, until its data have
        come: its peer may have gone when it had taken the request."""
        if not end.slots and end.reading is None:
            end.deadline = FAR
            return
        end.deadline = self.port.cycle + end.trip.wait
        if end.deadline < self.due:
            self.due = end.deadline

    async def timers(self) -> None:
        """Look at every deadline; note the next."""
        cycle = self.port.cycle
        for end in list(self.ends.values()):
            if end.deadline == FAR:
                continue
            self.port.spend(self.prices.timer)
            if end.deadline > cycle:
                continue
            self.counters["timeouts"] += 1
            end.silent += 1
            if end.silent < self.retries:
                end.trip.late()
                await self._probe(end)
                self.watch(end)
            else:
                await self.fail(end, Status.TRANSPORT)
                await self.break_(end, Event.CONN_LOST)
        self.due = min((end.deadline for end in self.ends.values()), default=FAR)

    async def fail(self, end: End, status: Status, sequence: int | None = None) -> None:
        """Complete with ``status`` the descriptor that packet ``sequence`` belongs to, those before
        it as good; without it, the oldest unfinished one."""
        if end.reading is not None:
            await self.read_done(end, 0, status)
            return
        if sequence is not None and end.slots:
            count = sequence - end.slots[0].sequence & 255
            if count < len(end.slots):
                arrived = {packet.message for packet in list(end.slots)[:count]}
                while end.unfinished and (end.unfinished[0] in arrived
                                          or self._arrived(end, end.unfinished[0])):
                    await self._over(end, end.unfinished.popleft())
        if end.unfinished:
            message = end.unfinished.popleft()
        elif end.message is not None:
            message, end.message = end.message, None
        else:
            return
        await self._over(end, message, message.error or status)

    def _arrived(self, end: End, message: Message) -> bool:
        """Whether all of it was acknowledged."""
        return message.error is None and all(packet.message is not message for packet in end.slots)

    async def broken(self, end: End, sequence: int, code: int) -> None:
        """A BREAK came."""
        if end.reading is not None or code != BreakCode.LOST:
            await self.fail(end, BROKEN.get(code, Status.TRANSPORT), sequence)
        await self.break_(end, Event.CONN_LOST, False)

    async def abort(self, end: End, tell: bool) -> None:
        """The connection is over: what was begun completes flushed, and the peer of a reliable one
        is told."""
        begun = [*end.unfinished, *([end.message] if end.message else [])]
        reading, sequence = end.reading, end.sequence
        for packet in end.slots:
            self.ring.give(packet)
        end.slots.clear()
        end.unfinished.clear()
        end.message = end.reading = end.job = None
        end.deadline = FAR
        if reading is not None:
            begun.insert(0, reading)
        for message in begun:
            await self._over(end, message, message.error or Status.FLUSHED)
        if tell and end.reliable:
            await self.tell(end, PacketKind.BREAK, sequence, BreakCode.LOST)
