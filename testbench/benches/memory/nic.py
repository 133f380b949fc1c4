"""A CPU's accesses to the NIC, and the NIC's to memory."""

from fractions import Fraction
from typing import Any

from ....host.am import Gam
from ....host.port.node import Node
from ....layouts.registers import address
from ....layouts.trace import PORT_SHIFT, Block, Kind
from ..common.programs import programs, stamp, ticks_between

__all__ = ["DMA_BYTES", "measure_dma", "measure_pio"]

DMA_BYTES = 8192
TIMES = 8


async def measure_pio(lab: Any) -> dict[str, list[int]]:
    """Ticks of reads of a register of the NIC, and of writes until the NIC has them."""
    async def program(cpu: Node) -> Any:
        port, place = cpu.port, address("irq_enable")
        found: dict[str, list[Any]] = {"NIC read": [stamp(cpu)], "NIC write": []}
        for _ in range(TIMES):
            await port.pio_read(place)
            found["NIC read"].append(stamp(cpu))
        found["NIC write"].append(stamp(cpu))
        for _ in range(TIMES):
            await port.pio_write(place, 0, posted=False)
            found["NIC write"].append(stamp(cpu))
        await port.flush()
        return found

    run = await lab.run(programs(lab, {0: program}))
    return {name: [ticks_between(*pair) for pair in zip(stamps, stamps[1:], strict=False)]
            for name, stamps in run.results[0].items()}


async def measure_dma(lab: Any, size: int) -> Fraction | None:
    """Bytes a cycle of the longest burst by which the NIC reads memory, while node 0 sends ``size``
    bytes to node 1; None if the trace shows none."""
    async def sender(node: Node) -> None:
        source, target = node.allocate(size), node.allocate(size)
        gam = Gam(node)
        await gam.enable()
        await gam.store(node.address_on(1), source, target, size)
        await gam.disable()

    async def receiver(node: Node) -> None:
        node.allocate(2 * size)  # what the sender knows as its own addresses
        gam = Gam(node)
        await gam.enable()
        await gam.disable()

    run = await lab.run(programs(lab, {0: sender, 1: receiver}),
                        trace=True)
    begun, longest = {}, 0
    for cycle, node, block, kind, number, arg in run.events:
        if node == 0 and block == Block.BUS and 0 < arg < 1 << PORT_SHIFT:
            if kind == Kind.BEGIN:
                begun[arg, number] = cycle
            elif (arg, number) in begun:
                longest = max(longest, cycle - begun.pop((arg, number)))
    burst = min(lab.description.bus.max_burst, lab.description.nic.mtu)
    return Fraction(burst, longest) if longest else None
