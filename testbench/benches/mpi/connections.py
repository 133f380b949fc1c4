"""Multiple connections: latency between two ranks after one of them has exchanged messages with n;
beside n connected VIs, or GM, which has no connections."""

from collections.abc import Mapping
from typing import Any

from ....layouts.description import Description
from ..common.latencies import Latencies
from .beside import beside, split_tables
from .names import NAMES
from .pingpong import Plan, measure_below, measure_plan

__all__ = ["NODES", "draw", "evaluate", "headline", "measure", "parameters", "series", "tables"]

NODES = 8
"""Nodes by default."""
TRIPS, WARM = 8, 2


def _report(parameters: Mapping[str, Any]) -> Latencies:
    return Latencies("Connections: latency over MPI after n partners were contacted", "partners",
                     base=parameters["below"])


def parameters(description: Description) -> dict[str, Any]:
    """1 to all other ranks; messages of 4 bytes."""
    most = description.fabric.nodes - 1
    channel = description.mpi.channel
    below = f"{NAMES[channel]}, {'as many VIs' if channel == 'via' else 'no connections'}"
    return {"size": 4, "partners": sorted({*(1 << power for power in range(most.bit_length())),
                                           most}), "below": below}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """For each number of partners a run over MPI, and one below."""
    size, channel = parameters["size"], lab.description.mpi.channel
    found: dict[str, Any] = {"runs": {"MPI": {}}, "below": {parameters["below"]: {}}}
    for index, count in enumerate(parameters["partners"]):
        tell(f"{count} partners", index, len(parameters["partners"]))
        found["below"][parameters["below"]][count] = await measure_below(
            lab, size, TRIPS, WARM, **({"connections": count} if channel == "via" else {}))
        found["runs"]["MPI"][count] = await measure_plan(lab, Plan(
            size, TRIPS, WARM, partners=count, ranks=lab.description.fabric.nodes))
    return found


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """Latency by partners, what MPI adds, and of what that is."""
    below, report = parameters["below"], _report(parameters)
    plain = {name: {count: {"trips": run["trips"]} for count, run in runs.items()}
             for name, runs in (raw["below"] | raw["runs"]).items()}
    return beside(report.evaluate(plain, description), raw["runs"], raw["below"], {"MPI": below},
                  description, report)


def tables(document: Mapping[str, Any]) -> list[Any]:
    """One row for each number of partners; the parts of what MPI adds."""
    report = _report(document["parameters"])
    return [*report.tables(document), *split_tables(document, report)]


def draw(document: Mapping[str, Any], figure: Any) -> None:
    """Both over partners."""
    _report(document["parameters"]).draw(document, figure)


def headline(document: Mapping[str, Any]) -> Any:
    """With one partner, and with all."""
    return _report(document["parameters"]).headline(document)


def series(document: Mapping[str, Any]) -> Any:
    """Latency of MPI over partners."""
    return _report(document["parameters"]).series(document, "MPI")
