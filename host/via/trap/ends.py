"""Kernel-trap design point: the kernel agent's state of a VI and of a completion queue."""

from collections import deque

from ....layouts.via import PacketKind, Reliability, Status, ViState
from ...kernel.timers import FAR
from ..agent.round_trip import RoundTrip
from ..handles import Posted, Ring, Vi
from .memory import Descriptor, Walk
from .packet import Packet

__all__ = ["GOOD", "CqState", "End", "Job", "Message", "Queue"]

GOOD = Status(0)
UNRELIABLE = Reliability.UNRELIABLE_DELIVERY
BACK_OFF = 4
"""Time-outs double up to 1 << this many times ``via.retry_timeout``, so that a busy peer neither
gets many probes nor is given up."""


class Message:
    """A descriptor of the send queue, from the moment it is taken until it completes.

    Attributes
    ----------
    last
        Sequence number of its last packet, when that packet has been made.
    error
        Its error status; it completes with this status when all before it have completed.
    """

    __slots__ = ("posted", "descriptor", "walk", "last", "error")

    def __init__(self, posted: Posted, descriptor: Descriptor, walk: Walk) -> None:
        self.posted = posted
        self.descriptor = descriptor
        self.walk = walk
        self.last: int | None = None
        self.error: Status | None = None


class Job:
    """An RDMA read of the peer: the part of the response still to be sent."""

    __slots__ = ("va", "handle", "left", "sequence", "trace", "first")

    def __init__(self, va: int, handle: int, left: int, sequence: int, trace: int) -> None:
        self.va = va
        self.handle = handle
        self.left = left
        self.sequence = sequence
        self.trace = trace
        self.first = True


class Queue:
    """A work queue in the kernel: ``waiting``, posted and not taken; ``completed``, how many have
    completed since the VI was created; ``armed``."""

    __slots__ = ("waiting", "completed", "armed")

    def __init__(self) -> None:
        self.waiting: deque[Posted] = deque()
        self.completed = 0
        self.armed = False


class End:
    """One end of a connection: the kernel's state of a VI.

    Attributes
    ----------
    sequence, unasked, slots, message, unfinished, reading, job
        Sending: number of the next packet, packets since an acknowledgement was requested, packets
        not acknowledged, the message being cut into packets, messages cut completely and not yet
        completed (Reliable Reception, or in error), the own RDMA read under way, and the peer's.
    silent, trip, timed, timed_at, deadline
        Time-outs in a row without a packet from the peer, the length of the next one, the packet
        whose round trip is being measured and when it was sent, and the cycle of the next time-out.
    asked, heeded
        Number of the last probe, and of the last probe before packets were sent again: answers to
        that one and earlier ones do not apply to these packets.
    owes, question
        The ACK or NAK that had no room, and the word of the probe that it answers.
    expected, told, kind, walk, taken, written
        Receiving: number of the next packet; whether a NAK was sent for the current gap; kind of
        the message under way (SEND, RDMA_WRITE, or None: the rest of it is dropped); its
        destination and descriptor; bytes of an RDMA write so far.
    """

    __slots__ = ("vi", "state", "send", "receive", "route", "max_transfer", "sequence", "unasked",
                 "slots", "message", "unfinished", "reading", "job", "silent", "trip", "timed",
                 "timed_at", "deadline", "asked", "heeded", "owes", "question", "expected", "told",
                 "kind", "walk", "taken", "written", "starved", "timeout")

    def __init__(self, vi: Vi, timeout: int) -> None:
        self.vi = vi
        self.timeout = timeout
        self.state = ViState.IDLE
        self.send = Queue()
        self.receive = Queue()
        self.route = 0
        self.max_transfer = 0
        self.starved = False
        self.reset()

    def reset(self) -> None:
        """Reset the state for a new connection."""
        self.sequence = 0
        self.unasked = 0
        self.slots: deque[Packet] = deque()
        self.message: Message | None = None
        self.unfinished: deque[Message] = deque()
        self.reading: Message | None = None
        self.job: Job | None = None
        self.silent = 0
        self.trip = RoundTrip(self.timeout, self.timeout << BACK_OFF)
        self.timed: int | None = None
        self.timed_at = 0
        self.deadline = FAR
        self.asked = self.heeded = 0
        self.owes: PacketKind | None = None
        self.question: int | None = None
        self.expected = 0
        self.told = False
        self.kind: PacketKind | None = None
        self.walk: Walk | None = None
        self.taken: Posted | None = None
        self.written = 0

    @property
    def reliable(self) -> bool:
        return self.vi.attributes.reliability is not UNRELIABLE

    @property
    def reception(self) -> bool:
        return self.vi.attributes.reliability is Reliability.RELIABLE_RECEPTION

    @property
    def tag(self) -> int:
        return self.vi.attributes.ptag.number


class CqState:
    """A completion queue's ring in the kernel."""

    __slots__ = ("ring", "tail", "armed")

    def __init__(self, ring: Ring, armed: bool) -> None:
        self.ring = ring
        self.tail = 0
        self.armed = armed
