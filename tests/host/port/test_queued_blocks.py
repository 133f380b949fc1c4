"""Blocks that a program queues reach the target as those for which it waits, at the same cycles."""

from typing import Any

import pytest
from nicbed.host.port.node import Node
from nicbed.host.port.port import Port, Watch
from nicbed.layouts.description import Description
from nicbed.layouts.operations import BLOCK, ENTRY

from tests.models.target import Model

SLOW = Description.model_validate({"cpu": {"clock_mhz": 133}})
"""A CPU cycle is no whole number of ticks."""


class Recording(Model):
    """Notes each block, and when it came."""

    def __init__(self, description: Description) -> None:
        super().__init__(description)
        self.blocks: list[tuple[int, int, bytes]] = []

    def give(self, port: int, entries: Any, count: int) -> None:
        self.blocks.append((self.now, port, bytes(entries[:count * ENTRY.size])))
        super().give(port, entries, count)


def ran(program: Any, tracing: bool = True) -> tuple[tuple[Any, ...], int]:
    """All that is to be the same; and the wake-ups."""
    model = Recording(SLOW)
    run = model.run([program, None], limit=1_000_000, tracing=tracing)
    port = run.ports[0]
    return (model.blocks, model.now, run.marks, port.tally(), port.cpu_cycles,
            run.results), run.wakes


async def waiting(port: Port, address: int) -> None:
    await port.touch(address, 8)


async def queueing(port: Port, address: int) -> None:
    port.put_touch(address, 8)


async def touches(port: Port, touch: Any, count: int) -> None:
    """``count`` touches, with marks and work in between."""
    await touch(port, 64)
    for number in range(count):
        port.mark(1, number % 2, number)
        port.work("alu", number % 7)
        await touch(port, 64 * number + 64)
    port.mark(2, 0, 0)


@pytest.mark.parametrize("tracing", [True, False])
@pytest.mark.parametrize("count", [0, 5, 6, 7, 12, 13, 40])
@pytest.mark.parametrize("wait", ["settle", "room", "poll", "flush", "end"])
def test_the_target_does_not_see_the_difference(wait, count, tracing):
    def program(touch: Any) -> Any:
        async def main(node: Node) -> list[int]:
            port, seen = node.port, []
            await touches(port, touch, count)
            if wait == "settle":
                await port.settle()
                seen += port.cycle, port.count, port.ticks
            elif wait == "room":
                await port.room(4)
                seen += port.cycle, port.count
            elif wait == "poll":
                await port.poll(Watch(64, 0), 100)
                seen += port.cycle, port.data
            elif wait == "flush":
                seen.append(await port.now())
            if wait != "end":
                await touches(port, touch, count)
            return seen
        return main

    found, wakes = ran(program(queueing), tracing)
    wanted, more = ran(program(waiting), tracing)
    assert found == wanted
    assert wakes <= more
    if wait != "end":
        assert wakes <= more - max(0, count // BLOCK - 1)
