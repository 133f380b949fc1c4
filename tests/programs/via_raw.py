"""VIA without VIPL: a node's memory, VIs and descriptors by hand, for tests of the engine itself.

Everything is charged to the kernel's process but doorbells; virtual pages are mapped as asked for.
"""

from collections.abc import Iterable
from typing import Any

from nicbed.host.port.node import Node
from nicbed.host.port.port import Watch
from nicbed.layouts.operations import NIC_BASE
from nicbed.layouts.registers import address
from nicbed.layouts.via import (
    ADDRESS,
    ADDRESS_SEGMENT,
    ATTRIBUTES,
    CONTROL_SEGMENT,
    CQ_CONFIG,
    CQ_PAGES,
    DATA_SEGMENT,
    DOORBELL_PAGES,
    EVENT,
    PAGE,
    PEER,
    STATUS,
    TRANSLATION_FLAGS,
    TRANSLATION_PLACE,
    Control,
    Doorbell,
    Operation,
    ViCommand,
)

__all__ = ["Raw", "Region"]


class Region:
    """Registered memory: ``length`` bytes from ``va`` on under ``handle``."""

    def __init__(self, raw: "Raw", va: int, handle: int, length: int, base: int) -> None:
        self.raw, self.va, self.handle, self.length = raw, va, handle, length
        self.base = base
        """Physical address of ``va``: its pages are in a row."""

    def at(self, offset: int, length: int = 0) -> tuple[int, int, int]:
        """A data segment in it."""
        return self.va + offset, self.handle, length

    def write(self, offset: int, data: bytes) -> None:
        self.raw.node.memory.write(self.base + offset, data)

    def read(self, offset: int, length: int) -> bytes:
        return self.raw.node.memory.read(self.base + offset, length)


