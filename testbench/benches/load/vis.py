"""1 to 1,024 VIs with messages in flight on all, both ways: bandwidth, latency, fairness."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ....host.endpoint import Exchange
from ....layouts.description import Description
from ....layouts.trace import TICKS
from ...estimate.compare import check
from ...results.document import number
from ...results.tables import amount, micro, table
from ...run.sent_again import loses
from ...wording import counted
from ..benchmark import Benchmark, Tell
from ..common.bulk_report import size_text
from ..common.headline import Headline, Series
from ..common.streams import starving
from ..fields import Outcome, figure, setting
from ..via.room import fitting
from .cells import LoadCell, cell, together
from .traffic import measure_traffic

__all__ = ["Lateness", "Vis", "VisCell", "VisParameters", "VisResults", "count_of"]

LEVELS = (1, 4, 16, 64, 256, 1024)
SIZES = (4, 1024, 32768)
LEAST, MOST = 4, 8
"""Messages of a VI. The program posts one on each VI in turn, so the first VIs begin long before
the last: over fewer messages than LEAST that alone looks like unequal shares."""
BYTES, SLOW_BYTES = 2 << 20, 256 << 10
"""Each way, of a run, and of one over firmware, which takes the simulator as much longer; there is
none where LEAST messages on each VI are more."""


@dataclass(frozen=True)
class VisParameters:
    """VIs, sizes, and how much goes in a run."""

    vis: Sequence[int] = setting([1], "VIs with messages in flight")
    sizes: Sequence[int] = setting([4], "bytes of a message", unit="bytes")
    bytes: int = setting(BYTES, "bytes each way of a run, at most", unit="bytes")


@dataclass(frozen=True)
class Lateness:
    """Latencies from the call of the send to the program that has the message."""

    least: float = figure("cycles", "the least")
    median: float = figure("cycles", "the median")
    p99: float = figure("cycles", "99 of 100 are not above it")
    most: float = figure("cycles", "the most")


@dataclass(frozen=True, kw_only=True)
class VisCell(LoadCell):
    """Figures of a run; shares are of VIs."""

    bandwidth: float = figure("bytes/cycle", "each way")
    latency: Lateness = figure("cycles", "of single messages")


@dataclass(frozen=True)
class VisResults:
    """Figures of each run."""

    vis: Mapping[str, Mapping[str, VisCell]] = figure(
        "", "by bytes of a message and number of VIs")


def count_of(size: int, vis: int, budget: int) -> int:
    """Messages of a VI; 0: too many in all."""
    if LEAST * size * vis > budget:
        return 0
    return max(LEAST, min(MOST, min(budget, BYTES) // (size * vis)))


class Vis(Benchmark):
    """Many VIs at once."""

    Parameters = VisParameters
    Results = VisResults

    def parameters(self, description: Description) -> VisParameters:
        """1 to 1,024 VIs, or as many as the NIC has (via.vis); 4 B to 32 KB. Runs of more than
        2 MB each way (firmware: 256 KB) are left out."""
        slow = description.via.design == "firmware"
        return replace(self.full(description), bytes=SLOW_BYTES if slow else BYTES)

    def full(self, description: Description) -> VisParameters:
        """All of them: 4 messages of 32 KB on each of 1,024 VIs are 128 MB each way."""
        vis = [count for count in LEVELS if count <= description.via.vis]
        sizes = [size for size in SIZES if size <= description.memory.bytes // 16]
        return VisParameters(vis, sizes, LEAST * max(sizes) * max(vis))

    async def measure(self, lab: Any, layer: str, parameters: VisParameters, tell: Tell
                      ) -> dict[str, Any]:
        """A run a size and number of VIs, between nodes 0 and 1."""
        fit = await fitting(lab, parameters.vis)
        steps = [(size, vis, count) for size in parameters.sizes for vis in fit
                 if (count := count_of(size, vis, parameters.bytes))]
        runs = {}
        for index, (size, vis, count) in enumerate(steps):
            tell(f"{counted(vis, 'VI')}, {size} bytes", index, len(steps))
            runs[size, vis] = await measure_traffic(
                lab, layer, Exchange(size, count, {0: [1], 1: [0]}, vis))
        return {"runs": runs}

    def evaluate(self, raw: Any, description: Description, parameters: VisParameters) -> Outcome:
        """Bandwidth each way, latencies from the call of the send to the program that has the
        message, and what each VI got by the time at which the first had all of its messages."""
        results: dict[str, dict[str, VisCell]] = {}
        checks: list[dict[str, Any]] = []
        best: dict[int, Fraction] = {}
        for (size, vis), run in raw["runs"].items():
            flows = together(run, None)
            rate = _rate(run, size)
            if not loses(description):
                if count_of(size, vis, parameters.bytes) == MOST:
                    checks.append(starving(flows, f"{vis} VIs of {size} bytes:"))
                checks.append(check(
                    f"{vis} VIs of {size} bytes: as fast as fewer",
                    rate >= best.get(size, rate) * Fraction(9, 10),
                    f"{number(rate)} bytes a cycle, {number(best.get(size, rate))} on fewer"))
            best[size] = max(rate, best.get(size, rate))
            results.setdefault(str(size), {})[str(vis)] = VisCell(
                **vars(cell(run, size, flows)), bandwidth=number(rate), latency=_lateness(run))
        checks.append(check("no more than the link carries",
                            max(best.values()) <= description.link.bytes_per_cycle,
                            f"{number(max(best.values()))} bytes a cycle"))
        return Outcome(results=VisResults(results), checks=checks)

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """One row a size and number of VIs."""
        clock = document["clock_mhz"]
        rows = []
        for size, by_vis in _each(self.results(document)):
            for vis, found in by_vis:
                late = found.latency
                rows.append((size, vis, f"{found.bandwidth:.4f}",
                             f"{found.bandwidth * clock:.2f}", amount(late.least, 0),
                             amount(late.median, 0), amount(late.p99, 0),
                             micro(late.median, clock), f"{found.least:.3f}",
                             f"{found.most:.3f}", str(found.again)))
        return [table("VIs with messages in flight on all of them, both ways (latency in cycles, "
                      "µs: the median; shares of a VI)",
                      ["n", "VIs", "B/cycle", "MB/s", "least", "median", "99 %", "µs",
                       "least", "most", "again"], rows)]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """Bandwidth each way over VIs."""
        from ...results.plots import line, octaves

        found, clock = _each(self.results(document)), document["clock_mhz"]
        axes = figure.add_subplot()
        for index, (size, by_vis) in enumerate(found):
            axes.plot([int(vis) for vis, _ in by_vis],
                      [one.bandwidth * clock for _, one in by_vis],
                      label=size, **line(index, len(found)))
        octaves(axes, 1, max(2, *(int(vis) for _, by_vis in found for vis, _ in by_vis)),
                "VIs in use")
        axes.set_ylim(bottom=0)
        axes.set_ylabel("bandwidth each way (MB/s)")
        axes.legend(loc="best")
        axes.set_title("Many VIs, messages in flight on all of them")

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """Bandwidth and median latency with the most VIs of each size."""
        made = []
        for size, by_vis in _each(self.results(document)):
            vis, last = by_vis[-1]
            name = f"{vis} VIs, {size}"
            made += [Headline(f"bandwidth, {name}", last.bandwidth, "bytes/cycle"),
                     Headline(f"latency, {name}", last.latency.median)]
        return made

    def series(self, document: Mapping[str, Any]) -> Series:
        """Bandwidth of messages of the middle size over VIs."""
        found = _each(self.results(document))
        size, by_vis = found[len(found) // 2]
        return Series("VIs in use", f"bandwidth of {size} (bytes/cycle)",
                      [(int(vis), one.bandwidth) for vis, one in by_vis])


def _lateness(run: Mapping[str, Any]) -> Lateness:
    late = sorted(there - sent for flow, times in run["arrived"].items()
                  for sent, there in zip(run["sent"][flow], times, strict=True))
    return Lateness(*(number(Fraction(value, TICKS)) for value in (
        late[0], late[len(late) // 2], late[len(late) * 99 // 100], late[-1])))


def _rate(run: Mapping[str, Any], size: int) -> Fraction:
    """Bytes a cycle each way: all that came, from the first send to the last arrival."""
    begin = min(run["begin"].values())
    rates = []
    for node in run["begin"]:
        times = [time for flow, each in run["arrived"].items() if flow[1] == node for time in each]
        rates.append(Fraction(size * len(times) * TICKS, max(times) - begin))
    return min(rates)


def _each(results: VisResults) -> list[tuple[str, list[tuple[str, VisCell]]]]:
    """A size as people read it, and the figures by number of VIs."""
    return [(size_text(int(size)), list(by_vis.items())) for size, by_vis in results.vis.items()]
