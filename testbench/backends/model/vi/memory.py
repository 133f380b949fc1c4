"""The VI engine's model, memory: translation and protection, descriptors, gather and scatter."""

from collections.abc import Callable, Iterator
from enum import IntEnum

from .....host.port.memory import ArrayMemory
from .....layouts.description import Description
from .....layouts.via import (
    ADDRESS_SEGMENT,
    CONTROL_BYTES,
    CONTROL_SEGMENT,
    DATA_SEGMENT,
    DESCRIPTOR_ALIGN,
    HANDLE_BITS,
    SEGMENT_BYTES,
    TRANSLATION_BYTES,
    TRANSLATION_FLAGS,
    TRANSLATION_PLACE,
    VA_BITS,
    Operation,
    RemoteOperation,
    Status,
)

__all__ = ["Access", "Descriptor", "Refused", "Translator", "Walk", "Wrong"]


class Access(IntEnum):
    """The purpose for which an address is translated."""

    LOCAL = 0
    RDMA_WRITE = 1
    RDMA_READ = 2


class Refused(Exception):
    """An access that the translation and protection table does not allow."""


class Wrong(Exception):
    """A fault of a descriptor or a message: ``status``, an error bit of Status."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.name)
        self.status = status


class Translator:
    """Translates (virtual address, handle) to physical memory, and makes the accesses.

    The entry at index (page + handle) mod the table's size must be valid, answer to all of the
    handle and to the page, have the tag, allow the access; the address must be within the region's
    bytes of the page. ``cache``: entries are in host memory, and one that was used is remembered
    until it is invalidated. ``table``: in the NIC. ``physical``: in the NIC, at the index of the
    page itself; the address is physical.
    """

    def __init__(self, description: Description, memory: ArrayMemory,
                 write: Callable[[int, bytes], None], registers: dict[str, int]) -> None:
        self.via = description.via
        self.memory = memory
        self.dma_write = write
        self.registers = registers
        self.table = [(0, 0)] * self.via.translations
        self.cached: dict[int, tuple[int, int]] = {}

    def entry(self, index: int) -> tuple[int, int]:
        """Both words of the entry."""
        count = "translation_hits"
        if self.via.translation != "cache":
            found = self.table[index]
        elif index in self.cached:
            found = self.cached[index]
        else:
            count = "translation_misses"
            self.registers["translation_walk"] += 12
            at = self.registers["table_base"] + index * TRANSLATION_BYTES
            found = (self.memory.word(at), self.memory.word(at + 8))
            if TRANSLATION_FLAGS.get(found[0], "valid"):
                self.cached[index] = found
        self.registers[count] += 1
        return found

    def place(self) -> None:
        """Register table_place was written."""
        self.table[self.registers["table_index"] % self.via.translations] = (
            self.registers["table_flags"], self.registers["table_place"])

    def invalidate(self, index: int) -> None:
        self.cached.pop(index % self.via.translations, None)

    def translate(self, va: int, handle: int, tag: int, access: Access) -> tuple[int, int]:
        """Physical address, and how many bytes from there on are in the same page and region."""
        if va >> VA_BITS or handle >> HANDLE_BITS:
            raise Refused
        page, offset = divmod(va, self.via.page_bytes)
        physical = self.via.translation == "physical"
        index = (page if physical else page + handle) % self.via.translations
        flags, place = self.entry(index)
        entry = TRANSLATION_FLAGS.unpack(flags) | TRANSLATION_PLACE.unpack(place)
        allowed = {Access.LOCAL: 1, Access.RDMA_WRITE: entry["rdma_write"],
                   Access.RDMA_READ: entry["rdma_read"]}[access]
        if not (entry["valid"] and allowed and entry["tag"] == tag and entry["handle"] == handle
                and entry["page"] == page >> 6 and entry["first"] <= offset <= entry["last"]):
            raise Refused
        room = min(entry["last"], self.via.page_bytes - 1) - offset + 1
        return va if physical else entry["frame"] * self.via.page_bytes + offset, room

    def pieces(self, va: int, handle: int, length: int, tag: int,
               access: Access = Access.LOCAL) -> Iterator[tuple[int, int]]:
        """Physical address and bytes of each page's part; each is translated when it is asked for.
        """
        while length:
            physical, room = self.translate(va, handle, tag, access)
            count = min(room, length)
            yield physical, count
            va, length = va + count, length - count

    def read(self, va: int, handle: int, length: int, tag: int,
             access: Access = Access.LOCAL) -> bytes:
        return b"".join(self.memory.read(physical, count)
                        for physical, count in self.pieces(va, handle, length, tag, access))

    def write(self, va: int, handle: int, data: bytes, tag: int,
              access: Access = Access.LOCAL) -> Iterator[int]:
        """Writes page by page; gives the bytes of each part after it is written."""
        for physical, count in self.pieces(va, handle, len(data), tag, access):
            self.dma_write(physical, data[:count])
            data = data[count:]
            yield count


class Descriptor:
    """A descriptor in the consumer's memory: its control segment as it was when it was taken, its
    other segments as they are when they are used.

    Raises Refused if not even the control segment can be read."""

    def __init__(self, translator: Translator, va: int, handle: int, tag: int) -> None:
        self.translator, self.tag = translator, tag
        self.va, self.handle = va, handle
        if va % DESCRIPTOR_ALIGN:
            raise Refused
        physical, room = translator.translate(va, handle, tag, Access.LOCAL)
        if room < CONTROL_BYTES:
            raise Refused
        self.head = translator.memory.read(physical, min(DESCRIPTOR_ALIGN, room))
        (self.next, self.next_handle, self.segments, self.control, trace, self.immediate,
         self.length, _) = CONTROL_SEGMENT.unpack_from(self.head)
        self.trace = trace & 0xFFFFFF
        self.operation = self.control & 3

    @property
    def following(self) -> tuple[int, int]:
        """Address of the descriptor behind it."""
        return self.next, self.next_handle

    @property
    def rdma(self) -> bool:
        return self.operation in (Operation.RDMA_WRITE, Operation.RDMA_READ)

    @property
    def sent_as(self) -> RemoteOperation:
        """The status's operation field, of a send queue."""
        return {Operation.RDMA_WRITE: RemoteOperation.RDMA_WRITE,
                Operation.RDMA_READ: RemoteOperation.RDMA_READ}.get(
                    Operation(self.operation), RemoteOperation.SEND)

    def segment(self, index: int) -> bytes:
        """The 16 bytes of a segment. Those behind the second are read in chunks of 64 bytes, each
        translated afresh."""
        at = CONTROL_BYTES + index * SEGMENT_BYTES
        if at < DESCRIPTOR_ALIGN:
            if at + SEGMENT_BYTES > len(self.head):
                raise Refused
            return self.head[at:at + SEGMENT_BYTES]
        chunk, place = at // DESCRIPTOR_ALIGN * DESCRIPTOR_ALIGN, at % DESCRIPTOR_ALIGN
        physical, room = self.translator.translate(self.va + chunk, self.handle, self.tag,
                                                   Access.LOCAL)
        if place + SEGMENT_BYTES > room:
            raise Refused
        return self.translator.memory.read(physical + place, SEGMENT_BYTES)

    @property
    def remote(self) -> tuple[int, int]:
        """Remote address and handle of an RDMA descriptor."""
        va, handle, _ = ADDRESS_SEGMENT.unpack(self.segment(0))
        if va >> VA_BITS or handle >> HANDLE_BITS:
            raise Refused
        return va, handle

    def check_total(self) -> None:
        """Raises Wrong, with LENGTH, unless the data segments' bytes together are its Length."""
        left = self.length
        for index in range(self.rdma, self.segments):
            left -= DATA_SEGMENT.unpack(self.segment(index))[2]
            if left < 0:
                break
        if left:
            raise Wrong(Status.LENGTH)


