"""The driver: firmware, ports, tables, pinned pages, the interrupt. The kernel's part, one a
node."""

from collections.abc import Sequence

from ...layouts.processor import WINDOW_PAGE
from ...layouts.vmmc import (
    EVENT_BYTES,
    EVENTS,
    EXPORTS,
    MOST_SLOTS,
    NODES,
    PORTS,
    TABLE_ENTRY,
    KernelCommand,
    Status,
)
from ..kernel.process import BASE, Process
from ..port.node import Node
from ..processor import FirmwareDriver
from .costs import Prices
from .handles import Export, Import
from .knobs import Knobs
from .pool import Pool

__all__ = ["Driver", "Opened"]

FRAMES = 12
"""Frames of a command PAGES."""
FILLED = 8
"""Most frames of a command FILL."""
LINE = 64


class Opened:
    """Port ``number`` of ``process``: where its words are in host memory."""

    def __init__(self, node: Node, number: int, table_pages: int) -> None:
        self.number = number
        self.process: Process | None = None
        self.report = node.allocate(LINE, LINE)
        self.statuses = node.allocate(8 * MOST_SLOTS, LINE)
        self.events = node.allocate(EVENTS * EVENT_BYTES, LINE)
        self.table = node.allocate(table_pages * TABLE_ENTRY, LINE)
        self.pinned: set[int] = set()
        """Pages of the process, by number."""


