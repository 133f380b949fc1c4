"""The VI engine's model, queues: work queues, completions and completion queues, events."""

from collections import deque
from typing import TYPE_CHECKING

from .....layouts.via import (
    CQ_ARM,
    CQ_CONFIG,
    CQ_CONSUMED,
    CQ_ENTRY,
    EVENT,
    PAGE,
    Event,
    Status,
)
from .memory import Access, Refused

if TYPE_CHECKING:
    from .engine import Engine, Vi

__all__ = ["CompletionQueue", "EventQueue", "Unreadable", "WorkQueue", "complete", "page_write"]

COUNT = 0xFFFF
"""Counts are modulo 65536."""


class Unreadable(Exception):
    """The descriptor at the head of a queue cannot be read."""


class WorkQueue:
    """Descriptors posted and not yet taken. Only the head's address is known: the others are linked
    in memory."""

    def __init__(self) -> None:
        self.pending = 0
        self.head = (0, 0)
        self.posted = 0
        self.completed = 0
        self.armed = False

    def token(self, va: int, handle: int, depth: int) -> bool:
        """A doorbell; false if the queue is full. The address matters only if nothing is pending.
        """
        if self.pending == depth:
            return False
        if not self.pending:
            self.head = (va, handle)
        self.pending += 1
        self.posted = self.posted + 1 & COUNT
        return True

    def take(self) -> tuple[int, int] | None:
        """Address of the oldest descriptor; what follows is known when ``link`` has told."""
        if not self.pending:
            return None
        self.pending -= 1
        return self.head

    def link(self, following: tuple[int, int]) -> None:
        """Next and NextHandle of the descriptor taken. With nothing pending they mean nothing: the
        next token says where the head is."""
        self.head = following

    def lose(self) -> None:
        """The descriptor taken cannot be read: what is behind it is forgotten."""
        self.posted = self.posted - self.pending & COUNT
        self.pending = 0


class CompletionQueue:
    """A ring of CQ_ENTRY words in its owner's memory."""

    def __init__(self, base: int, config: int) -> None:
        settings = CQ_CONFIG.unpack(config)
        self.va, self.handle = base & (1 << 38) - 1, base >> 38
        self.entries = 1 << settings["log_entries"]
        self.enable, self.tag, self.owner = (settings[name] for name in ("enable", "tag", "owner"))
        self.tail = 0
        self.consumed = 0
        self.armed = False


def complete(engine: "Engine", vi: "Vi", receive: bool, address: tuple[int, int], *,
             length: int = 0, status: int = 0, operation: int = 0, immediate: int | None = None,
             silent: bool = False) -> None:
    """A descriptor is over: status (done last), entry of the completion queue, event if armed.

    ``silent``: it cannot be written to, it is only counted (and may raise the event armed for). So
    is one whose memory is refused now, and that breaks the VI with COMP_PROT.
    """
    queue = vi.queues[receive]
    queue.completed = queue.completed + 1 & COUNT
    word = Status.DONE | status | operation << 16
    if immediate is not None:
        word |= Status.IMMEDIATE
    broken = None
    if not silent:
        try:
            _write_status(engine, vi, address, length, word, immediate)
            if vi.attributes["receive_on_cq" if receive else "send_on_cq"]:
                broken = _append(engine, vi, receive)
        except Refused:
            broken = Event.COMP_PROT
    if queue.armed:
        queue.armed = False
        engine.events.push(Event.RECEIVE_DONE if receive else Event.SEND_DONE, vi.number)
    if broken is not None:
        engine.break_(vi, broken)


def _write_status(engine: "Engine", vi: "Vi", address: tuple[int, int], length: int, word: int,
                  immediate: int | None) -> None:
    tag = vi.attributes["tag"]
    at, room = engine.translator.translate(*address, tag, Access.LOCAL)
    if room < 32:
        raise Refused
    if immediate is not None:
        engine.dma_write(at + 20, immediate.to_bytes(4, "little"))
    engine.dma_write(at + 24, length.to_bytes(4, "little") + int(word).to_bytes(4, "little"))


def _append(engine: "Engine", vi: "Vi", receive: bool) -> Event | None:
    """One entry at the tail of the completion queue; what breaks the VI, if there is no room."""
    cq = engine.cqs.get(vi.attributes["receive_cq" if receive else "send_cq"])
    if cq is None or not cq.enable:
        raise Refused
    if (cq.tail - cq.consumed & COUNT) >= cq.entries:
        return Event.VI_OVERRUN
    entry = CQ_ENTRY.pack(phase=1 - cq.tail // cq.entries % 2, receive=receive, vi=vi.number)
    at, room = engine.translator.translate(cq.va + 8 * (cq.tail % cq.entries), cq.handle, cq.tag,
                                           Access.LOCAL)
    if room < 8 or at % 8:
        raise Refused
    engine.dma_write(at, entry.to_bytes(8, "little"))
    cq.tail = cq.tail + 1 & COUNT
    if cq.armed:
        cq.armed = False
        engine.events.push(Event.CQ_READY, engine.number_of(cq))
    return None


def page_write(engine: "Engine", offset: int, word: int, process: int) -> None:
    """A write to a completion queue's page: entries consumed, or an arming."""
    number, place = divmod(offset, PAGE)
    cq = engine.cqs.get(number)
    if cq is None or not cq.enable or process not in (0, cq.owner):
        engine.count("doorbells_foreign")
    elif place == CQ_CONSUMED:
        cq.consumed = word & COUNT
    elif place != CQ_ARM:
        pass
    elif cq.tail != word & COUNT:
        engine.events.push(Event.CQ_READY, number)
    else:
        cq.armed = True


class EventQueue:
    """Events that wait for the kernel agent; the interrupt line is high while there are any."""

    def __init__(self, engine: "Engine", depth: int) -> None:
        self.engine, self.depth = engine, depth
        self.waiting: deque[tuple[int, int]] = deque()
        self.seen: set[Event] = set()

    def push(self, event: Event, number: int) -> None:
        """The last place is for CATASTROPHIC, which says that events were lost."""
        self.seen.add(event)
        if len(self.waiting) < self.depth - 1:
            self.waiting.append((event, number))
        else:
            self.engine.count("events_lost")
            if len(self.waiting) < self.depth:
                self.waiting.append((Event.CATASTROPHIC, 0))
                self.seen.add(Event.CATASTROPHIC)
        self.engine.nic.line()

    def pop(self) -> int:
        """Returns what reading via_event gives, and takes."""
        if not self.waiting:
            return 0
        code, number = self.waiting.popleft()
        self.engine.nic.line()
        return EVENT.pack(valid=1, code=code, number=number)
