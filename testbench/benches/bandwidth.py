"""Bandwidth: messages back to back; the clock stops at the acknowledgement of the last."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...layouts.description import Description
from ...layouts.doors import NicDesign
from ...layouts.trace import TICKS
from ..estimate.bulk import bandwidth
from ..estimate.compare import check
from ..results.document import cycles, number
from ..results.tables import amount, micro, table
from .benchmark import Benchmark, Tell
from .common.bulk_report import size_text
from .common.headline import Headline, Series
from .fields import Outcome, figure, setting
from .latency import carried, lengths
from .one_way.exchange import measure_stream

__all__ = ["BUDGET", "Bandwidth", "BandwidthParameters", "BandwidthResults", "messages"]

BUDGET = 256 << 10
LEAST, MOST = 8, 64


@dataclass(frozen=True)
class BandwidthParameters:
    """64 messages of each size, fewer of long ones."""

    sizes: Sequence[int] = setting([4], "bytes of a message", unit="bytes")
    bytes: int = setting(BUDGET, "bytes of a stream, about", unit="bytes")


@dataclass(frozen=True)
class BandwidthResults:
    """Bytes a cycle over size, and the line through them."""

    bandwidth: Mapping[str, float] = figure("bytes/cycle", "of a stream, by bytes of a message")
    best: float = figure("bytes/cycle", "the most of them")
    link: float = figure("bytes/cycle", "what the link, or another carrier, carries")
    r_inf: float = figure("bytes/cycle", "of messages without end: the slope")
    n_half: float | None = figure("bytes", "size at half of r_inf; None: the line has none")
    residual: float = figure("", "of the fit, relative")
    unit: str = figure("", "of all of these")
    carrier: str = figure("", "what carries them, if not the link", default="link")


def messages(size: int, budget: int) -> int:
    """Number of messages in a row."""
    return max(LEAST, min(MOST, budget // size))


class Bandwidth(Benchmark):
    """Bandwidth over any layer whose endpoints exchange messages."""

    Parameters = BandwidthParameters
    Results = BandwidthResults

    def parameters(self, description: Description) -> BandwidthParameters:
        """4 B to 32 KB."""
        return BandwidthParameters(lengths(description))

    async def measure(self, lab: Any, layer: str, parameters: BandwidthParameters, tell: Tell
                      ) -> dict[str, Any]:
        """One run for each size: a stream, and then the wait for the acknowledgement of its last
        message; none for what is longer than the layer's messages."""
        found = {}
        chosen = carried(parameters.sizes, layer, lab.description)
        for index, size in enumerate(chosen):
            count = messages(size, parameters.bytes)
            tell(f"{count} messages of {size} bytes", index, len(chosen))
            found[size] = await self.stream(lab, layer, size, count)
        return {layer: found}

    async def stream(self, lab: Any, layer: str, size: int, count: int) -> dict[str, Any]:
        """``count`` messages of ``size`` bytes in a row."""
        return await measure_stream(lab, size, count, layer=layer)

    def bounds(self, runs: Mapping[int, Mapping[str, Any]], design: NicDesign) -> dict[str, Any]:
        """The block that each stream waited for, by size, where runs are traced."""
        return {}

    def evaluate(self, raw: Any, description: Description, parameters: BandwidthParameters
                 ) -> Outcome:
        """Bytes a cycle over size, r_inf, n_1/2."""
        [runs] = raw.values()
        times = {size: Fraction(run["done"], TICKS * len(run["issued"]))
                 for size, run in runs.items()}
        found = bandwidth(list(times), list(times.values()))
        rates = {size: size / time for size, time in times.items()}
        best = max(rates.values())
        bounds = self.bounds(runs, description.design)
        carrier, limit = self.carrier(description)
        return Outcome(
            results=BandwidthResults(
                bandwidth={str(size): number(rate) for size, rate in rates.items()},
                best=number(best), link=number(Fraction(limit)), r_inf=number(found.r_inf),
                n_half=None if found.n_half is None else number(found.n_half),
                residual=number(found.residual), unit="bytes a cycle",
                carrier=carrier),
            truth={"bound": bounds} if bounds else {},
            points={str(size): {"messages": len(run["issued"]), "cycles": cycles(run["done"])}
                    for size, run in runs.items()},
            checks=[check(f"no more than the {carrier} carries", best <= limit,
                          f"{number(best)} of {number(Fraction(limit))} bytes a cycle")])

    def carrier(self, description: Description) -> tuple[str, Fraction]:
        """Returns what carries the bytes of messages, and how many a cycle."""
        return "link", description.link.bytes_per_cycle

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """One row for each size."""
        results, clock = self.results(document), document["clock_mhz"]
        bounds = document["truth"].get("bound", {})
        rows = []
        for size, rate in results.bandwidth.items():
            point = document["points"][size]
            row = [size_text(int(size)), str(point["messages"]), amount(rate, 3),
                   amount(rate * clock, 1), f"{100 * rate / results.link:.1f} %",
                   micro(point["cycles"], clock)]
            if bounds:
                row.append(f"{bounds[size]['block']} {100 * bounds[size]['busy']:.0f} %")
            rows.append(row)
        columns = ["n", "M", "bytes/cycle", "MB/s", f"of the {results.carrier}", "µs"]
        half = "-" if results.n_half is None else f"{amount(results.n_half, 0)} bytes"
        return [table("Bandwidth: M messages in a row, until the last is acknowledged",
                      columns + (["bound by"] if bounds else []), rows),
                f"r_inf {amount(results.r_inf, 4)} bytes a cycle "
                f"({amount(results.r_inf * clock, 1)} MB/s); n_1/2 {half}"]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """Bandwidth over size."""
        from ..results.plots import PALETTE, octaves

        results, clock = self.results(document), document["clock_mhz"]
        axes = figure.add_subplot()
        found = {int(size): rate * clock for size, rate in results.bandwidth.items()}
        axes.plot(list(found), list(found.values()), color=PALETTE[0], marker="o")
        rate = results.link * clock
        axes.axhline(rate, color=PALETTE[6], ls=(0, (5, 3)), lw=1)
        octaves(axes, min(found), max(found), "bytes a message, n", sizes=True)
        axes.annotate(f"{results.carrier}: {amount(rate, 1)}", (min(found), rate), xytext=(2, 3),
                      textcoords="offset points", fontsize=8.5, color=PALETTE[6])
        if results.n_half:
            axes.plot([results.n_half], [results.r_inf * clock / 2], color=PALETTE[0],
                      marker="D", ms=6, ls="none")
        axes.set_ylim(0, rate * 1.1)
        axes.set_ylabel("MB/s")
        axes.set_title("Bandwidth, messages back to back; ◆ n$_{1/2}$")

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """r_inf, n_1/2, and the bandwidth of some sizes."""
        results = self.results(document)
        found = [Headline("r_inf", results.r_inf, "bytes/cycle"),
                 Headline("n_1/2", results.n_half, "bytes")]
        return found + [Headline(f"{size_text(int(size))}", results.bandwidth[size], "bytes/cycle")
                        for size in ("64", "1024", "4096", "32768") if size in results.bandwidth]

    def series(self, document: Mapping[str, Any]) -> Series:
        """Bandwidth over size."""
        found = self.results(document).bandwidth
        return Series("bytes a message, n", "bandwidth (bytes/cycle)",
                      [(int(size), rate) for size, rate in found.items()], sizes=True)
