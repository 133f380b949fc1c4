"""The answer that a receiver must give to each packet, one after the other."""

from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from nicbed.layouts.via import (
    ADDRESS,
    MAX_SEGMENTS,
    VA_BITS,
    BreakCode,
    Event,
    PacketKind,
    Reliability,
    RemoteOperation,
    Status,
)
from nicbed.rtl.vi.types import Access

from tests.models.vi.memory import VirtualMemory

__all__ = ["Described", "Model", "Side"]

UD, RD, RR = Reliability


@dataclass
class Described:
    """A descriptor as posted. ``count``: its SegCount."""

    address: tuple[int, int]
    segments: list[tuple[int, int, int]]
    control: int = 0
    count: int = 0
    readable: bool = True
    done: int = 0
    """Bytes that landed."""

    @property
    def malformed(self) -> bool:
        return self.count > MAX_SEGMENTS or self.control & ~0xC != 0


@dataclass
class Side:
    """A VI's receiving side."""

    level: Reliability
    attributes: dict[str, int]
    expected: int = 0
    missed: bool = False
    broken: bool = False
    begun: PacketKind | None = None
    held: Described | None = None
    written: int = 0
    reading: Described | None = None
    posted: deque[Described] = field(default_factory=deque)


class Refused(Exception):
    """A descriptor's error."""

    def __init__(self, error: Status) -> None:
        super().__init__()
        self.error = error


