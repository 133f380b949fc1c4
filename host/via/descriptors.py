"""Builds descriptors in a process's memory, and reads them back.

The builders stand for the consumer's own code before it posts: they charge the stores. A descriptor
may be posted again without changes.
"""

from collections.abc import Coroutine, Sequence
from typing import Any, NamedTuple

from ...layouts.via import (
    ADDRESS_SEGMENT,
    CONTROL_BYTES,
    CONTROL_SEGMENT,
    DATA_SEGMENT,
    DESCRIPTOR_ALIGN,
    ONE_SEGMENT,
    SEGMENT_BYTES,
    STATUS_WORD,
    Control,
    Operation,
    RemoteOperation,
    Status,
)
from ..kernel.process import Process
from .costs import Prices

__all__ = ["Descriptor", "Segment", "Single", "allocate", "build", "length_of", "pack",
           "queue", "rdma_read", "rdma_write", "read", "receive", "send"]

DONE, ERRORS, IMMEDIATE = int(Status.DONE), int(Status.ERRORS), int(Status.IMMEDIATE)
SINGLE_BYTES = ONE_SEGMENT.size
LENGTH = 0xFFFF_FFFF
"""Length's bits in the word with Length and Status."""

Build = Coroutine[Any, Any, int]
"""A descriptor is built when it is awaited."""


class Segment(NamedTuple):
    """A data segment, or an RDMA's address segment (whose ``length`` is ignored)."""

    va: int
    handle: int
    length: int = 0


class Descriptor(NamedTuple):
    """The content of a descriptor in memory."""

    next: int
    next_handle: int
    segments: tuple[Segment, ...]
    control: int
    trace: int
    immediate: int
    length: int
    status: int

    @property
    def done(self) -> bool:
        return bool(self.status & DONE)

    @property
    def errors(self) -> Status:
        """The error bits of Status."""
        return Status(self.status & ERRORS)

    @property
    def has_immediate(self) -> bool:
        """Tells whether the message came with ``immediate`` data."""
        return bool(self.status & IMMEDIATE)

    @property
    def operation(self) -> RemoteOperation:
        """The operation that completed the descriptor."""
        return RemoteOperation(self.status >> 16 & 7)


def allocate(process: Process, segments: int, *, fresh: bool = False) -> int:
    """Address of memory for a descriptor of ``segments`` segments, address segment included."""
    return process.allocate(max(64, CONTROL_BYTES + SEGMENT_BYTES * segments), DESCRIPTOR_ALIGN,
                            fresh=fresh)


def pack(segments: Sequence[Segment], *, control: int = 0, length: int | None = None,
         immediate: int = 0, remote: Segment | None = None, count: int | None = None) -> bytes:
    """The bytes of a descriptor. ``length`` and ``count`` (SegCount) follow from the segments
    unless given; tests give wrong ones."""
    if length is None:
        length = sum([segment[2] for segment in segments]) & 0xFFFF_FFFF
    if count is None:
        count = len(segments) + (remote is not None)
    data = CONTROL_SEGMENT.pack(0, 0, count, control, 0, immediate, length, 0)
    if remote is not None:
        data += ADDRESS_SEGMENT.pack(remote.va, remote.handle, 0)
    for segment in segments:
        data += DATA_SEGMENT.pack(*segment)
    return data


async def build(process: Process, va: int, segments: Sequence[Segment], *, control: int = 0,
                immediate: int | None = None, remote: Segment | None = None) -> int:
    """Write a descriptor to ``va``, charged; return ``va``. The memory belongs to the consumer
    until it posts the descriptor."""
    if immediate is not None:
        control |= Control.IMMEDIATE
    data = pack(segments, control=int(control), immediate=immediate or 0, remote=remote)
    queue(process, va, data)
    await process.port.settle()
    return va


class Single:
    """A send descriptor at ``va`` of one segment: the beginning of the buffer at ``buffer``. Use it
    for a descriptor that is built again and again; its place in memory is found once."""

    __slots__ = ("va", "buffer", "handle", "_at", "_port", "_price", "_write")

    def __init__(self, process: Process, va: int, buffer: int, handle: int) -> None:
        self.va = va
        self.buffer = buffer
        self.handle = handle
        self._at = process.physical(va)
        self._port = process.port
        self._price = process.node.service(Prices).single
        self._write = process.memory.writer(ONE_SEGMENT)

    def queue(self, length: int) -> None:
        """Build it for ``length`` bytes (:func:`queue`)."""
        port, at, write = self._port, self._at, self._write
        port.spend(self._price)
        port.put_touch(at, SINGLE_BYTES, True)
        write(at, 0, 0, 1, 0, 0, 0, length, 0, self.buffer, self.handle, length)


def queue(process: Process, va: int, data: bytes) -> None:
    """Write a descriptor of the bytes ``data`` (:func:`pack`) to ``va``, charged, with the CPU's
    traffic queued (:meth:`Process.queue_touch`)."""
    port, costs, size = process.port, process.node.service(Prices), len(data)
    if size == CONTROL_BYTES + SEGMENT_BYTES:
        port.spend(costs.single)
    else:
        port.spend(costs.descriptor)
        for _ in range((size - CONTROL_BYTES) // SEGMENT_BYTES):
            port.spend(costs.segment)
    process.queue_touch(va, size, True)
    process.write(va, data)


def send(process: Process, va: int, segments: Sequence[Segment],
         immediate: int | None = None) -> Build:
    """Build a send descriptor of ``segments``, with ``immediate`` data if given; return its
    ``va``."""
    return build(process, va, segments, immediate=immediate)


def receive(process: Process, va: int, segments: Sequence[Segment]) -> Build:
    """Build a receive descriptor; return its ``va``."""
    return build(process, va, segments)


def rdma_write(process: Process, va: int, segments: Sequence[Segment], remote: Segment,
               immediate: int | None = None) -> Build:
    """Build an RDMA write of ``segments`` to ``remote``; return its ``va``."""
    return build(process, va, segments, control=Operation.RDMA_WRITE, immediate=immediate,
                 remote=remote)


def rdma_read(process: Process, va: int, segments: Sequence[Segment], remote: Segment) -> Build:
    """Build an RDMA read from ``remote`` into ``segments``; return its ``va``."""
    return build(process, va, segments, control=Operation.RDMA_READ, remote=remote)


def length_of(process: Process, va: int) -> int:
    """The current Length of the descriptor at ``va``. This takes no target time."""
    return process.memory.word(process.physical(va) + STATUS_WORD) & LENGTH


def read(process: Process, va: int) -> Descriptor:
    """The current content of the descriptor at ``va``. This takes no target time."""
    following, handle, count, control, trace, immediate, length, status = CONTROL_SEGMENT.unpack(
        process.read(va, CONTROL_BYTES))
    size = SEGMENT_BYTES * min(count, 252)
    data = process.read(va + CONTROL_BYTES, size) if process.mapped(va, CONTROL_BYTES + size) \
        else b""
    segments = tuple(Segment(*found) for found in DATA_SEGMENT.iter_unpack(data))
    return Descriptor(following, handle, segments, control, trace, immediate, length, status)
