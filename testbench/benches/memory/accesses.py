"""Single accesses of a CPU, by what it does and by where the line is."""

from dataclasses import dataclass
from math import ceil
from typing import Any

from ....host.port.node import Node
from ....host.smp import Barrier
from ....layouts.description import Description
from ..common.programs import Stamp, programs, stamp, ticks_between

__all__ = ["ACCESSES", "Access", "free_after", "measure_access", "samples"]

MOST = 16
"""Lines on which an access is measured, at most."""
QUIET = 400
"""Cycles, beside 16 times the memory's latency, after which nobody uses the memory any more."""


@dataclass(frozen=True)
class Access:
    """An operation of CPU 0 on a line, where the line is ``before``, and how it came there: steps
    (CPU, "load" or "store"), each done to all lines before the next. A step by CPU ``VICTIM`` is
    CPU 0's, to the lines that have the same place in the cache; by ``NEAR``, to those that have it
    in the first of two levels alone. Of two operations, "first, second", only the second is timed;
    it follows at once."""

    name: str
    operation: str
    before: str
    steps: tuple[tuple[int, str], ...] = ()

    @property
    def cpus(self) -> int:
        """CPUs that take part."""
        return 1 + max([0, *(cpu for cpu, _ in self.steps)])

    def possible(self, description: Description) -> bool:
        """Tells whether a node of ``description`` has the CPUs, levels and operations for it."""
        return (self.cpus <= description.node.cpus
                and (description.cpu.copy_by == "block" or "block" not in self.operation)
                and (description.cpu.l2_lines > 0 or all(who != NEAR for who, _ in self.steps)))


VICTIM, NEAR = -1, -2

ACCESSES = (
    Access("load hit", "load", "in the cache", ((0, "load"),)),
    Access("load second level", "load", "in the second level of the cache alone",
           ((0, "load"), (NEAR, "load"))),
    Access("load miss", "load", "in memory"),
    Access("load miss, dirty victim", "load", "in memory; its place taken by a dirty line",
           ((VICTIM, "store"),)),
    Access("load clean elsewhere", "load", "clean in another cache", ((1, "load"),)),
    Access("load dirty elsewhere", "load", "dirty in another cache", ((1, "store"),)),
    Access("store hit", "store", "in the cache, dirty", ((0, "store"),)),
    Access("store hit, exclusive", "store", "in the cache, clean, in no other", ((0, "load"),)),
    Access("store hit, shared", "store", "in the cache, clean, and in another",
           ((1, "load"), (0, "load"))),
    Access("store miss", "store", "in memory"),
    Access("store clean elsewhere", "store", "clean in another cache", ((1, "load"),)),
    Access("store dirty elsewhere", "store", "dirty in another cache", ((1, "store"),)),
    Access("block store", "block", "in memory"),
    Access("block store hit", "block", "in the cache, dirty", ((0, "store"),)),
    Access("block store dirty elsewhere", "block", "dirty in another cache", ((1, "store"),)),
    Access("block store behind another", "block, block", "in memory"),
    Access("load behind a block store", "block, load", "in memory"),
    Access("cas owned", "cas", "in the cache, dirty", ((0, "store"),)),
    Access("cas clean", "cas", "in the cache, clean, in no other", ((0, "load"),)),
    Access("cas shared", "cas", "in the cache, clean, and in another", ((1, "load"), (0, "load"))),
    Access("cas miss", "cas", "in memory"),
    Access("cas dirty elsewhere", "cas", "dirty in another cache", ((1, "store"),)),
)
"""In the order of the table."""


def free_after(description: Description) -> int:
    """Cycles after an access in which a slow port of the memory is free again."""
    beats = 2
    if description.cpu.copy_by == "block":
        beats += description.cpu.line_bytes // description.memory.width + 1
    return 2 + ceil(8 * beats / description.memory.word_rate)


def samples(description: Description) -> int:
    """Lines on which an access is measured: half the cache (of two levels, the first one) at most,
    so that the barrier's lines have other places."""
    return min(MOST, description.cpu.cache_lines // 2)


async def measure_access(lab: Any, access: Access, count: int) -> list[int]:
    """Ticks of ``access`` on each of ``count`` lines, in a run from reset."""
    description = lab.description
    line, cache = description.cpu.line_bytes, description.cpu.cache_bytes
    beside = {VICTIM: cache, NEAR: description.cpu.cache_lines * line}
    apart = free_after(description)

    async def program(cpu: Node) -> list[Stamp]:
        # Lines of the barrier come behind this block, in the upper half of the cache.
        block = cpu.shared("lines", cache + cache // 2, cache)
        together = Barrier(cpu, "steps", access.cpus) if access.cpus > 1 else None
        port = cpu.port
        for who, what in access.steps:
            if max(who, 0) == cpu.cpu:
                first = block + beside.get(who, 0)
                for number in range(count):
                    await port.touch(first + number * line, 8, store=what == "store")
            if together:
                await together.wait()
        if cpu.cpu:
            return []
        await port.delay(QUIET + 16 * description.memory.latency)
        stamps = []

        async def do(operation: str, address: int) -> None:
            if operation == "cas":
                await port.cas(address, 0, 1)
            elif operation == "block":
                await port.store_blocks(address, line)
            else:
                await port.touch(address, 8, store=operation == "store")

        *before, timed = access.operation.split(", ")
        for number in range(count):
            await port.delay(apart)
            for operation in before:
                await do(operation, block + number * line)
            stamps.append(stamp(cpu))
            await do(timed, block + number * line)
            stamps.append(stamp(cpu))
        await port.flush()
        return stamps

    cpus = description.node.cpus
    node = [program] * access.cpus + [None] * (cpus - access.cpus)
    run = await lab.run(programs(lab, {0: node}))
    stamps = run.results[0][0]
    return [ticks_between(*pair) for pair in zip(stamps[::2], stamps[1::2], strict=True)]
