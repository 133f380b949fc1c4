"""Kernel-trap design point: the kernel agent's access to the consumer's memory.

Each access for a consumer is looked up page by page under a memory handle, with the checks of a VI
engine: handle, bounds to the byte, protection tag, RDMA rights. Copies are charged as CPU copies:
both sides through the cache, and ``copy_word`` for every 8 bytes.
"""

import builtins
from enum import IntEnum
from typing import NamedTuple

from ....layouts.via import (
    ADDRESS_SEGMENT,
    CONTROL_BYTES,
    CONTROL_SEGMENT,
    DATA_SEGMENT,
    DESCRIPTOR_ALIGN,
    HANDLE_BITS,
    MAX_SEGMENTS,
    SEGMENT_BYTES,
    VA_BITS,
    Operation,
    RemoteOperation,
    Status,
)
from ...port.node import Node
from ..regions import Region
from .costs import TrapPrices

__all__ = ["Access", "Descriptor", "Refused", "TrapMemory", "Walk", "Wrong"]

RDMA = (int(Operation.RDMA_WRITE), int(Operation.RDMA_READ))
SENT_AS = {Operation.SEND: RemoteOperation.SEND, Operation.RDMA_WRITE: RemoteOperation.RDMA_WRITE,
           Operation.RDMA_READ: RemoteOperation.RDMA_READ,
           Operation.RESERVED: RemoteOperation.SEND}


class Access(IntEnum):
    """Kinds of access."""

    LOCAL = 0
    RDMA_WRITE = 1
    RDMA_READ = 2


class Refused(Exception):
    """This access is not allowed."""


class Wrong(Exception):
    """A message and its segments do not match: ``status`` has the error bits."""

    def __init__(self, status: Status) -> None:
        super().__init__()
        self.status = status


class Segment(NamedTuple):
    """A data segment."""

    va: int
    handle: int
    length: int


class Descriptor:
    """A descriptor, copied into the kernel.

    Attributes
    ----------
    count, control, immediate, length
        Its SegCount, Control, ImmediateData and Length.
    operation, rdma
        Of its Control: what is to be done, and whether that is an RDMA.
    remote
        Remote VA and handle of an RDMA; None if they could not be read, or if it is no RDMA.
    segments
        Its data segments, up to the first one that could not be read.
    whole
        Whether all segments could be read.
    """

    __slots__ = ("count", "control", "immediate", "length", "operation", "rdma", "remote",
                 "segments", "whole")

    def __init__(self, head: bytes) -> None:
        _, _, self.count, self.control, _, self.immediate, self.length, _ = (
            CONTROL_SEGMENT.unpack_from(head))
        self.operation: int = self.control & 3
        self.rdma = self.operation in RDMA
        self.remote: tuple[int, int] | None = None
        self.segments: list[Segment] = []
        self.whole = True

    @property
    def sent_as(self) -> RemoteOperation:
        """The operation field of Status, in a send queue."""
        return SENT_AS[Operation(self.operation)]


