"""Multiple connections: latency between two ranks after one of them has exchanged messages with n;
beside n connected VIs, or GM, which has no connections."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....layouts.description import Description
from ..benchmark import Tell
from ..common.headline import Series
from ..common.latencies import Latencies, Runs
from ..fields import setting
from .beside import Beside, split_tables
from .names import shown, varies
from .pingpong import Plan, measure_below, measure_plan

__all__ = ["MpiConnections", "MpiConnectionsParameters"]

TRIPS, WARM = 8, 2


@dataclass(frozen=True)
class MpiConnectionsParameters:
    """Messages of 4 bytes after several numbers of partners."""

    size: int = setting(4, "bytes of a message", unit="bytes")
    partners: Sequence[int] = setting([1], "ranks that were contacted before")
    below: str = setting("", "name of the ping-pong of the layer below")


class MpiConnections(Beside):
    """Partners that were contacted before."""

    nodes = 8
    Parameters = MpiConnectionsParameters

    def parameters(self, description: Description) -> MpiConnectionsParameters:
        """1 to all other ranks; messages of 4 bytes."""
        most = description.fabric.nodes - 1
        channel = description.mpi.channel
        partners = sorted({*(1 << power for power in range(most.bit_length())), most})
        return MpiConnectionsParameters(4, partners, (
            f"{shown(channel)}, {'as many VIs' if varies(channel) else 'no connections'}"))

    def report(self, parameters: MpiConnectionsParameters) -> Latencies:
        return Latencies("Connections: latency over MPI after n partners were contacted",
                         "partners", base=parameters.below)

    def twins(self, parameters: MpiConnectionsParameters) -> dict[str, str]:
        return {"MPI": parameters.below}

    async def measure(self, lab: Any, layer: str, parameters: MpiConnectionsParameters, tell: Tell
                      ) -> dict[str, Any]:
        """For each number of partners a run over MPI, and one below."""
        size, channel = parameters.size, lab.description.mpi.channel
        found: dict[str, Any] = {"runs": {"MPI": {}}, "below": {parameters.below: {}}}
        for index, count in enumerate(parameters.partners):
            tell(f"{count} partners", index, len(parameters.partners))
            found["below"][parameters.below][count] = await measure_below(
                lab, size, TRIPS, WARM, **({"connections": count} if varies(channel) else {}))
            found["runs"]["MPI"][count] = await measure_plan(lab, Plan(
                size, TRIPS, WARM, partners=count, ranks=lab.description.fabric.nodes))
        return found

    def half(self, raw: Mapping[str, Any]) -> Runs:
        """Those below, too: of one size, they are the base."""
        return {name: {count: {"trips": run["trips"]} for count, run in runs.items()}
                for name, runs in (raw["below"] | raw["runs"]).items()}

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """One row for each number of partners; the parts of what MPI adds."""
        report = self.report(self.parameters_of(document))
        return [*report.tables(document), *split_tables(self.results(document), report)]

    def series(self, document: Mapping[str, Any]) -> Series:
        """Latency of MPI over partners."""
        return self.report(self.parameters_of(document)).series(document, "MPI")
