"""Bandwidth: messages back to back, until the receiver has told that the last has come; and what
MPI leaves of the layer below."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ....host.mpi import Mpi, Request
from ....host.port.node import Node
from ....layouts.description import Description
from ....layouts.trace import TICKS
from ...estimate.bulk import bandwidth
from ...estimate.compare import check
from ...results.document import cycles, number
from ...results.tables import amount, micro, table
from .. import get
from ..bandwidth import BUDGET, messages
from ..benchmark import Benchmark, Tell
from ..common.bulk_report import size_text
from ..common.headline import Headline, Series
from ..common.programs import programs, stamp, ticks_between
from ..common.transfers import sizes
from ..fields import Outcome, figure, setting
from .names import shown
from .split import Parts, parts_table, split

__all__ = ["MpiBandwidth", "MpiBandwidthParameters", "MpiBandwidthResults"]

CHOSEN = ("4", "512", "32768")
"""Sizes whose time is split in the table."""
OPEN = 16
"""Sends that are open at once."""


@dataclass(frozen=True)
class MpiBandwidthParameters:
    """64 messages of each size, fewer of long ones."""

    sizes: Sequence[int] = setting([4], "bytes of a message", unit="bytes")
    bytes: int = setting(BUDGET, "bytes of a stream, about", unit="bytes")
    channel: str = setting("", "the layer below (mpi.channel)")


@dataclass(frozen=True, kw_only=True)
class MpiBandwidthResults:
    """Bytes a cycle of MPI and of the layer below."""

    bandwidth: Mapping[str, Mapping[str, float]] = figure("bytes/cycle", "by bytes of a message")
    r_inf: Mapping[str, float] = figure("bytes/cycle", "of messages without end: the slope")
    n_half: Mapping[str, float | None] = figure("bytes", "size at half of r_inf")
    unit: str = figure("", "of all of these")
    link: float = figure("bytes/cycle", "what the link carries")
    parts: Mapping[str, Sequence[Parts]] = figure(
        "cycles", "both ranks' time for a message over MPI, by its bytes")

    @property
    def best(self) -> float:
        """The most of MPI's."""
        return max(self.bandwidth["MPI"].values())


