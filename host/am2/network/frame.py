"""The frame of an endpoint, as its process knows it."""

from collections import deque
from typing import NamedTuple

from ....layouts.am2 import LONG
from ....layouts.am2_nic import (
    RECEIVE_BUFFERS,
    REPLY_BUFFERS,
    REQUEST_BUFFERS,
    SEND_REPLIES,
    SEND_REQUESTS,
)
from ..kept_replies import Kept
from ..packets import Arrived

__all__ = ["Back", "Frame", "Memory", "SendQueue"]

MASK = 0xFFFF_FFFF


class Back(NamedTuple):
    """NIC and number of a sender: where a reply to it goes."""

    nic: int
    number: int


class Memory(NamedTuple):
    """An endpoint's pinned memory: the words that the NIC writes (slots that are done; then
    interrupts), and the buffers of its send and receive queues."""

    words: int
    send: int
    receive: int

    @property
    def event(self) -> int:
        """Address of the count of interrupts."""
        return self.words + 8

    def received(self, reply: int, buffer: int) -> int:
        """Address of a receive buffer."""
        return self.receive + (reply * RECEIVE_BUFFERS + buffer) * LONG


class SendQueue:
    """The send queue of requests (0) or replies (1).

    Attributes
    ----------
    posted, done
        Slots filled, and how many of them can be used again, as far as known.
    out
        The slots that have data, oldest first: ``posted`` when they were filled.
    """

    __slots__ = ("slots", "first", "buffers", "place", "posted", "done", "out", "_next")

    def __init__(self, reply: int, memory: Memory) -> None:
        self.slots = SEND_REPLIES if reply else SEND_REQUESTS
        self.first = SEND_REQUESTS if reply else 0
        self.buffers = REPLY_BUFFERS if reply else REQUEST_BUFFERS
        self.place = memory.send + (REQUEST_BUFFERS * LONG if reply else 0)
        self.posted = self.done = 0
        self.out: deque[int] = deque()
        self._next = 0

    def has_room(self, data: bool) -> bool:
        """Tells whether there is room for a message, with or without ``data``, as far as known."""
        return self.posted - self.done < self.slots and not (
            data and len(self.out) == self.buffers)

    def told(self, done: int) -> None:
        """The NIC says that so many slots are done, modulo 2^32."""
        self.done += done - self.done & MASK
        while self.out and self.out[0] < self.done:
            self.out.popleft()

    def buffer(self) -> int:
        """The number of the next free buffer, which the next slot is to have."""
        number = self._next
        self._next = (number + 1) % self.buffers
        self.out.append(self.posted)
        return number

    def slot(self) -> tuple[int, int]:
        """The next free slot, and its phase."""
        number = self.posted
        self.posted += 1
        return self.first + number % self.slots, int(not number & self.slots)


class Frame:
    """The frame of endpoint ``number`` of a NIC.

    Attributes
    ----------
    place
        Its number among the NIC's frames; None while the endpoint is out.
    page, doorbell
        Addresses of the page and of its doorbell, by PIO.
    since
        The cycle when the endpoint has come in, or was looked for in vain.
    users
        Uses of the page that are under way: it stays until they have ended.
    away
        Where the endpoint is in host memory while it is out; 0: it never was.
    queues
        The send queues.
    seen, taken, told
        Of each receive queue: messages that the NIC has put, that were taken, that the NIC knows to
        be taken.
    at
        The slot of each receive queue that is next.
    retagged
        ``seen`` when the tag changed last: messages before may have another one.
    handling
        The message that is being handled.
    kept
        Replies, and messages on their way back, that have found no room yet.
    """

    def __init__(self, number: int, process: int, memory: Memory) -> None:
        self.number = number
        self.process = process
        self.memory = memory
        self.place: int | None = None
        self.page = self.doorbell = 0
        self.since = 0
        self.users = 0
        self.away = 0
        self.queues = (SendQueue(0, memory), SendQueue(1, memory))
        self.seen = [0, 0]
        self.taken = [0, 0]
        self.told = [0, 0]
        self.at = [0, 0]
        self.retagged = 0
        self.handling: Arrived | None = None
        self.kept: Kept = deque()