class Raw:
    """The VIs of a node. ``process`` is who rings."""

    def __init__(self, node: Node, process: int = 1) -> None:
        self.node, self.port = node, node.port
        self.via = node.description.via
        self.process = process
        self.handle = 0
        self.page = 0x1000 + 0x111 * node.number
        self.last: dict[tuple[int, int], tuple[Region, int]] = {}
        self.table = node.allocate(16 * self.via.translations, 64)

    async def open(self) -> None:
        await self.port.poll(Watch(address("via_ready"), 1))
        await self.set(table_base=self.table)

    async def set(self, **registers: int) -> None:
        self.port.process = 0
        for name, word in registers.items():
            await self.port.pio_write(address(name), word, posted=False)

    async def get(self, name: str) -> int:
        self.port.process = 0
        return await self.port.pio_read(address(name))

    # Memory

    async def region(self, length: int, *, tag: int = 7, start: int = 0, rdma_write: int = 1,
                     rdma_read: int = 1, handle: int | None = None) -> Region:
        """Registers fresh memory; ``start``: offset of its first byte in its first page."""
        size = self.via.page_bytes
        pages = -(-(start + length) // size)
        base = self.node.allocate(pages * size, size)
        physical = self.via.translation == "physical"
        first = base // size if physical else self.page
        if handle is None:
            handle = (self.handle - first) % (1 << 26) if not physical else self.handle + 5
        self.page += pages + 3
        self.handle += pages
        for page in range(pages):
            low = start if page == 0 else 0
            high = min(start + length - page * size, size) - 1
            flags = TRANSLATION_FLAGS.pack(valid=1, rdma_write=rdma_write, rdma_read=rdma_read,
                                           tag=tag, first=low, last=high)
            place = TRANSLATION_PLACE.pack(frame=base // size + page, handle=handle,
                                           page=first + page >> 6)
            index = (first + page + (0 if physical else handle)) % self.via.translations
            await self.entry(index, flags, place)
        return Region(self, first * size + start, handle, length, base + start)

    async def entry(self, index: int, flags: int, place: int) -> None:
        """Writes an entry of the translation table."""
        if self.via.translation == "cache":
            self.node.memory.write(self.table + 16 * index, flags.to_bytes(8, "little")
                                   + place.to_bytes(8, "little"))
        else:
            await self.set(table_index=index, table_flags=flags, table_place=place)

    async def deregister(self, region: Region) -> None:
        """Clears the region's entries and waits until nothing uses them any more."""
        size = self.via.page_bytes
        for page in range(region.va // size, (region.va + region.length - 1) // size + 1):
            offset = 0 if self.via.translation == "physical" else region.handle
            index = (page + offset) % self.via.translations
            await self.entry(index, 0, 0)
            seen = await self.get("invalidated")
            await self.set(invalidate=index)
            await self.port.poll(Watch(address("invalidated"), seen + 1 & 0xFFFF))

    # VIs

    async def command(self, vi: int, command: ViCommand) -> None:
        await self.set(vi_select=vi, vi_command=command)
        await self.port.poll(Watch(address("vi_command"), 0))

    async def create(self, vi: int, **attributes: int) -> None:
        """A VI, idle."""
        fields: dict[str, Any] = {"tag": 7, "owner": self.process, "rdma_write": 1, "rdma_read": 1}
        await self.set(vi_attributes=ATTRIBUTES.pack(**fields | attributes), vi_peer=0)
        await self.command(vi, ViCommand.CREATE)
        for receive in (0, 1):
            self.last.pop((vi, receive), None)

    async def connect(self, vi: int, peer: int, peer_vi: int, max_transfer: int = 1 << 20,
                      **attributes: int) -> None:
        """Creates a VI and connects it."""
        await self.create(vi, **attributes)
        await self.set(vi_peer=PEER.pack(node=peer, vi=peer_vi, route=self.node.route(peer),
                                         max_transfer=max_transfer))
        await self.command(vi, ViCommand.CONNECT)

    async def completion_queue(self, cq: int, region: Region, log_entries: int,
                               tag: int = 7) -> None:
        await self.set(vi_select=cq, cq_base=ADDRESS.pack(va=region.va, handle=region.handle),
                       cq_config=CQ_CONFIG.pack(log_entries=log_entries, enable=1, tag=tag,
                                                owner=self.process))

    # Descriptors

    def write(self, region: Region, offset: int, segments: Iterable[tuple[int, int, int]] = (), *,
              remote: tuple[int, int] | None = None, operation: int | None = None,
              immediate: int | None = None, length: int | None = None, control: int = 0,
              count: int | None = None) -> None:
        """A descriptor at ``offset``; ``length`` is the segments' sum unless given."""
        segments = list(segments)
        if operation is None:
            operation = Operation.SEND if remote is None else Operation.RDMA_WRITE
        if immediate is not None:
            control |= Control.IMMEDIATE
        total = sum(segment[2] for segment in segments) if length is None else length
        number = len(segments) + (remote is not None) if count is None else count
        data = CONTROL_SEGMENT.pack(0, 0, number, operation | control, self.node.trace_number(),
                                    immediate or 0, total, 0)
        if remote is not None:
            data += ADDRESS_SEGMENT.pack(remote[0], remote[1], 0)
        region.write(offset, data + b"".join(DATA_SEGMENT.pack(*segment) for segment in segments))

    async def post(self, vi: int, region: Region, offset: int, *, receive: bool = False,
                   process: int | None = None) -> None:
        """Links the descriptor and rings the doorbell."""
        before = self.last.get((vi, receive))
        if before is not None:
            where, place = before
            where.write(place, (region.va + offset).to_bytes(8, "little")
                        + region.handle.to_bytes(4, "little"))
        self.last[vi, receive] = (region, offset)
        await self.ring(vi, Doorbell.RECEIVE if receive else Doorbell.SEND,
                        ADDRESS.pack(va=region.va + offset, handle=region.handle), process)

    async def ring(self, vi: int, doorbell: int, word: int, process: int | None = None) -> None:
        self.port.process = self.process if process is None else process
        await self.port.pio_write(NIC_BASE + DOORBELL_PAGES + vi * PAGE + doorbell, word,
                                  posted=False)
        self.port.process = 0

    async def burst(self, vi: int, doorbell: int, *words: int) -> None:
        """Tokens one right behind the other, by the kernel."""
        self.port.process = 0
        for word in words:
            await self.port.pio_write(NIC_BASE + DOORBELL_PAGES + vi * PAGE + doorbell, word)

    async def ring_cq(self, cq: int, place: int, word: int, process: int | None = None) -> None:
        self.port.process = self.process if process is None else process
        await self.port.pio_write(NIC_BASE + CQ_PAGES + cq * PAGE + place, word, posted=False)
        self.port.process = 0

    async def done(self, region: Region, offset: int, timeout: int = 0) -> tuple[int, int]:
        """Waits for a descriptor's completion: its Status and Length (-1 and 0: never came)."""
        poll = await self.port.poll(Watch(region.base + offset + 24, 1 << 32, 1 << 32), timeout)
        return (-1, 0) if poll.timed_out else (poll.data >> 32, poll.data & 0xFFFFFFFF)

    def status(self, region: Region, offset: int) -> dict[str, int]:
        """Fields of a descriptor's Status."""
        return STATUS.unpack(int.from_bytes(region.read(offset + 28, 4), "little"))

    async def events(self) -> list[tuple[int, int]]:
        """All events that wait: code and number."""
        found = []
        while word := await self.get("via_event"):
            found.append((EVENT.get(word, "code"), EVENT.get(word, "number")))
        return found