class Walk:
    """A way through a descriptor's data segments, from the first byte on.

    Both raise Wrong: with PROTECTION for a segment that cannot be read or whose memory is not
    allowed, with LENGTH where the segments are over. ``bytes`` is what was moved up to then.
    """

    def __init__(self, descriptor: Descriptor) -> None:
        self.descriptor = descriptor
        self.index = int(descriptor.rdma)
        self.offset = 0
        self.bytes = 0

    def piece(self) -> tuple[int, int, int] | None:
        """Address, handle and bytes of what is next; None behind the last segment."""
        while self.index < self.descriptor.segments:
            try:
                va, handle, length = DATA_SEGMENT.unpack(self.descriptor.segment(self.index))
            except Refused:
                raise Wrong(Status.PROTECTION) from None
            if self.offset < length:
                return va + self.offset, handle, length - self.offset
            self.index, self.offset = self.index + 1, 0
        return None

    def moved(self, count: int) -> None:
        self.offset += count
        self.bytes += count

    def _next(self, wanted: int) -> tuple[int, int, int]:
        piece = self.piece()
        if piece is None:
            raise Wrong(Status.LENGTH)
        va, handle, left = piece
        return va, handle, min(left, wanted)

    def gather(self, length: int) -> bytes:
        """The next ``length`` bytes."""
        data = b""
        while len(data) < length:
            va, handle, count = self._next(length - len(data))
            try:
                data += self.descriptor.translator.read(va, handle, count, self.descriptor.tag)
            except Refused:
                raise Wrong(Status.PROTECTION) from None
            self.moved(count)
        return data

    def scatter(self, data: bytes) -> None:
        """Puts ``data`` where the next bytes go."""
        while data:
            va, handle, count = self._next(len(data))
            try:
                for part in self.descriptor.translator.write(va, handle, data[:count],
                                                             self.descriptor.tag):
                    self.moved(part)
            except Refused:
                raise Wrong(Status.PROTECTION) from None
            data = data[count:]
