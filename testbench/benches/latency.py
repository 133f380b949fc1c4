"""Latency: half the round trip of equal messages, the same buffers throughout."""

from collections.abc import Mapping
from typing import Any

from ...host.port.node import Node
from ...layouts.description import Description
from . import ONE_WAY
from .common.latencies import Latencies, faster_than_light
from .common.programs import ARRIVED, SINK, programs, stamp, ticks_between
from .common.transfers import BulkParty, sizes

__all__ = ["LARGEST", "draw", "evaluate", "headline", "measure", "parameters", "series", "tables",
           "trips_of"]

LARGEST = 32 << 10
WORDS = 16
"""Most bytes that an active message carries as words; longer messages are stores."""
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

    class Sides(BulkParty):
        def send(self, peer: int) -> Any:
            address = self.peer(peer)
            if size <= WORDS:
                return self.am.request(address, SINK, *range(size // 4))
            return self.am.store_async(address, self.source, self.target, size, ARRIVED)

        async def await_message(self, number: int) -> None:
            await self.am.wait(lambda: self.requests + self.answers >= number)

    async def client(node: Node) -> Any:
        party = Sides(node)
        await party.am.enable()
        times = []
        for number in range(1, warm + count + 1):
            start = stamp(node)
            await party.send(1)
            await party.await_message(number)
            times.append((start, stamp(node)))
        await party.am.disable()
        return times[warm:]

    async def server(node: Node) -> None:
        party = Sides(node)
        await party.am.enable()
        for number in range(1, warm + count + 1):
            await party.await_message(number)
            await party.send(0)
        await party.am.disable()

    run = await lab.run(programs(lab.description.fabric.nodes, {0: client, 1: server}))
    return {"trips": [ticks_between(*pair) for pair in run.results[0]]}


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """Latency over size; with VIA also its legs."""
    found = REPORT.evaluate(raw)
    found["checks"].append(faster_than_light(
        raw, description.link.bytes_per_cycle, lambda size: size))
    return found
