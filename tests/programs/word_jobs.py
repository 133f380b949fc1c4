"""Jobs for a target with a NIC of one's own, which sends and receives packets of one word."""

from typing import Any

from nicbed.layouts.operations import NIC_BASE
from nicbed.layouts.packet import HEADER
from nicbed.testbench.lab import Lab

from tests.programs.target_jobs import as_rows

__all__ = ["exchange"]


async def exchange(lab: Lab, words: int = 5, settings: dict[str, Any] | None = None,
                   **options: Any) -> dict[str, Any]:
    """Node 0 sends words to node 1, which sends each back: all of the run; the results are what
    came, the cycles of a read, and the registers of the wait and of the address."""
    async def program(cpu: Any) -> Any:
        port, peer = cpu.port, 1 - cpu.number
        header = HEADER.pack(route=cpu.topology.route(cpu.number, peer), length=8,
                             source=cpu.number, destination=peer)
        await port.pio_write(NIC_BASE, header, posted=False)
        seen = []
        for number in range(words):
            if cpu.number == 0:
                await port.pio_write(NIC_BASE + 8, 1000 + number, posted=False)
            while await port.pio_read(NIC_BASE) != number + 1:
                pass
            seen.append(await port.pio_read(NIC_BASE + 8))
            if cpu.number == 1:
                await port.pio_write(NIC_BASE + 8, seen[-1] + 1, posted=False)
        begun = await port.flush()
        wait = await port.pio_read(NIC_BASE + 16)
        taken = await port.flush() - begun
        await port.delay(2000)
        return [seen, taken, wait, await port.pio_read(NIC_BASE + 24)]
    return as_rows(await lab.run([program, program], settings=settings, **options))
