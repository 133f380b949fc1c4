"""When each block begins and ends with two messages on their way: a job for a lab."""

from typing import Any

from nicbed.host.am import Gam
from nicbed.layouts.trace import Block, Kind

BEGIN = 4000
"""Cycle by which both nodes have set everything up and nothing is under way."""
APART = 2000
"""Cycles between the two messages, in which the first one and its reply arrive."""


async def measure(lab: Any) -> dict[str, dict[str, list[int]]]:
    """Cycles of the events of "small", a request of one word, and of "bulk", a store of 256 bytes
    by a descriptor, by "NODE BLOCK KIND"; those without a number are in both."""

    async def program(node: Any) -> None:
        gam = Gam(node, [lambda am, source, *words: None])
        await gam.enable()
        await node.port.flush()
        await node.port.delay(BEGIN - node.port.cycle)
        if node.number == 0:
            await gam.request(1, 0, 7)
            await node.port.delay(BEGIN + APART - await node.port.flush())
            await gam.store(1, node.allocate(256), 0x8000, 256, 0, 0)
        await gam.disable()

    run = await lab.run([program, program], trace=True, limit=200_000)
    found: dict[str, dict[str, list[int]]] = {}
    for name, begin in (("small", BEGIN), ("bulk", BEGIN + APART)):
        events = [event for event in run.events if begin <= event.cycle < begin + APART]
        number = next(event.number for event in events if event.number)
        found[name] = {}
        for event in events:
            if event.number in (0, number):
                key = f"{event.node} {Block(event.block).name} {Kind(event.kind).name}"
                found[name].setdefault(key, []).append(event.cycle)
    return found
