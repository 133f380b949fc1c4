"""The VI engine's model, sending: messages become packets, packets are sent until acknowledged."""

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .....layouts.via import (
    DETAIL,
    VA_BITS,
    BreakCode,
    Control,
    Event,
    Operation,
    PacketKind,
    Reliability,
    RemoteOperation,
    Status,
    ViState,
    format_error,
)
from .....rtl.vi.send.patience import LONGEST_DOUBLED
from .....rtl.vi.send.read_timer import LEAST
from .link import Packet
from .memory import Access, Descriptor, Refused, Walk, Wrong
from .queues import Unreadable, complete

if TYPE_CHECKING:
    from .engine import Engine, Vi

__all__ = ["ReadJob", "Sender", "Sending"]

SERVICE = 20
"""Cycles from one turn of the engine to the next."""

BROKEN = {BreakCode.LOST: Status.FLUSHED, BreakCode.REMOTE_DESCRIPTOR: Status.REMOTE_DESCRIPTOR,
          BreakCode.RDMA_PROTECTION: Status.RDMA_PROTECTION}
"""What a BREAK's code makes of the descriptor that caused it; any other: TRANSPORT."""


@dataclass
class Message:
    """A descriptor of the send queue, from the moment it is taken until it completes."""

    descriptor: Descriptor
    walk: Walk
    last: int | None = None
    """Sequence number of its last packet, once that is made."""
    remote: tuple[int, int] = (0, 0)
    """Where an RDMA goes to, or comes from."""
    error: Status | None = None
    """What is wrong with it: it completes with this when all before it have completed."""


@dataclass
class ReadJob:
    """An RDMA read of the peer: the part of the response still to be sent."""

    va: int
    handle: int
    left: int
    sequence: int
    trace: int
    first: bool = True


@dataclass
class Sending:
    """The sending side of a connection."""

    sequence: int = 0
    unasked: int = 0
    """Packets since an acknowledgement was asked for."""
    slots: deque[Packet] = field(default_factory=deque)
    message: Message | None = None
    """The one that is cut into packets."""
    unfinished: deque[Message] = field(default_factory=deque)
    """Cut whole (or in error), and not completed: Reliable Reception."""
    reading: Message | None = None
    """An RDMA read under way."""
    job: ReadJob | None = None
    timeouts: int = 0
    deadline: int | None = None