class Model:
    """``sides``: the VIs that are connected. What comes out is in lists named as the receiver's
    ports; ``image`` is what memory becomes, except for bytes that are ``undefined``: what else
    they may be."""

    def __init__(self, memory: VirtualMemory) -> None:
        self.memory = memory
        self.image = bytearray(memory.image)
        self.undefined: dict[int, set[int]] = {}
        self.sides: dict[int, Side] = {}
        self.complete: list[dict[str, int]] = []
        self.break_: list[dict[str, int]] = []
        self.event: list[dict[str, int]] = []
        self.control_packet: list[dict[str, int]] = []
        self.acknowledged: list[dict[str, int]] = []
        self.read_job: list[dict[str, int]] = []
        self.read_done: list[int] = []
        self.lost: list[int] = []
        self.counts = dict.fromkeys(("unmatched", "duplicate", "gap", "dropped"), 0)

    # Packets

    def packet(self, vi: int, matches: bool, kind: int, sequence: int, content: bytes, *,
               first: bool, last: bool, immediate: int | None, acknowledge: bool,
               address: tuple[int, int] | None, value: int, carries: bool = False) -> None:
        """``value``: the header's field immediate; ``matches``: it is from the VI's peer."""
        side = self.sides.get(vi)
        reliable = side is not None and side.level is not UD
        if side is not None and matches and kind == PacketKind.SEND and first:
            # Whatever becomes of the packet.
            self._take(vi, side)
        if (side is None or not matches or side.broken
                or not reliable and kind not in (PacketKind.SEND, PacketKind.RDMA_WRITE)):
            self.counts["unmatched"] += 1
            return
        if kind == PacketKind.PROBE:
            self._tell(vi, PacketKind.ACK, side.expected, value, echo=True)
            return
        if kind >= PacketKind.ACK:
            if kind == PacketKind.BREAK:
                self._broken(vi, side, value)
            self.acknowledged.append({
                "vi": vi, "sequence": sequence, "again": int(kind == PacketKind.NAK),
                "echo": int(kind == PacketKind.ACK and acknowledge),
                "broken": int(kind == PacketKind.BREAK), "code": value})
            return
        if (carries and reliable and kind != PacketKind.READ_REQUEST
                and not (last and immediate is not None)):
            # Whatever becomes of the packet.
            self.acknowledged.append({"vi": vi, "sequence": value & 255, "again": 0, "echo": 0,
                                      "broken": 0, "code": value})
        ahead = sequence - side.expected & 255
        if ahead >= (128 if reliable else 224):
            self.counts["duplicate"] += 1
            if reliable:
                self._tell(vi, PacketKind.NAK if side.missed else PacketKind.ACK, side.expected)
            return
        if reliable and ahead:
            self.counts["gap"] += 1
            if not side.missed:
                self._tell(vi, PacketKind.NAK, side.expected)
            side.missed = True
            return
        side.missed = False
        side.expected = sequence + 1 & 255
        goes_on = side.begun == kind and not ahead
        if kind in (PacketKind.SEND, PacketKind.RDMA_WRITE):
            if first or ahead or not goes_on:
                side.begun = None
            if not (first or goes_on):
                self.counts["gap"] += bool(ahead)
            elif kind == PacketKind.SEND:
                self._send(vi, side, content, sequence, first=first, last=last, immediate=immediate)
            else:
                self._write(vi, side, content, sequence, first=first, last=last,
                            immediate=immediate, address=address)
        elif kind == PacketKind.READ_REQUEST:
            if side.attributes["rdma_read"]:
                va, handle = address
                self.read_job.append({"vi": vi, "address": ADDRESS.pack(va=va, handle=handle),
                                      "length": value})
            else:
                self._event(vi, Event.RDMAR_PROT)
                self._break(vi, side, sequence, BreakCode.RDMA_PROTECTION)
        elif side.reading is not None:
            self._response(vi, side, content, sequence, last=last)
        if reliable and acknowledge and not side.broken:
            self._tell(vi, PacketKind.ACK, side.expected)

    def bad_packet(self, vi: int, matches: bool, kind: int, sequence: int, content: bytes, *,
                   first: bool) -> None:
        """One that its last word says is bad. A descriptor is taken for it, as for any; its data
        may have come where a good one's would, into a descriptor behind what was delivered."""
        side = self.sides.get(vi)
        if side is None or not matches:
            return
        if kind == PacketKind.SEND and first:
            self._take(vi, side)
        ahead = sequence - side.expected & 255
        if side.broken or ahead and (side.level is not UD or ahead >= 224):
            return
        if kind == PacketKind.SEND and side.held is not None and (
                side.begun is None if first else side.begun == PacketKind.SEND and not ahead):
            held, segments = side.held, side.held.segments
            if first and (not held.readable or held.malformed):
                return
        elif kind == PacketKind.READ_RESPONSE and side.reading is not None:
            held, segments = side.reading, side.reading.segments[1:]
            first = False
        else:
            return
        before, done = bytes(self.image), held.done
        held.done = 0 if first else done
        with suppress(Refused):
            self._scatter(held, segments, content, 1000 + vi, lost=True)
        held.done = done
        self.image[:] = before

    def abort(self, vi: int) -> None:
        side = self.sides.pop(vi)
        for descriptor, send in ((side.held, False), (side.reading, True)):
            if descriptor is not None:
                begun = send or side.begun == PacketKind.SEND
                self._complete(vi, descriptor, RemoteOperation.RDMA_READ if send
                               else RemoteOperation.RECEIVE, Status.FLUSHED, length=0,
                               partial=begun and descriptor.done > 0)

    def read_lost(self, vi: int) -> None:
        side = self.sides[vi]
        if side.reading is not None:
            self._complete(vi, side.reading, RemoteOperation.RDMA_READ, Status.TRANSPORT, length=0,
                           partial=side.reading.done > 0)
            side.reading = None

    # Messages

    def _send(self, vi: int, side: Side, content: bytes, sequence: int, *, first: bool, last: bool,
              immediate: int | None) -> None:
        operation = RemoteOperation.RECEIVE
        if first and not self._descriptor(vi, side, sequence, operation):
            return
        held = side.held
        assert held is not None
        try:
            self._scatter(held, held.segments, content, 1000 + vi)
        except Refused as refused:
            self._complete(vi, held, operation, refused.error)
            side.held = side.begun = None
            if side.level is not UD:
                self._break(vi, side, sequence, BreakCode.REMOTE_DESCRIPTOR
                            if refused.error == Status.LENGTH else self._lost(side))
            return
        side.begun = None if last else PacketKind.SEND
        if last:
            side.held = None
            self._complete(vi, held, operation, immediate=immediate)

    def _write(self, vi: int, side: Side, content: bytes, sequence: int, *, first: bool, last: bool,
               immediate: int | None, address: tuple[int, int]) -> None:
        operation = RemoteOperation.REMOTE_RDMA_WRITE
        if first:
            side.written = 0
        written = 0
        if side.attributes["rdma_write"]:
            written = self._store(*address, content, 1000 + vi, Access.RDMA_WRITE)
        side.written += written
        side.begun = None if last else PacketKind.RDMA_WRITE
        if not side.attributes["rdma_write"] or written < len(content):
            side.begun = None
            if immediate is None:
                self._event(vi, Event.RDMAW_PROT)
            elif self._descriptor(vi, side, sequence, operation, refused=True):
                held, side.held = side.held, None
                self._complete(vi, held, operation, Status.RDMA_PROTECTION, length=0,
                               partial=side.written > 0)
            if side.level is not UD and not side.broken:
                self._break(vi, side, sequence, BreakCode.RDMA_PROTECTION)
        elif last and immediate is not None and self._descriptor(vi, side, sequence, operation):
            held, side.held = side.held, None
            held.done = side.written
            self._complete(vi, held, operation, immediate=immediate)

    def _response(self, vi: int, side: Side, content: bytes, sequence: int, *, last: bool) -> None:
        reading = side.reading
        assert reading is not None
        try:
            self._scatter(reading, reading.segments[1:], content, 1000 + vi)
        except Refused as refused:
            side.reading = None
            self._complete(vi, reading, RemoteOperation.RDMA_READ, refused.error)
            self._break(vi, side, sequence, BreakCode.REMOTE_DESCRIPTOR
                        if refused.error == Status.LENGTH else self._lost(side))
            return
        if last:
            side.reading = None
            self._complete(vi, reading, RemoteOperation.RDMA_READ)
            self.read_done.append(vi)

    def _broken(self, vi: int, side: Side, code: int) -> None:
        if side.reading is not None:
            error = {BreakCode.RDMA_PROTECTION: Status.RDMA_PROTECTION,
                     BreakCode.REMOTE_DESCRIPTOR: Status.REMOTE_DESCRIPTOR}.get(
                         code, Status.TRANSPORT)
            self._complete(vi, side.reading, RemoteOperation.RDMA_READ, error, length=0,
                           partial=side.reading.done > 0)
            side.reading = None
        side.broken = True

    def _take(self, vi: int, side: Side) -> None:
        """A descriptor is held afterwards, if one was posted."""
        if side.held is None and side.posted:
            side.held = side.posted.popleft()
            if not side.held.readable:
                if side.posted:
                    self.lost.append(2 * vi + 1)
                side.posted.clear()

    def _descriptor(self, vi: int, side: Side, sequence: int, operation: RemoteOperation, *,
                    refused: bool = False) -> bool:
        """Holds a good receive descriptor afterwards, or has done what there is to do."""
        self._take(vi, side)
        if side.held is None:
            if refused:
                self._event(vi, Event.RDMAW_PROT)
            else:
                self.counts["dropped"] += 1
                if side.level is UD:
                    self._event(vi, Event.RECVQ_EMPTY)
                else:
                    self._break(vi, side, sequence, self._lost(side))
            return False
        if not side.held.readable:
            held, side.held = side.held, None
            self._complete(vi, held, operation, silent=True)
            self._break(vi, side, sequence, self._lost(side), Event.POST_DESC)
            return False
        side.held.done = 0
        if side.held.malformed:
            held, side.held = side.held, None
            self._complete(vi, held, operation, Status.FORMAT)
            if side.level is not UD:
                self._break(vi, side, sequence, self._lost(side))
            return False
        return True

    # Memory

    def _scatter(self, descriptor: Described, segments: list[tuple[int, int, int]], content: bytes,
                 tag: int, *, lost: bool = False) -> None:
        at = 0
        skip = descriptor.done
        for va, handle, length in segments:
            start = min(skip, length)
            skip -= start
            piece = content[at:at + length - start]
            if piece and not skip:
                if va + start >> VA_BITS or handle >> 26:
                    raise Refused(Status.PROTECTION)
                written = self._store(va + start, handle, piece, tag, Access.LOCAL, lost=lost)
                descriptor.done += written
                if written < len(piece):
                    raise Refused(Status.PROTECTION)
                at += written
        if at < len(content):
            raise Refused(Status.LENGTH)

    def _store(self, va: int, handle: int, content: bytes, tag: int, access: Access, *,
               lost: bool = False) -> int:
        at = 0
        while at < len(content):
            found = self.memory.lookup(handle, va + at, tag, access)
            if found is None:
                break
            piece = content[at:at + found[1]]
            self.image[found[0]:found[0] + len(piece)] = piece
            for place, byte in enumerate(piece, found[0]):
                if lost:
                    self.undefined.setdefault(place, set()).add(byte)
                else:
                    self.undefined.pop(place, None)
            at += len(piece)
        return at

    # What comes out

    def _lost(self, side: Side) -> BreakCode:
        return BreakCode.REMOTE_DESCRIPTOR if side.level is RR else BreakCode.LOST

    def _tell(self, vi: int, kind: PacketKind, sequence: int, code: int = 0, *,
              echo: bool = False) -> None:
        self.control_packet.append({"vi": vi, "kind": kind, "echo": int(echo),
                                    "sequence": sequence, "code": code})

    def _event(self, vi: int, event: Event) -> None:
        self.event.append({"code": event, "number": vi})

    def _break(self, vi: int, side: Side, sequence: int, code: BreakCode,
               event: Event = Event.CONN_LOST) -> None:
        side.broken = True
        self.break_.append({"vi": vi, "event": event})
        if side.level is not UD:
            self._tell(vi, PacketKind.BREAK, sequence, code)

    def _complete(self, vi: int, descriptor: Described, operation: RemoteOperation,
                  error: int = 0, *, length: int | None = None, immediate: int | None = None,
                  silent: bool = False, partial: bool = False) -> None:
        va, handle = descriptor.address
        entry: dict[str, Any] = {
            "queue": 2 * vi + (operation != RemoteOperation.RDMA_READ),
            "address": ADDRESS.pack(va=va, handle=handle), "silent": int(silent)}
        if error and (partial or descriptor.done and length is None):
            error |= Status.PARTIAL
        if not silent:
            entry |= {"length": descriptor.done if length is None else length,
                      "status": error | operation << 16
                      | (0 if immediate is None else Status.IMMEDIATE),
                      "immediate": immediate or 0}
        self.complete.append(entry)
