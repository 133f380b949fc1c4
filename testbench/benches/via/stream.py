"""Streams on VIPL: messages back to back, acknowledged when the last has come."""

from typing import Any

from ....host.port.node import Node
from ....host.via.session import Session
from ....layouts.trace import Activity, Kind
from ..common.programs import Stream, programs, stamp

__all__ = ["WINDOW", "Sink", "Source", "measure_stream"]

WINDOW = 8
"""Most sends of the program that are posted and not finished."""
WARM = 2


class Source(Session):
    """Sends the stream. A message comes back at its end, and one before the clock starts."""

    async def run(self, size: int, count: int, delay: int) -> Stream:
        """``count`` sends of ``size`` bytes with ``delay`` cycles of computation after each."""
        await self.open()
        vi = await self.endpoint()
        arena = await self.arena(WINDOW + 2)
        data = await self.memory(size)
        answer = await self.memory(64)
        sends = [await self.descriptor(arena, [data.segment(size)]) for _ in range(WINDOW)]
        for _ in range(2):
            await self.post_receive(vi, await self.descriptor(arena, [answer.segment(4)]), arena)
        await self.connect(vi)
        # Before the clock starts, descriptors and data are translated once, and nothing is under
        # way: everything is acknowledged when the answer has arrived.
        for descriptor in sends[:WARM]:
            await self.post_send(vi, descriptor, arena)
            await self.complete_send(vi)
        await self.received(vi)
        node, port, reaped = self.node, self.port, 0
        found = Stream(delay, stamp(node))
        for index in range(count):
            while index - reaped >= WINDOW:
                await self.complete_send(vi)
                reaped += 1
            await self.post_send(vi, sends[index % WINDOW], arena)
            found.handled.append(reaped)
            port.mark(Activity.COMPUTE, Kind.BEGIN, index)
            if delay:
                await port.delay(delay)
            found.ends.append(port.mark(Activity.COMPUTE, Kind.END, index))
        await self.received(vi)
        found.done = stamp(node)
        return found


class Sink(Session):
    """Takes WARM messages and then ``count``, and reports when it has each of these lots."""

    async def run(self, size: int, count: int) -> None:
        await self.open()
        vi = await self.endpoint()
        arena = await self.arena(count + WARM + 2)
        data = await self.memory(size)
        answer = await self.memory(64)
        for _ in range(count + WARM):
            await self.post_receive(vi, await self.descriptor(arena, [data.segment(size)]), arena)
        answers = [await self.descriptor(arena, [answer.segment(4)]) for _ in range(2)]
        await self.connect(vi)
        for lot, descriptor in zip((WARM, count), answers, strict=True):
            for _ in range(lot):
                await self.received(vi)
            await self.post_send(vi, descriptor, arena)
            await self.complete_send(vi)


async def measure_stream(lab: Any, size: int, count: int, delay: int = 0) -> dict[str, Any]:
    """A stream from node 0 to node 1, from reset, traced."""
    async def source(node: Node) -> Stream:
        return await Source(node).run(size, count, delay)

    async def sink(node: Node) -> None:
        await Sink(node).run(size, count)

    run = await lab.run(programs(lab, {0: source, 1: sink}), trace=True)
    return {**run.results[0].plain(), "size": size, "marks": run.marks, "events": run.events}