class Sender:
    """Serves the work queues that were woken in turn, one packet or descriptor a turn."""

    def __init__(self, engine: "Engine") -> None:
        self.engine = engine
        self.turns: deque[tuple[Vi, bool]] = deque()
        self.serving = False
        self.slots = 0
        self.blocked: list[Vi] = []
        """VIs that found no free slot."""
        self.link = engine.link

    # Turns

    def wake(self, vi: "Vi", receive: bool = False) -> None:
        if (vi, receive) not in self.turns:
            self.turns.append((vi, receive))
        if not self.serving:
            self.serving = True
            self.engine.model.at(self.engine.model.now + SERVICE, self.turn)

    def turn(self) -> None:
        vi, receive = self.turns.popleft()
        if self.serve(vi, receive):
            self.wake(vi, receive)
        self.serving = bool(self.turns)
        if self.serving:
            self.engine.model.at(self.engine.model.now + SERVICE, self.turn)

    def serve(self, vi: "Vi", receive: bool) -> bool:
        """One turn of a queue; whether it may want another at once."""
        if vi.state == ViState.CLOSED or receive and vi.state != ViState.ERROR:
            return False
        if vi.state != ViState.CONNECTED:
            return self.flush(vi, receive)
        side = vi.sending
        if vi.reliable and len(side.slots) >= self.engine.via.window:
            return False
        if self.slots >= self.engine.via.send_slots:
            self.blocked.append(vi)
            return False
        if side.job is not None:
            self.respond(vi, side, side.job)
            return True
        if side.reading is not None:
            return False
        if side.message is None:
            if side.unfinished and side.unfinished[-1].error is not None:
                return False
            try:
                taken = self.engine.take(vi, False)
            except Unreadable:
                self.engine.break_(vi, Event.POST_DESC)
                return False
            if taken is None:
                return False
            side.message = self.begin(vi, taken)
        message = side.message
        if message.error is None and message.descriptor.operation == Operation.RDMA_READ:
            if side.unfinished:
                return False
            self.request(vi, side, message)
        elif message.error is None:
            self.cut(vi, side, message)
        if message.error is not None:
            side.message = None
            side.unfinished.append(message)
            self.finish(vi)
        return True

    def flush(self, vi: "Vi", receive: bool) -> bool:
        """Completes the oldest descriptor of a queue flushed."""
        try:
            descriptor = self.engine.take(vi, receive)
        except Unreadable:
            self.engine.break_(vi, Event.POST_DESC)
            return False
        if descriptor is None:
            return False
        operation = RemoteOperation.RECEIVE if receive else descriptor.sent_as
        complete(self.engine, vi, receive, (descriptor.va, descriptor.handle),
                 status=Status.FLUSHED, operation=operation)
        return True

    # Messages

    def begin(self, vi: "Vi", descriptor: Descriptor) -> Message:
        """The checks before anything is sent."""
        message = Message(descriptor, Walk(descriptor))
        try:
            if format_error(False, descriptor.segments, descriptor.control, vi.reliable):
                raise Wrong(Status.FORMAT)
            if descriptor.rdma:
                message.remote = descriptor.remote
            if descriptor.length > vi.peer["max_transfer"]:
                raise Wrong(Status.LENGTH)
            if descriptor.operation == Operation.RDMA_READ:
                descriptor.check_total()
        except Refused:
            message.error = Status.PROTECTION
        except Wrong as wrong:
            message.error = wrong.status
        return message

    def cut(self, vi: "Vi", side: Sending, message: Message) -> None:
        """The next packet of a send or RDMA write."""
        descriptor, walk = message.descriptor, message.walk
        done = walk.bytes
        count = min(self.engine.mtu, descriptor.length - done)
        last = done + count == descriptor.length
        try:
            payload = walk.gather(count)
            if last and walk.piece() is not None:
                raise Wrong(Status.LENGTH)
        except Wrong as wrong:
            message.error = wrong.status | (Status.PARTIAL if done else 0)
            return
        write = descriptor.operation == Operation.RDMA_WRITE
        address = None
        if write:
            va, handle = message.remote
            address = ((va + done) % (1 << VA_BITS), handle)
        immediate = bool(descriptor.control & Control.IMMEDIATE)
        packet = self.pack(vi, PacketKind.RDMA_WRITE if write else PacketKind.SEND, payload,
                           first=not done, last=last, immediate=immediate, address=address,
                           word=descriptor.immediate if immediate else 0, trace=descriptor.trace,
                           message=message if last else None)
        if last:
            message.last = packet.sequence
            side.message = None
            if vi.reliability == Reliability.RELIABLE_RECEPTION:
                side.unfinished.append(message)
            else:
                self.over(vi, message)

    def request(self, vi: "Vi", side: Sending, message: Message) -> None:
        """The request of an RDMA read. While it is under way its VI sends nothing new."""
        descriptor = message.descriptor
        side.message = None
        side.reading = message
        vi.receiving.reading = message.walk
        self.ask(vi, side, message)
        message.last = self.pack(vi, PacketKind.READ_REQUEST, b"", first=True, last=True,
                                 address=message.remote, word=descriptor.length,
                                 trace=descriptor.trace).sequence

    def ask(self, vi: "Vi", side: Sending, message: Message) -> None:
        """Later: whether the peer is there, as long as ``message`` is read and no packet waits for
        an acknowledgement."""
        def later() -> None:
            if vi.sending is not side or side.reading is not message:
                return
            if not side.slots:
                if side.timeouts >= self.engine.via.retries:
                    self.fail(vi, Status.TRANSPORT)
                    self.engine.break_(vi, Event.CONN_LOST)
                    return
                side.timeouts += 1
                self.link.probe(vi)
            self.ask(vi, side, message)

        wait = max(self.engine.via.retry_timeout, LEAST)
        self.engine.model.at(self.engine.model.now + wait, later)

    def respond(self, vi: "Vi", side: Sending, job: ReadJob) -> None:
        """The next packet of the answer to the peer's RDMA read."""
        count = min(self.engine.mtu, job.left)
        try:
            payload = self.engine.translator.read(job.va, job.handle, count,
                                                  vi.attributes["tag"], Access.RDMA_READ)
        except Refused:
            side.job = None
            self.engine.events.push(Event.RDMAR_PROT, vi.number)
            self.link.tell(vi, PacketKind.BREAK, job.sequence, BreakCode.RDMA_PROTECTION)
            self.engine.break_(vi, Event.CONN_LOST)
            return
        first, job.first = job.first, False
        job.va, job.left = job.va + count, job.left - count
        if not job.left:
            side.job = None
        self.pack(vi, PacketKind.READ_RESPONSE, payload, first=first, last=not job.left,
                  trace=job.trace)

    def finish(self, vi: "Vi") -> None:
        """Completes what is unfinished and can complete: in posting order."""
        side = vi.sending
        waited = {packet.message.last for packet in side.slots if packet.message is not None}
        while side.unfinished:
            message = side.unfinished[0]
            if message.error is None and message.last in waited:
                return
            side.unfinished.popleft()
            error = message.error
            self.over(vi, message, error or 0)
            if error is not None and vi.reliable:
                self.engine.break_(vi, Event.CONN_LOST)
            if vi.state != ViState.CONNECTED:
                return

    def over(self, vi: "Vi", message: Message, status: int = 0) -> None:
        """Completes a message. Length is what was moved, zero if it failed."""
        descriptor = message.descriptor
        complete(self.engine, vi, False, (descriptor.va, descriptor.handle),
                 length=0 if status else descriptor.length, status=status,
                 operation=descriptor.sent_as)

    def read_done(self, vi: "Vi", length: int, status: int = 0) -> None:
        """The receiver says that the RDMA read under way is over."""
        side = vi.sending
        message, side.reading = side.reading, None
        assert message is not None
        descriptor = message.descriptor
        if status and message.walk.bytes:
            status |= Status.PARTIAL
        complete(self.engine, vi, False, (descriptor.va, descriptor.handle), length=length,
                 status=status, operation=RemoteOperation.RDMA_READ)
        self.wake(vi)

    # Packets

    def pack(self, vi: "Vi", kind: PacketKind, payload: bytes, *, first: bool, last: bool,
             immediate: bool = False, word: int = 0, address: tuple[int, int] | None = None,
             trace: int = 0, message: Message | None = None) -> Packet:
        """Puts a packet with the next sequence number into a slot."""
        side = vi.sending
        side.unasked += 1
        ask = vi.reliable and (last or 2 * side.unasked >= self.engine.via.window)
        if ask:
            side.unasked = 0
        detail = DETAIL.pack(kind=kind, first=first, last=last, immediate=immediate,
                             acknowledge=ask)
        data = self.link.frame(vi, detail, side.sequence, word, payload, address)
        packet = Packet(data, trace, side.sequence, message,
                        carries=vi.reliable and kind != PacketKind.READ_REQUEST
                        and not (last and immediate))
        side.sequence = side.sequence + 1 & 255
        self.slots += 1
        if vi.reliable:
            side.slots.append(packet)
        self.link.send(vi, packet)
        return packet

    def left(self, vi: "Vi") -> None:
        """A packet has gone to the link for the first time."""
        if not vi.reliable:
            self.free()
        elif vi.sending.deadline is None:
            self.watch(vi)

    def free(self, count: int = 1) -> None:
        """Slots are free."""
        self.slots -= count
        blocked, self.blocked = self.blocked, []
        for vi in blocked:
            self.wake(vi)

    # Acknowledgements and time-outs

    def acknowledged(self, vi: "Vi", sequence: int, again: bool, probe: int | None = None) -> None:
        """All before ``sequence`` have arrived; ``again``: and that one was missed; ``probe``: and
        if that one had left before it, it was lost."""
        side = vi.sending
        count = sequence - side.slots[0].sequence & 255 if side.slots else 0
        if not side.slots and sequence == side.sequence:
            side.timeouts = 0
        if not side.slots or count > len(side.slots):
            return
        side.timeouts = 0
        if count:
            for _ in range(count):
                side.slots.popleft()
            self.free(count)
            self.watch(vi)
            self.finish(vi)
            self.wake(vi)
        if vi.state != ViState.CONNECTED or not side.slots:
            return
        oldest = side.slots[0]
        lost = (probe is not None and not oldest.queued and oldest.left is not None
                and oldest.left < probe)
        if again or lost:
            self.link.repeat(vi, side.slots)
            self.watch(vi)

    def watch(self, vi: "Vi") -> None:
        """Starts the timer anew; stops it if nothing is unacknowledged."""
        side, model, timeout = vi.sending, self.engine.model, self.engine.via.retry_timeout
        if not side.slots or side.slots[0].left is None:
            side.deadline = None
            return
        doubled = min(timeout << side.timeouts, max(timeout, LONGEST_DOUBLED))
        side.deadline = deadline = model.now + doubled

        def expired() -> None:
            if vi.sending is side and side.deadline == deadline and side.slots:
                self.timeout(vi)

        model.at(deadline, expired)

    def timeout(self, vi: "Vi") -> None:
        side = vi.sending
        side.timeouts += 1
        if side.timeouts < self.engine.via.retries:
            self.link.probe(vi)
            self.watch(vi)
            return
        self.fail(vi, Status.TRANSPORT)
        self.engine.break_(vi, Event.CONN_LOST)

    def fail(self, vi: "Vi", status: Status, sequence: int | None = None) -> None:
        """Completes with ``status`` the descriptor that packet ``sequence`` belongs to, after those
        wholly before it; else the oldest unfinished one."""
        side = vi.sending
        if side.reading is not None:
            self.read_done(vi, 0, status)
            return
        if sequence is not None and side.slots:
            count = sequence - side.slots[0].sequence & 255
            if count < len(side.slots):
                arrived = {packet.sequence for packet in list(side.slots)[:count]}
                while side.unfinished and side.unfinished[0].last in arrived:
                    self.over(vi, side.unfinished.popleft())
        if side.unfinished:
            message = side.unfinished.popleft()
        elif side.message is not None:
            message, side.message = side.message, None
            status |= self.partly(message)
        else:
            return
        self.over(vi, message, message.error or status)

    @staticmethod
    def partly(message: Message) -> int:
        """PARTIAL, of a message that is cut into packets and not through."""
        return Status.PARTIAL if message.walk.bytes else 0

    def broken(self, vi: "Vi", sequence: int, code: int) -> None:
        """A BREAK came. With LOST its sequence number says nothing: it may come of the peer's
        disconnection."""
        side = vi.sending
        if side.reading is not None:
            lost = Status.TRANSPORT if code == BreakCode.LOST else None
            self.fail(vi, lost or BROKEN.get(BreakCode(code), Status.TRANSPORT))
        elif code != BreakCode.LOST:
            self.fail(vi, BROKEN.get(BreakCode(code), Status.TRANSPORT), sequence)
        self.engine.break_(vi, Event.CONN_LOST)

    def abort(self, vi: "Vi") -> None:
        """The connection is over: slots are freed, what was begun completes flushed, and the peer
        of a reliable one is told."""
        side, vi.sending = vi.sending, Sending()
        unsent = self.link.forget(vi)
        for message in side.unfinished:
            self.over(vi, message, message.error or Status.FLUSHED)
        side.unfinished.clear()
        if side.message is not None:
            self.over(vi, side.message, Status.FLUSHED | self.partly(side.message))
            side.message = None
        if vi.reliable:
            self.link.tell(vi, PacketKind.BREAK, side.sequence, BreakCode.LOST)
        self.free(len(side.slots) if vi.reliable else unsent)