class TrapMemory:
    """Access to the consumer's memory, for the kernel."""

    def __init__(self, node: Node, regions: dict[int, Region]) -> None:
        self.port = node.port
        self.memory = node.memory
        self.regions = regions
        self.page_bytes = node.description.via.page_bytes
        self.prices = node.service(TrapPrices)

    def piece(self, va: int, handle: int, tag: int,
              access: Access = Access.LOCAL) -> tuple[int, int]:
        """Physical address, and number of bytes from there on in the same page and region.

        Raises
        ------
        Refused
            The access is not allowed.
        """
        self.port.spend(self.prices.translate)
        region = None if va >> VA_BITS or handle >> HANDLE_BITS else self.regions.get(handle)
        if (region is None or region.ptag.number != tag
                or not region.va <= va < region.va + region.length
                or access is Access.RDMA_WRITE and not region.rdma_write
                or access is Access.RDMA_READ and not region.rdma_read):
            raise Refused
        page, offset = divmod(va, self.page_bytes)
        return (region.frames[page - region.first] * self.page_bytes + offset,
                min(self.page_bytes - offset, region.va + region.length - va))

    async def descriptor(self, va: int, handle: int, tag: int) -> Descriptor:
        """Copy a descriptor into the kernel.

        Raises
        ------
        Refused
            The descriptor is misaligned, or its control segment cannot be read.
        """
        if va % DESCRIPTOR_ALIGN:
            raise Refused
        at, room = self.piece(va, handle, tag)
        if room < CONTROL_BYTES:
            raise Refused
        port, memory = self.port, self.memory
        port.spend(self.prices.descriptor)
        head = memory.read(at, CONTROL_BYTES)
        found = Descriptor(head)
        count = min(found.count, MAX_SEGMENTS)
        await port.touch(at, min(room, CONTROL_BYTES + SEGMENT_BYTES * min(count, 2)))
        for index in range(count):
            place = CONTROL_BYTES + SEGMENT_BYTES * index
            if place % DESCRIPTOR_ALIGN == 0:
                try:
                    at, room = self.piece(va + place, handle, tag)
                except Refused:
                    found.whole = False
                    break
                await port.touch(at, min(room, DESCRIPTOR_ALIGN,
                                         SEGMENT_BYTES * (count - index)))
            start = place % DESCRIPTOR_ALIGN
            if start + SEGMENT_BYTES > room:
                found.whole = False
                break
            port.spend(self.prices.segment)
            data = memory.read(at + start, SEGMENT_BYTES)
            if index == 0 and found.rdma:
                found.remote = ADDRESS_SEGMENT.unpack(data)[:2]
            else:
                found.segments.append(Segment(*DATA_SEGMENT.unpack(data)))
        return found

    async def copy_in(self, va: int, handle: int, length: int, tag: int, buffer: int,
                      access: Access = Access.LOCAL) -> bytes | memoryview:
        """Copy from the consumer's memory to the kernel's ``buffer``, and return the bytes, which
        are a view of it. With buffer 0 they go to memory that the caller writes in any case.

        Raises
        ------
        Refused
            A part of the memory may not be read.
        """
        port, memory = self.port, self.memory
        data, done = b"", 0
        while done < length:
            at, room = self.piece(va + done, handle, tag, access)
            part = min(room, length - done)
            await port.touch(at, part)
            port.work("copy_word", -(-part // 8))
            if buffer:
                await port.touch(buffer + done, part, store=True)
                memory.write(buffer + done, memory.view(at, part))
            else:
                data += memory.view(at, part)
            done += part
        return memory.view(buffer, length) if buffer else data

    async def copy_out(self, source: int, length: int, va: int, handle: int, tag: int,
                       access: Access = Access.LOCAL) -> int:
        """Copy from the kernel's memory at ``source`` to the consumer's, page by page; return the
        number of bytes copied, which is less than ``length`` if the rest may not be written."""
        port, memory = self.port, self.memory
        done = 0
        while done < length:
            try:
                at, room = self.piece(va + done, handle, tag, access)
            except Refused:
                break
            part = min(room, length - done)
            await port.touch(source + done, part)
            port.work("copy_word", -(-part // 8))
            await port.touch(at, part, store=True)
            memory.write(at, memory.view(source + done, part))
            done += part
        return done


class Walk:
    """A position in a descriptor's data segments, from the first byte on. ``bytes``: bytes moved so
    far."""

    __slots__ = ("memory", "descriptor", "tag", "index", "offset", "bytes")

    def __init__(self, memory: TrapMemory, descriptor: Descriptor, tag: int) -> None:
        self.memory = memory
        self.descriptor = descriptor
        self.tag = tag
        self.index = 0
        self.offset = 0
        self.bytes = 0

    def _next(self) -> Segment:
        """The rest of the current segment. Raises Wrong behind the last one."""
        segments = self.descriptor.segments
        while self.index < len(segments):
            va, handle, length = segments[self.index]
            if self.offset < length:
                return Segment(va + self.offset, handle, length - self.offset)
            self.index, self.offset = self.index + 1, 0
        raise Wrong(Status.LENGTH if self.descriptor.whole else Status.PROTECTION)

    def _moved(self, count: int) -> None:
        self.offset += count
        self.bytes += count

    async def gather(self, length: int, buffer: int) -> builtins.bytes | memoryview:
        """Copy the next ``length`` bytes to ``buffer`` (0: see TrapMemory.copy_in). Raises Wrong.
        """
        data, done = b"", 0
        while done < length:
            va, handle, left = self._next()
            part = min(left, length - done)
            try:
                found = await self.memory.copy_in(va, handle, part, self.tag,
                                                  buffer and buffer + done)
            except Refused:
                raise Wrong(Status.PROTECTION) from None
            if not buffer:
                data += found
            self._moved(part)
            done += part
        return self.memory.memory.view(buffer, length) if buffer else data

    async def scatter(self, source: int, length: int) -> None:
        """Copy the next ``length`` bytes from ``source``. Raises Wrong."""
        done = 0
        while done < length:
            va, handle, left = self._next()
            part = min(left, length - done)
            copied = await self.memory.copy_out(source + done, part, va, handle, self.tag)
            self._moved(copied)
            done += copied
            if copied < part:
                raise Wrong(Status.PROTECTION)
