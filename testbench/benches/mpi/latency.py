"""Latency: half the round trip of equal messages, and what MPI adds to the layer below."""

from collections.abc import Mapping
from typing import Any

from ....layouts.description import Description
from ...estimate.compare import check
from ...results.document import number
from ..common.bulk_report import size_text
from ..common.latencies import Latencies, faster_than_light, ordered
from ..common.transfers import sizes
from .names import NAMES
from .pingpong import Plan, measure_below, measure_plan
from .split import parts_table, split

__all__ = ["draw", "evaluate", "headline", "measure", "parameters", "series", "tables"]

COLUMNS = 5


def _report(channel: str) -> Latencies:
    return Latencies("Latency: half the round trip of equal messages", "n", sizes=True,
                     base=NAMES[channel], chosen=("4", "1024", "32768"))


def parameters(description: Description) -> dict[str, Any]:
    """4 B to 32 KB, eight round trips of each size after two that warm up."""
    return {"sizes": sizes(min(32 << 10, description.memory.bytes // 64)), "trips": 8, "warm": 2,
            "channel": description.mpi.channel}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """For each size one run over the layer below, and one over MPI."""
    below = NAMES[parameters["channel"]]
    found: dict[str, Any] = {below: {}, "MPI": {}}
    trips, warm = parameters["trips"], parameters["warm"]
    for index, size in enumerate(parameters["sizes"]):
        tell(f"{size} bytes", index, len(parameters["sizes"]))
        found[below][size] = await measure_below(lab, size, trips, warm)
        found["MPI"][size] = await measure_plan(lab, Plan(size, trips, warm))
    return found


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """Latencies, the difference, and rank 0's time by part."""
    outcome = _report(parameters["channel"]).evaluate(raw, description)
    outcome["checks"].append(faster_than_light(raw, description.link.bytes_per_cycle,
                                               lambda size: size))
    parts, wrong = {}, []
    for size, run in raw["MPI"].items():
        found, said = split(run, description, len(run["trips"]))
        parts[str(size)] = {name: number(value) for name, value in found.items()}
        if said:
            wrong.append(f"{size_text(size)}: {said}")
    outcome["results"]["parts"] = parts
    outcome["checks"].append(check(
        "the library's own time is what its paths were charged", not wrong,
        wrong[0] if wrong else "at every size, to two cycles a round trip"))
    return outcome


def tables(document: Mapping[str, Any]) -> list[Any]:
    """Latencies, the difference, and the parts."""
    parts = document["results"]["parts"]
    every = ordered(parts)
    chosen = every[::max(1, -(-len(every) // COLUMNS))]
    return [*_report(document["parameters"]["channel"]).tables(document),
            parts_table("Rank 0 in a round trip over MPI (cycles)", "a round trip",
                        {size_text(int(size)): parts[size] for size in chosen})]


def draw(document: Mapping[str, Any], figure: Any) -> None:
    """Both latencies over size."""
    _report(document["parameters"]["channel"]).draw(document, figure)


def headline(document: Mapping[str, Any]) -> Any:
    """Latencies, and what MPI adds."""
    return _report(document["parameters"]["channel"]).headline(document)


def series(document: Mapping[str, Any]) -> Any:
    """Latency of MPI over size."""
    return _report(document["parameters"]["channel"]).series(document, "MPI")