class MpiBandwidth(Benchmark):
    """Bandwidth of MPI, beside that of the layer below."""

    Parameters = MpiBandwidthParameters
    Results = MpiBandwidthResults

    def parameters(self, description: Description) -> MpiBandwidthParameters:
        """4 B to 64 KB; 64 messages of each size, fewer of long ones."""
        return MpiBandwidthParameters(sizes(min(64 << 10, description.memory.bytes // 64)),
                                      channel=description.mpi.channel)

    async def measure(self, lab: Any, layer: str, parameters: MpiBandwidthParameters, tell: Tell
                      ) -> dict[str, Any]:
        """For each size a stream over the layer below, and one over MPI."""
        below: dict[int, Any] = {}
        over: dict[int, Any] = {}
        carrier = get("bandwidth").module(parameters.channel).bench
        for index, size in enumerate(parameters.sizes):
            count = messages(size, parameters.bytes)
            tell(f"{count} messages of {size} bytes", index, len(parameters.sizes))
            stream = await carrier.stream(lab, parameters.channel, size, count)
            below[size] = {"count": count, "ticks": stream["done"]}
            over[size] = await _stream(lab, size, count)
        return {shown(parameters.channel): below, "MPI": over}

    def evaluate(self, raw: Mapping[str, Any], description: Description,
                 parameters: MpiBandwidthParameters) -> Outcome:
        """Bytes a cycle over size, r_inf, n_1/2 of both."""
        limit = description.link.bytes_per_cycle
        rates, fits = {}, {}
        for name, runs in raw.items():
            times = {size: Fraction(run["ticks"], TICKS * run["count"])
                     for size, run in runs.items()}
            fits[name] = bandwidth(list(times), list(times.values()))
            rates[name] = {size: size / time for size, time in times.items()}
        best = max(rate for by_size in rates.values() for rate in by_size.values())
        parts, wrong = _parts(raw["MPI"], description)
        return Outcome(
            results=MpiBandwidthResults(
                bandwidth={name: {str(size): number(rate) for size, rate in by_size.items()}
                           for name, by_size in rates.items()},
                r_inf={name: number(fit.r_inf) for name, fit in fits.items()},
                n_half={name: None if fit.n_half is None else number(fit.n_half)
                        for name, fit in fits.items()},
                unit="bytes a cycle", link=number(Fraction(limit)), parts=parts),
            points={name: {str(size): {"messages": run["count"], "cycles": cycles(run["ticks"])}
                           for size, run in runs.items()} for name, runs in raw.items()},
            checks=[check("no more than the link carries", best <= limit,
                          f"{number(best)} of {number(Fraction(limit))} bytes a cycle"),
                    check("the library's own time is what its paths were charged", not wrong,
                          wrong[0] if wrong else "at every size, of both ranks")])

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """One row for each size."""
        results, clock = self.results(document), document["clock_mhz"]
        mpi = results.bandwidth["MPI"]
        [name] = results.bandwidth.keys() - {"MPI"}
        below = results.bandwidth[name]
        points = document["points"]["MPI"]
        rows = [(size_text(int(size)), str(points[size]["messages"]), amount(below[size], 3),
                 amount(mpi[size], 3), amount(mpi[size] * clock, 1),
                 f"{100 * mpi[size] / below[size]:.0f} %", micro(points[size]["cycles"], clock))
                for size in mpi]
        halves = {one: "-" if half is None else f"{amount(half, 0)} bytes"
                  for one, half in results.n_half.items()}
        return [table("Bandwidth: M messages in a row, until the last is known to have come "
                      "(bytes/cycle)", ["n", "M", name, "MPI", "MB/s", f"of {name}", "µs"], rows),
                *(f"{one}: r_inf {amount(rate, 4)} bytes a cycle ({amount(rate * clock, 1)} MB/s); "
                  f"n_1/2 {halves[one]}" for one, rate in results.r_inf.items()),
                parts_table("Both ranks for each message over MPI (cycles)", "a message", {
                    f"{size_text(int(size))}, {which}": sides[rank]
                    for size in CHOSEN if (sides := results.parts.get(size))
                    for rank, which in enumerate(("out", "in"))})]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """Both over size."""
        from ...results.plots import line, octaves

        results, clock = self.results(document), document["clock_mhz"]
        axes = figure.add_subplot()
        found = results.bandwidth
        for index, (name, by_size) in enumerate(found.items()):
            axes.plot([int(size) for size in by_size], [rate * clock for rate in by_size.values()],
                      label=name, **line(index, len(found)))
        every = [int(size) for size in next(iter(found.values()))]
        axes.axhline(results.link * clock, color="#808080", ls=(0, (5, 3)), lw=1)
        octaves(axes, min(every), max(every), "bytes a message, n", sizes=True)
        axes.set_ylim(0, results.link * clock * 1.1)
        axes.set_ylabel("MB/s")
        axes.legend(loc="lower right")
        axes.set_title("Bandwidth, messages back to back; dashed: the link")

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """r_inf, n_1/2, and MPI's bandwidth at some sizes."""
        results = self.results(document)
        found = results.bandwidth["MPI"]
        return [Headline("r_inf", results.r_inf["MPI"], "bytes/cycle"),
                Headline("n_1/2", results.n_half["MPI"], "bytes"),
                *(Headline(size_text(int(size)), found[size], "bytes/cycle")
                  for size in ("64", "1024", "4096", "32768") if size in found)]

    def series(self, document: Mapping[str, Any]) -> Series:
        """MPI's bandwidth over size."""
        found = self.results(document).bandwidth["MPI"]
        return Series("bytes a message, n", "bandwidth (bytes/cycle)",
                      [(int(size), rate) for size, rate in found.items()], sizes=True)


async def _stream(lab: Any, size: int, count: int) -> dict[str, Any]:
    """``count`` messages from rank 0 to rank 1, and a message without data back: ticks at rank 0,
    and of both ranks when they began and ended, and how often they charged each path meanwhile."""
    async def program(node: Node) -> Any:
        async with Mpi(node) as mpi:
            comm, data = mpi.COMM_WORLD, mpi.empty(max(size, 1), np.uint8)
            await comm.Barrier()
            start, before = stamp(node), node.port.paths()
            for first in range(0, count, OPEN):
                some = range(min(OPEN, count - first))
                if comm.rank == 0:
                    await Request.Waitall([await comm.Isend(data[:size], 1) for _ in some])
                else:
                    await Request.Waitall([await comm.Irecv(data[:size], 0) for _ in some])
            await (comm.Recv(None, 1, 1) if comm.rank == 0 else comm.Send(None, 0, 1))
            return start, stamp(node), dict(node.port.paths() - before)

    run = await lab.run(programs(lab, {0: program, 1: program}))
    return {"count": count, "ticks": ticks_between(*run.results[0][:2]), "ranks": [
        {"begin": start[0], "end": stop[0], "charged": charged, "spans": run.marks}
        for start, stop, charged in run.results[:2]]}


def _parts(runs: Mapping[int, Mapping[str, Any]], description: Description
           ) -> tuple[dict[str, list[Parts]], list[str]]:
    """Both ranks' time for each message by part; and where it is not what was charged."""
    parts: dict[str, list[Parts]] = {}
    wrong = []
    for size, run in runs.items():
        for rank, side in enumerate(run["ranks"]):
            found, said = split(side, description, run["count"], rank)
            parts.setdefault(str(size), []).append(
                Parts(**{name: number(value) for name, value in found.items()}))
            if said:
                wrong.append(f"{size_text(size)}, rank {rank}: {said}")
    return parts, wrong