class Driver(FirmwareDriver):
    """The driver of ``node``: ``node.kernel(Driver)``.

    Attributes
    ----------
    interrupts
        Interrupts that were served.
    pins
        Pages that were pinned.
    """

    def __init__(self, node: Node) -> None:
        super().__init__(node, "VMMC")
        description = self.description
        self.knobs = description.section(Knobs)
        self.paths = node.service(Prices)
        self.page_bytes = description.via.page_bytes
        self.table_pages = description.memory.bytes // self.page_bytes
        self.interrupts = 0
        self.pins = 0
        self._places: list[Opened] = []
        self._numbers = Pool(PORTS)
        self._incoming = Pool(self.knobs.exports)
        self._outgoing = Pool(self.knobs.imports)
        self._exports = Pool(EXPORTS)
        self._names: set[int] = set()

    async def start(self) -> None:
        """Start the firmware, once a run.

        Raises
        ------
        ProcessorError
            This NIC has no processor, or it does not start.
        """
        if self.processor is not None:
            return
        node, description = self.node, self.description
        vmmc = self.knobs
        parameters: dict[str, int | list[int]] = {
            "nodes": node.nodes, "window": vmmc.window, "reliable": int(vmmc.reliable),
            "utlb": int(vmmc.translation == "utlb"), "retry_timeout": vmmc.retry_timeout,
            "retries": vmmc.retries, "mtu": description.nic.mtu, "page_bytes": self.page_bytes,
            "queue_slots": vmmc.queue_slots, "imports": vmmc.imports, "exported": vmmc.exports,
            "translations": vmmc.translations, "ways": min(vmmc.ways, vmmc.translations),
            "prefetch": vmmc.prefetch,
        }
        await self._load("vmmc", parameters, NODES, vmmc)
        await self._listen()

    # Ports

    async def open(self, process: Process) -> Opened | None:
        """Give ``process`` a port; None if there is none, or no memory for it."""
        number = self._numbers.take(1)
        if number is None:
            return None
        try:
            while len(self._places) <= number:
                self._places.append(Opened(self.node, len(self._places), self.table_pages))
        except MemoryError:
            self._numbers.give(number, 1)
            return None
        opened = self._places[number]
        opened.process = process
        opened.pinned = set()
        for place, size in ((opened.report, LINE), (opened.statuses, 8 * MOST_SLOTS),
                            (opened.events, EVENTS * EVENT_BYTES),
                            (opened.table, self.table_pages * TABLE_ENTRY)):
            self.memory.write(place, bytes(size))
        await self._own(number, process.number)
        await self._command(
            KernelCommand.OPEN, number, 0, opened.report | opened.events << 32,
            opened.statuses | opened.table << 32, BASE, self.table_pages)
        return opened

    async def close(self, opened: Opened, exports: Sequence[Export], imports: Sequence[Import]
                    ) -> None:
        """Take the port back, and what it exports and has imported. When this returns the NIC
        touches no memory of it any more."""
        await self._own(opened.number, 0)
        await self._command(KernelCommand.CLOSE, opened.number)
        for export in exports:
            self._give_export(export)
        for one in imports:
            self._give_import(one)
        self._numbers.give(opened.number, 1)
        opened.process = None

    async def _own(self, number: int, process: int) -> None:
        assert self.processor is not None
        await self._own_page(self.processor.symbol("port_pages") // WINDOW_PAGE + number, process)

    # Exports and imports

    async def export(self, opened: Opened, va: int, length: int, name: int, nodes: int
                     ) -> Export | Status:
        """Let ``nodes``, a bit each, import the buffer."""
        if name in self._names:
            return Status.BUSY
        pages = -(-length // self.page_bytes)
        first, number = self._incoming.take(pages), self._exports.take(1)
        if first is None or number is None:
            if first is not None:
                self._incoming.give(first, pages)
            if number is not None:
                self._exports.give(number, 1)
            return Status.NO_ROOM
        self._names.add(name)
        page = va // self.page_bytes
        await self.pin(opened, range(page, page + pages))
        frames = [opened.process.physical((page + index) * self.page_bytes)  # type: ignore[union-attr]
                  for index in range(pages)]
        for at in range(0, pages, FRAMES):
            part = frames[at:at + FRAMES]
            _sound(await self._mailbox.call(
                KernelCommand.PAGES | first + at << 32 | len(part) << 48, *_pairs(part)))
        await self._command(KernelCommand.EXPORT, number, opened.number,
                            first | pages << 16 | length << 32, name | nodes << 32)
        return Export(number, name, va, length, first, pages)

    async def unexport(self, export: Export) -> None:
        """End it; when this returns nothing arrives there any more."""
        await self._command(KernelCommand.UNEXPORT, export.number)
        self._give_export(export)

    def _give_export(self, export: Export) -> None:
        export.open = False
        self._names.discard(export.name)
        self._incoming.give(export.first, export.pages)
        self._exports.give(export.number, 1)

    async def import_(self, opened: Opened, node: int, name: int, length: int) -> Import | Status:
        """Import what node ``node`` exports as ``name``, of at most ``length`` bytes."""
        most = -(-length // self.page_bytes)
        first = self._outgoing.take(most)
        if first is None:
            return Status.NO_ROOM
        vmmc = self.knobs
        status = Status(await self._mailbox.call(
            KernelCommand.IMPORT | opened.number << 8 | node << 16,
            name | first << 32 | most << 48,
            limit=2 * vmmc.retry_timeout * (vmmc.retries + 2) + 100_000))
        if status is not Status.SUCCESS:
            self._outgoing.give(first, most)
            return status
        found = await self._mailbox.answer() & 0xFFFF_FFFF
        pages = -(-found // self.page_bytes)
        self._outgoing.give(first + pages, most - pages)
        return Import(node, name, first, pages, first * self.page_bytes, found)

    async def unimport(self, one: Import) -> None:
        """Nothing is sent there any more."""
        _sound(await self._mailbox.call(KernelCommand.UNIMPORT, one.first | one.pages << 32))
        self._give_import(one)

    def _give_import(self, one: Import) -> None:
        one.open = False
        self._outgoing.give(one.first, one.pages)

    # Translations

    async def pin(self, opened: Opened, pages: range) -> None:
        """Pin those of these pages of the process that are not, and put them into its table."""
        new = [page for page in pages if page not in opened.pinned]
        if not new:
            return
        cpu, size, process = self.port, self.page_bytes, opened.process
        assert process is not None
        opened.pinned.update(new)
        self.pins += len(new)
        for _ in new:
            cpu.spend(self.paths.page)
        await cpu.touch(opened.table + (new[0] - BASE // size) * TABLE_ENTRY,
                        len(new) * TABLE_ENTRY, store=True)
        await cpu.flush()
        for page in new:
            self.memory.write(opened.table + (page - BASE // size) * TABLE_ENTRY,
                              process.physical(page * size).to_bytes(TABLE_ENTRY, "little"))

    async def interrupt(self) -> None:
        """The interrupt handler: translations that the NIC waits for; who waits looks again."""
        async with self.lock.held():
            self.lock.news()
            self.interrupts += 1
            self.port.spend(self.paths.interrupt)
            await self._serve()
            await self._serve_others()

    async def _serve(self) -> None:
        await self._clear()
        if self.knobs.translation == "interrupt":
            while await self._fill():
                pass

    async def _fill(self) -> bool:
        """Fill the cache with a translation that a port waits for, and some behind it; false if
        none does."""
        _sound(await self._mailbox.call(KernelCommand.MISS))
        found = await self._mailbox.answer()
        if not found:
            return False
        place, opened = found & 0xFFFF_FFFF, self._places[found >> 32 & 0xFF]
        process, size = opened.process, self.page_bytes
        page = place + BASE // size
        frames = [0]
        if process is not None and process.mapped(page * size):
            pages = [page]
            while len(pages) < min(FILLED, self.knobs.prefetch) and process.mapped(
                    (pages[-1] + 1) * size):
                pages.append(pages[-1] + 1)
            await self.pin(opened, range(page, pages[-1] + 1))
            frames = [process.physical(one * size) for one in pages]
        _sound(await self._mailbox.call(KernelCommand.FILL | opened.number << 8,
                                        place | len(frames) << 32, *_pairs(frames)))
        return True

    async def _command(self, command: KernelCommand, number: int, third: int = 0, *words: int
                       ) -> None:
        _sound(await self._mailbox.call(command | number << 8 | third << 16, *words))


def _sound(status: int) -> None:
    assert status == Status.SUCCESS, Status(status)


def _pairs(frames: Sequence[int]) -> list[int]:
    """Two a word."""
    even = [*frames, 0]
    return [even[at] | even[at + 1] << 32 for at in range(0, len(frames), 2)]
