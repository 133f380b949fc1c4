"""A fixed total moved as requests of 64 B to 1 MB: asynchronous and pipelined, or blocking."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....host.am.endpoint import buffer_of
from ....layouts.description import Description
from ....layouts.trace import TICKS
from ...estimate.compare import check
from ...results.document import cycles, number
from ...results.tables import amount, micro, table
from ..benchmark import Benchmark, Tell
from ..common.bulk_report import size_text
from ..common.headline import Headline, Series
from ..common.transfers import KINDS, measure_transfers, sizes
from ..fields import Outcome, figure, setting

__all__ = ["Pipelined", "PipelinedParameters", "PipelinedResults"]

TOTAL = 1 << 20


@dataclass(frozen=True)
class PipelinedParameters:
    """1 MB in requests of each power of four, in no more than 1,024 requests."""

    total: int = setting(TOTAL, "bytes to move", unit="bytes")
    kinds: Sequence[str] = setting(list(KINDS), "kinds of transfer")
    sizes: Sequence[int] = setting([64], "bytes of a request", unit="bytes")
    most: int = setting(1024, "most requests")


@dataclass(frozen=True)
class PipelinedResults:
    """Bytes a cycle by kind and request size."""

    bandwidth: Mapping[str, Mapping[str, float]] = figure(
        "bytes/cycle", "from the first call to the last answer, by kind and bytes of a request")
    unit: str = figure("", "of all of these")


class Pipelined(Benchmark):
    """Asynchronous stores of a fixed total, cut into requests."""

    Parameters = PipelinedParameters
    Results = PipelinedResults

    def parameters(self, description: Description) -> PipelinedParameters:
        """As much as a buffer holds."""
        total = buffer_of(description)
        return PipelinedParameters(total, sizes=[size for size in sizes(total, 64)
                                                 if size.bit_length() % 2])

    async def measure(self, lab: Any, layer: str, parameters: PipelinedParameters, tell: Tell
                      ) -> dict[str, Any]:
        """One run for each kind and size."""
        steps = [(kind, size) for kind in parameters.kinds for size in parameters.sizes]
        found: dict[str, Any] = {kind: {} for kind in parameters.kinds}
        for index, (kind, size) in enumerate(steps):
            tell(f"{kind}, requests of {size} bytes", index, len(steps))
            count = min(max(parameters.total // size, 1), parameters.most)
            run = await measure_transfers(lab, kind, size, count, trace=False)
            found[kind][size] = {"done": run["done"], "count": len(run["issued"])}
        return found

    def evaluate(self, raw: Any, description: Description, parameters: PipelinedParameters
                 ) -> Outcome:
        """Bytes a cycle by kind and request size."""
        rates = {kind: {str(size): number(Fraction(size * run["count"] * TICKS, run["done"]))
                        for size, run in one.items()} for kind, one in raw.items()}
        best = max(value for one in rates.values() for value in one.values())
        limit = description.link.bytes_per_cycle
        return Outcome(
            results=PipelinedResults(rates, "bytes a cycle"),
            points={kind: {str(size): {"requests": run["count"], "cycles": cycles(run["done"])}
                           for size, run in one.items()} for kind, one in raw.items()},
            checks=[check("no more than the link carries", best <= limit,
                          f"{number(best)} of {number(limit)} bytes a cycle")])

    def _by_kind(self, document: Mapping[str, Any]) -> dict[str, Mapping[str, float]]:
        found = self.results(document).bandwidth
        return {kind: found[kind] for kind in KINDS if kind in found}

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """One row for each request size."""
        found, clock = self._by_kind(document), document["clock_mhz"]
        rows = []
        for size in next(iter(found.values())):
            row = [size_text(int(size))]
            for kind, one in found.items():
                row += [amount(one[size], 3), amount(one[size] * clock, 1),
                        micro(document["points"][kind][size]["cycles"], clock)]
            rows.append(row)
        columns = ["request"]
        for kind in found:
            columns += [kind, "MB/s", "µs"]
        parameters = self.parameters_of(document)
        return [table(f"{size_text(parameters.total)} in at most {parameters.most} requests "
                      "(bytes a cycle, from the first call to the last answer)", columns, rows)]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """Bandwidth over request size."""
        from ...results.plots import PALETTE, octaves

        found, clock = self._by_kind(document), document["clock_mhz"]
        axes = figure.add_subplot()
        for colour, (kind, one) in zip(PALETTE, found.items(), strict=False):
            axes.plot([int(size) for size in one], [value * clock for value in one.values()],
                      color=colour, marker="o",
                      label=kind + (", blocking" if kind == "store" else ""))
        across = [int(size) for size in next(iter(found.values()))]
        octaves(axes, min(across), max(across), "bytes a request", sizes=True)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("MB/s")
        axes.legend(loc="lower right")
        axes.set_title(f"{size_text(self.parameters_of(document).total)} in requests")

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """The best bandwidth of each kind."""
        return [Headline(f"{kind}, best", max(one.values()), "bytes/cycle")
                for kind, one in self._by_kind(document).items()]

    def series(self, document: Mapping[str, Any]) -> Series:
        """Bandwidth of asynchronous stores, or else of the first kind, over request size."""
        by_kind = self._by_kind(document)
        kind = "store_async" if "store_async" in by_kind else next(iter(by_kind))
        found = by_kind[kind]
        return Series("bytes a request", f"{kind} (bytes/cycle)",
                      [(int(size), value) for size, value in found.items()], sizes=True)
