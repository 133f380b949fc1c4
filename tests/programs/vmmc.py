"""Host programs for tests of VMMC: a process that exports a buffer, and its peers' imports."""

import random
from collections.abc import Callable
from typing import Any

from nicbed.host.kernel.process import Process
from nicbed.host.port.node import Node
from nicbed.host.vmmc import Export, Import, Sending, Status, Vmmc

from tests.programs.overriding import Overriding

__all__ = ["LIMIT", "Station", "data_of", "describe", "overriding", "stations"]

LIMIT = 8_000_000
SMALL: dict[str, Any] = {
    "nic.processor": "picorv32", "vmmc.retry_timeout": 20000, "vmmc.retries": 4,
}
DESCRIPTION = Overriding("NICBED_VMMC_TESTS", SMALL)
describe, overriding = DESCRIPTION.describe, DESCRIPTION.by
COUNTERS = ("malformed", "refused", "faults", "resent", "duplicates", "gaps", "failed", "acks",
            "hits", "misses", "fetched", "interrupts", "redirected", "lost")


class Station:
    """A process of ``node``, number ``process``."""

    def __init__(self, node: Node, process: int = 1) -> None:
        self.node = node
        self.process = Process(node, process)
        self.vmmc = Vmmc(self.process)
        self.events: list[Any] = []

    async def open(self) -> "Station":
        assert await self.vmmc.open() is Status.SUCCESS
        return self

    async def export(self, length: int, name: int | None = None, **more: Any) -> Export:
        """A buffer of zeros between guards, under its node's number if no name is given."""
        self.vmmc.allocate(1)
        address = self.vmmc.allocate(length)
        self.vmmc.allocate(1)
        status, found = await self.vmmc.export(
            address, length, self.node.number if name is None else name, **more)
        assert status is Status.SUCCESS and found is not None, status
        return found

    async def import_(self, node: int, length: int = 1 << 20, name: int | None = None) -> Import:
        status, found = await self.vmmc.import_(node, node if name is None else name, length,
                                                2_000_000)
        assert status is Status.SUCCESS and found is not None, status
        return found

    def place(self, data: bytes, offset: int = 0) -> int:
        """Memory with ``data``, ``offset`` bytes into pages of their own."""
        address = self.vmmc.allocate(len(data) + offset + 1) + offset
        self.process.write(address, data)
        return address

    async def put(self, to: Import, at: int, data: bytes, **more: Any) -> Sending:
        return await self.vmmc.send(self.place(data), to, at, len(data), **more)

    async def seen(self, export: Export, at: int, data: bytes) -> None:
        """Until these bytes are there."""
        while self.read(export, at, len(data)) != data:
            await self.pause(500)

    def read(self, export: Export, at: int, length: int) -> bytes:
        return self.process.read(export.address + at, length)

    def guarded(self, export: Export) -> bool:
        """Nothing has been written around the buffer, in the rest of its last page among it."""
        size = self.process.page_bytes
        end = export.address + export.length
        return not any(self.process.read(export.address - size, size)) and not any(
            self.process.read(end, -export.length % size + size))

    async def pause(self, cycles: int) -> None:
        """Compute, and serve the NIC's interrupts."""
        end = self.node.port.cycle + cycles
        while self.node.port.cycle < end:
            await self.node.port.delay(min(500, cycles))
            await self.vmmc.attend()

    async def event(self) -> Any:
        event = await self.vmmc.next()
        self.events.append(event)
        return event

    async def counters(self) -> dict[str, int]:
        """What the firmware has counted."""
        cpu, processor = self.node.port, self.vmmc.driver.processor
        assert processor is not None
        with cpu.in_kernel():
            words = [await cpu.pio_read(processor.address("counters", 8 * index))
                     for index in range(len(COUNTERS) // 2)]
        halves = [half for word in words for half in (word & 0xFFFF_FFFF, word >> 32)]
        return dict(zip(COUNTERS, halves, strict=True))


def stations(*bodies: Callable[[Station], Any] | None) -> list[Any]:
    """Programs: each opens, runs its body, and returns what that returns."""
    def program(body: Callable[[Station], Any]) -> Any:
        async def run(node: Node) -> Any:
            return await body(await Station(node).open())
        return run
    return [None if body is None else program(body) for body in bodies]


def data_of(seed: int, length: int) -> bytes:
    return random.Random(seed).randbytes(length)
