"""Collective calls over sizes, beside the prediction of LogGP.

A call's time is from the moment in which all ranks leave a barrier's last exchange to the end of
the last rank, the mean of several calls. The prediction follows the algorithm's messages rank by
rank with o, g, L and G as they are measured over the same library between two ranks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ....host.mpi import Mpi
from ....host.mpi.collective.collectives import ALGORITHMS
from ....host.port.node import Node
from ....layouts.description import Description
from ....layouts.trace import TICKS
from ...estimate.compare import check
from ...estimate.loggp import ends
from ...results.document import cycles, number
from ...results.tables import amount, micro, table
from ..benchmark import Benchmark, Tell
from ..common.bulk_report import size_text
from ..common.headline import Headline, Series
from ..common.programs import stamp
from ..fields import Outcome, figure, setting
from .loggp import MpiLoggp, measure_loggp, parameters_of
from .patterns import pattern

__all__ = ["Collectives", "CollectivesParameters", "CollectivesResults"]

CALLS = ("barrier", "bcast", "allreduce", "alltoall")
WARM, COUNT = 2, 4


@dataclass(frozen=True)
class CollectivesParameters:
    """8 B to 32 KB a rank."""

    sizes: Sequence[int] = setting([8, 64, 512, 4096, 32768], "bytes of a rank", unit="bytes")
    ranks: int = setting(4, "ranks, one on each node")


@dataclass(frozen=True)
class CollectivesResults:
    """Times of the calls by bytes of a rank."""

    measured: Mapping[str, Mapping[str, float]] = figure("cycles", "mean of several calls")
    predicted: Mapping[str, Mapping[str, float]] = figure("cycles", "the same by LogGP")
    ranks: int = figure("", "ranks that took part")
    loggp: MpiLoggp = figure("", "the parameters of the prediction")


class Collectives(Benchmark):
    """Collective calls beside the prediction of LogGP."""

    nodes = 4
    Parameters = CollectivesParameters
    Results = CollectivesResults

    def parameters(self, description: Description) -> CollectivesParameters:
        """On all nodes."""
        return CollectivesParameters(ranks=description.fabric.nodes)

    async def measure(self, lab: Any, layer: str, parameters: CollectivesParameters, tell: Tell
                      ) -> dict[str, Any]:
        """Each call at each size, and LogGP's parameters."""
        todo = [(call, size) for call in CALLS
                for size in ([0] if call == "barrier" else parameters.sizes)]
        found: dict[str, Any] = {"calls": {}}
        for index, (call, size) in enumerate(todo):
            tell(f"{call} of {size} bytes", index, len(todo))
            found["calls"].setdefault(call, {})[size] = await _measure_call(lab, call, size)
        found["loggp"] = await measure_loggp(lab, tell)
        return found

    def evaluate(self, raw: Mapping[str, Any], description: Description,
                 parameters: CollectivesParameters) -> Outcome:
        """Measured and predicted times."""
        loggp = parameters_of(raw["loggp"], description)
        measured: dict[str, dict[str, float]] = {}
        predicted: dict[str, dict[str, float]] = {}
        early = []
        for call, by_size in raw["calls"].items():
            for size, ranks in by_size.items():
                times = [max(stop for _, stop in ends) - min(start for start, _ in ends)
                         for ends in zip(*ranks, strict=True)]
                measured.setdefault(call, {})[str(size)] = number(
                    Fraction(sum(times), len(times) * TICKS))
                predicted.setdefault(call, {})[str(size)] = number(
                    max(ends(pattern(call, len(ranks)), loggp, size)))
                if call in ("barrier", "allreduce", "alltoall"):
                    early += [f"{call}, {size_text(size)}" for ends in zip(*ranks, strict=True)
                              if min(stop for _, stop in ends) < max(start for start, _ in ends)]
        return Outcome(
            results=CollectivesResults(measured, predicted, parameters.ranks, MpiLoggp.of(loggp)),
            points={call: {str(size): [[[cycles(start - ranks[0][0][0]),
                                         cycles(stop - ranks[0][0][0])]
                                        for start, stop in times] for times in ranks]
                           for size, ranks in by_size.items()}
                    for call, by_size in raw["calls"].items()},
            checks=[check("no rank ends before all have begun", not early,
                          early[0] if early else "barrier, allreduce, alltoall")])

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """A row for each call and size."""
        results = self.results(document)
        rows = []
        for call, by_size in results.measured.items():
            for size, measured in by_size.items():
                predicted = results.predicted[call][size]
                rows.append((call, ALGORITHMS[call], size_text(int(size)), amount(measured),
                             amount(predicted), f"{100 * (measured / predicted - 1):+.0f} %"))
        clock, found = document["clock_mhz"], results.loggp
        names = {"o_s": "o_s", "o_r": "o_r", "g": "g", "L": "L",
                 "per_byte": f"G up to {size_text(found.eager)}, a byte",
                 "per_byte_long": "G of longer ones"}
        return [table(f"Collective calls of {results.ranks} ranks (cycles)",
                      ["call", "algorithm", "n", "measured", "LogGP", "beyond"], rows, left=2),
                table(f"LogGP, as measured with messages of {found.least} bytes",
                      ["", "cycles", "µs"],
                      [(title, amount(getattr(found, name), 3), micro(getattr(found, name), clock))
                       for name, title in names.items()])]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """Times over size, with the predictions dashed."""
        from ...results.plots import PALETTE, microseconds, octaves, plain_log

        results = self.results(document)
        axes = figure.add_subplot()
        every = [int(size) for size in results.measured["bcast"]]
        values = []
        for index, call in enumerate(CALLS[1:]):
            for found, style in ((results.measured, "-"), (results.predicted, "--")):
                line = [found[call][str(size)] for size in every]
                values += line
                axes.plot(every, line, style, color=PALETTE[index],
                          marker="o" if style == "-" else "",
                          label=call if style == "-" else None)
        octaves(axes, min(every), max(every), "bytes a rank, n", sizes=True)
        plain_log(axes, min(values) / 1.5, max(values) * 1.5)
        axes.set_ylabel("cycles")
        microseconds(axes, document["clock_mhz"])
        axes.legend(loc="upper left")
        axes.set_title(f"Collective calls of {results.ranks} ranks; dashed: LogGP")

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """The barrier, and the others at the least size."""
        return [Headline(f"{call}, {size_text(int(size))}", measured)
                for call, by_size in self.results(document).measured.items()
                for size, measured in list(by_size.items())[:1]]

    def series(self, document: Mapping[str, Any]) -> Series:
        """Allreduce over size."""
        found = self.results(document).measured["allreduce"]
        return Series("bytes a rank, n", "Allreduce (cycles)",
                      [(int(size), measured) for size, measured in found.items()], sizes=True,
                      log=True)


async def _measure_call(lab: Any, call: str, size: int) -> list[list[tuple[int, int]]]:
    """The ticks at which each rank began and ended each timed call."""
    async def program(node: Node) -> Any:
        async with Mpi(node) as mpi:
            comm = mpi.COMM_WORLD
            out, into = (mpi.empty(size // 8 * (comm.size if call == "alltoall" else 1))
                         for _ in range(2))
            out[:] = np.arange(len(out)) + comm.rank
            times = []
            for _ in range(WARM + COUNT):
                await comm.Barrier()
                start = stamp(node)
                if call == "barrier":
                    await comm.Barrier()
                elif call == "bcast":
                    await comm.Bcast(out)
                elif call == "allreduce":
                    await comm.Allreduce(out, into)
                else:
                    await comm.Alltoall(out, into)
                times.append((start, stamp(node)))
            return times[WARM:]

    run = await lab.run([program] * lab.description.fabric.nodes)
    return [[(start[0], stop[0]) for start, stop in times] for times in run.results]
