"""Ping-pongs and streams of messages that go one way, between nodes 0 and 1, on any layer."""

from typing import Any

from ....host.endpoint import Exchange
from ....host.port.node import Node
from ....layouts.trace import Activity, Kind
from ..common.programs import Stream, on, programs, stamp, ticks_between

__all__ = ["measure_stream", "measure_trips"]


async def measure_trips(lab: Any, size: int, count: int, warm: int, *, layer: str, delay: int = 0,
                        trace: bool = False) -> dict[str, Any]:
    """Round trips of ``size`` bytes, with ``delay`` cycles of computation between a send and the
    check for its echo; when each ended, and the marks. With ``trace`` also the run's events, and in
    ticks of each trip on both sides: when it began, when the send had returned, when the message of
    the other side was found."""
    make = on(layer, Exchange(size))

    async def client(node: Node) -> Any:
        side = make(node)
        await side.open()
        times = []
        for number in range(1, warm + count + 1):
            start = stamp(node)
            await side.send(1)
            sent = stamp(node)
            if delay:
                await node.port.delay(delay)
            await side.receive(number)
            times.append((start, sent, stamp(node)))
        await side.close()
        return times[warm:]

    async def server(node: Node) -> Any:
        side = make(node)
        await side.open()
        times = []
        for number in range(1, warm + count + 1):
            await side.receive(number)
            found = stamp(node)
            await side.send(0)
            times.append((found, stamp(node)))
        await side.close()
        return times[warm:]

    run = await lab.run(programs(lab, {0: client, 1: server}), trace=trace)
    times = run.results[0]
    found = {"trips": [ticks_between(start, end) for start, _, end in times],
             "stops": [end[0] for *_, end in times], "spans": run.marks}
    if not trace:
        return found
    return {**found, "events": run.events, "marks": run.marks,
            "times": [[[time for time, *_ in each] for each in side] for side in run.results[:2]]}


async def measure_stream(lab: Any, size: int, count: int, *, layer: str, trace: bool = False
                         ) -> dict[str, Any]:
    """``count`` messages back to back after one that warms up. The clock stops when the receiver
    has answered that all have arrived."""
    make = on(layer, Exchange(size))

    async def source(node: Node) -> Any:
        side = make(node)
        await side.open()
        await side.send(1)
        await side.answered(1)
        found = Stream(0, stamp(node))
        for index in range(count):
            await side.send(1)
            node.port.mark(Activity.COMPUTE, Kind.BEGIN, index)
            found.ends.append(node.port.mark(Activity.COMPUTE, Kind.END, index))
        await side.answered(2)
        found.done = stamp(node)
        await side.close()
        return found

    async def sink(node: Node) -> None:
        side = make(node)
        await side.open()
        for messages in (1, count + 1):
            await side.receive(messages)
            await side.answer(0)
        await side.close()

    run = await lab.run(programs(lab, {0: source, 1: sink}), trace=trace)
    return {**run.results[0].plain(), "marks": run.marks, "events": run.events}
