"""Jobs for the toy target, which has neither memory nor NIC."""

from typing import Any

from nicbed.testbench.lab import Lab


class NoMemory:
    """Stands in for the memory the toy does not have."""

    size = 1 << 16

    def clear(self) -> None:
        pass


def plan(count: int, step: int) -> Any:
    async def program(node: Any) -> list[int]:
        times = []
        for n in range(count):
            await node.port.delay(1 + (n * step + node.number) % 7)
            times.append(await node.port.flush())
        return times
    return program


async def delays(lab: Lab, count: int, trace: bool = False, runs: int = 1) -> Any:
    """Each node delays; the cycle each delay ended at."""
    lab._backend.memories = [NoMemory()] * lab.description.fabric.nodes
    programs = [plan(count, 3 + n) for n in range(lab.description.fabric.nodes)]
    found = [await lab.run(programs, trace=trace) for _ in range(runs)]
    assert all(run == found[0] for run in found)
    return found[0].cycles, found[0].results, found[0].events, found[0].wakes
