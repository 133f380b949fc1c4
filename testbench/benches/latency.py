"""Latency: half the round trip of equal messages, the same buffers throughout."""

from collections.abc import Mapping
from typing import Any

from ...host.endpoint import Exchange
from ...host.port.node import Node
from ...layouts.description import Description
from . import ONE_WAY
from .common.latencies import Latencies, faster_than_light
from .common.programs import on, programs, stamp, ticks_between
from .common.transfers import sizes

__all__ = ["LARGEST", "draw", "evaluate", "headline", "measure", "parameters", "series", "tables",
           "trips_of"]

LARGEST = 32 << 10
REPORT = Latencies("Latency: half the round trip of equal messages", "n", sizes=True,
                   chosen=("4", "64", "1024", "4096", "32768"))
tables = REPORT.tables
draw = REPORT.draw
headline = REPORT.headline
series = REPORT.series


def parameters(description: Description) -> dict[str, Any]:
    """4 B to 32 KB, eight round trips of each size after two that warm up."""
    return {"sizes": sizes(min(LARGEST, description.memory.bytes // 16)), "trips": 8, "warm": 2}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """One run for each size."""
    measure_trips = trips_of(layer)
    found = {}
    for index, size in enumerate(parameters["sizes"]):
        tell(f"{size} bytes", index, len(parameters["sizes"]))
        found[size] = await measure_trips(lab, size, parameters["trips"], parameters["warm"])
    return {"latency": found}


def trips_of(layer: str) -> Any:
    """The function that measures round trips on ``layer``: ``async f(lab, size, count, warm)``."""
    if layer == "via":
        from .via.pingpong import measure_trips
        return measure_trips
    if layer in ONE_WAY:
        from .one_way.exchange import trips_on
        return trips_on(layer)
    return measure_messages


async def measure_messages(lab: Any, size: int, count: int, warm: int) -> dict[str, Any]:
    """Round trips of active messages of ``size`` bytes: requests of up to four words, or stores, in
    both directions; replies carry no data."""

    make = on("am", Exchange(size))

    async def client(node: Node) -> Any:
        side = make(node)
        await side.open()
        times = []
        for number in range(1, warm + count + 1):
            start = stamp(node)
            await side.send(1)
            await side.receive(number)
            times.append((start, stamp(node)))
        await side.close()
        return times[warm:]

    async def server(node: Node) -> None:
        side = make(node)
        await side.open()
        for number in range(1, warm + count + 1):
            await side.receive(number)
            await side.send(0)
        await side.close()

    run = await lab.run(programs(lab.description.fabric.nodes, {0: client, 1: server}))
    return {"trips": [ticks_between(*pair) for pair in run.results[0]]}


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """Latency over size; with VIA also its legs."""
    found = REPORT.evaluate(raw)
    found["checks"].append(faster_than_light(
        raw, description.link.bytes_per_cycle, lambda size: size))
    return found
