"""Overlap: how much of a message a rank that computes hides.

Rank 0 begins a send, computes for as long as the send alone takes, and waits for its end; rank 1
receives. What of the computation is not added to the time of the send alone is hidden. Progress is
made in calls alone, so a message that needs a reply waits for the end of the computation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ....host.mpi import Mpi
from ....host.port.node import Node
from ....layouts.description import Description
from ....layouts.trace import TICKS
from ...estimate.compare import check
from ...results.document import cycles, number
from ...results.tables import amount, table
from ..benchmark import Benchmark, Tell
from ..common.bulk_report import size_text
from ..common.headline import Headline, Series
from ..common.programs import programs, stamp, ticks_between
from ..common.transfers import sizes
from ..fields import Outcome, figure, setting

__all__ = ["Overlap", "OverlapParameters", "OverlapResults"]

WAYS = ("write", "read")
"""Ways of long messages (``mpi.rendezvous``) that are compared, where the channel has them."""


@dataclass(frozen=True)
class OverlapParameters:
    """Messages of several sizes."""

    sizes: Sequence[int] = setting([256], "bytes of a message", unit="bytes")


@dataclass(frozen=True)
class OverlapResults:
    """The part of a computation that is hidden."""

    hidden: Mapping[str, Mapping[str, float]] = figure(
        "", "part of a computation as long as the message, by way and bytes of the message")


class Overlap(Benchmark):
    """A message whose sender computes meanwhile."""

    Parameters = OverlapParameters
    Results = OverlapResults

    def parameters(self, description: Description) -> OverlapParameters:
        """256 B to 64 KB."""
        return OverlapParameters(sizes(min(64 << 10, description.memory.bytes // 64), 256))

    async def measure(self, lab: Any, layer: str, parameters: OverlapParameters, tell: Tell
                      ) -> dict[str, Any]:
        """For each size and way a send alone, and one with as much computation."""
        steps = [(size, way) for size in parameters.sizes for way in WAYS]
        found: dict[str, Any] = {way: {} for way in WAYS}
        for index, (size, way) in enumerate(steps):
            tell(f"{size} bytes, {way}", index, len(steps))
            alone = await _measure_once(lab, size, way, 0)
            compute = alone // TICKS
            both = await _measure_once(lab, size, way, compute)
            found[way][size] = {"alone": alone, "compute": compute * TICKS, "both": both}
        return found

    def evaluate(self, raw: Mapping[str, Any], description: Description,
                 parameters: OverlapParameters) -> Outcome:
        """The part of the computation that is hidden."""
        hidden = {way: {str(size): number(Fraction(one["alone"] + one["compute"] - one["both"],
                                                   one["compute"]))
                        for size, one in by_size.items()} for way, by_size in raw.items()}
        wrong = [f"{way}, {size_text(size)}" for way, by_size in raw.items()
                 for size, one in by_size.items() if one["both"] < one["compute"]]
        return Outcome(
            results=OverlapResults(hidden),
            points={way: {str(size): {name: cycles(ticks) for name, ticks in one.items()}
                          for size, one in by_size.items()} for way, by_size in raw.items()},
            checks=[check("nothing ends before its computation", not wrong,
                          wrong[0] if wrong else "nothing does")])

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """One row for each size."""
        hidden, points = self.results(document).hidden, document["points"]
        rows = [(size_text(int(size)), *(text for way in WAYS for text in (
            amount(points[way][size]["alone"]), amount(points[way][size]["both"]),
            f"{100 * hidden[way][size]:.0f} %"))) for size in hidden[WAYS[0]]]
        return [table("Overlap: a send alone, with as much computation, and what of it is hidden "
                      "(cycles)",
                      ["n", *(text for way in WAYS for text in (way, "both", "hidden"))], rows)]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """The hidden part over size."""
        from ...results.plots import line, octaves

        hidden = self.results(document).hidden
        axes = figure.add_subplot()
        for index, (way, by_size) in enumerate(hidden.items()):
            axes.plot([int(size) for size in by_size],
                      [100 * share for share in by_size.values()], label=way,
                      **line(index, len(hidden)))
        every = [int(size) for size in hidden[WAYS[0]]]
        octaves(axes, min(every), max(every), "bytes a message, n", sizes=True)
        axes.set_ylim(0, 105)
        axes.set_ylabel("% of the computation hidden")
        axes.legend(loc="best")
        axes.set_title("Overlap of a message and computation of the same length")

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """The hidden part of the longest message."""
        return [Headline(f"hidden, {way}, {size_text(int(size))}", share, "")
                for way, by_size in self.results(document).hidden.items()
                for size, share in list(by_size.items())[-1:]]

    def series(self, document: Mapping[str, Any]) -> Series:
        """The hidden part over size, of writes."""
        found = self.results(document).hidden[WAYS[0]]
        return Series("bytes a message, n", "hidden part of the computation",
                      [(int(size), share) for size, share in found.items()], sizes=True)


async def _measure_once(lab: Any, size: int, way: str, compute: int) -> int:
    """Ticks from the beginning of a send to its end, with ``compute`` cycles of computation
    between, after one that warms up."""
    async def program(node: Node) -> Any:
        async with Mpi(node) as mpi:
            comm, data = mpi.COMM_WORLD, mpi.empty(size, np.uint8)
            found = None
            for _ in range(2):
                receive = await comm.Irecv(data, 0) if comm.rank else None
                await comm.Barrier()
                start = stamp(node)
                if receive is not None:
                    await receive.Wait()
                    continue
                send = await comm.Issend(data, 1)
                if compute:
                    async with mpi.computing():
                        await node.port.delay(compute)
                await send.Wait()
                found = start, stamp(node)
            return found

    run = await lab.run(programs(lab, {0: program, 1: program}),
                        settings={"mpi.rendezvous": way})
    return ticks_between(*run.results[0])
