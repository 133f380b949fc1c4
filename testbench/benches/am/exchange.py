"""Both nodes send at once, started by a third; and one node does both, with a get and a store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....host.am.endpoint import ARRIVED, START, STORED, AmEndpoint, buffer_of
from ....host.endpoint import Exchange as Sides
from ....host.port.node import Node
from ....layouts.description import Description
from ....layouts.trace import TICKS
from ...estimate.compare import check
from ...results.document import cycles, number
from ...results.tables import amount, table
from ..benchmark import Benchmark, Tell
from ..common.bulk_report import size_text
from ..common.headline import Headline, Series
from ..common.programs import close_to, open_to, programs, server, stamp
from ..common.transfers import sizes, transfers
from ..fields import Outcome, figure, setting

__all__ = ["Exchange", "ExchangeParameters", "ExchangeResults"]

BYTES = 64 << 10
WAYS = {"both": "both nodes store", "one": "one node stores and gets"}


@dataclass(frozen=True)
class ExchangeParameters:
    """Powers of four from 64 B; at least 64 KB each way."""

    sizes: Sequence[int] = setting([64], "bytes of a transfer", unit="bytes")
    bytes: int = setting(BYTES, "bytes each way, about", unit="bytes")


@dataclass(frozen=True)
class ExchangeResults:
    """Bytes a cycle, both directions together."""

    bandwidth: Mapping[str, Mapping[str, float]] = figure(
        "bytes/cycle", "of both directions together, by who sends and bytes of a transfer")
    unit: str = figure("", "of all of these")


class Exchange(Benchmark):
    """Both nodes send at once."""

    nodes = 3
    Parameters = ExchangeParameters
    Results = ExchangeResults

    def parameters(self, description: Description) -> ExchangeParameters:
        """Sizes of which four fit a buffer."""
        return ExchangeParameters([size for size in sizes(buffer_of(description) // 4, 64)
                                   if size.bit_length() % 2])

    async def measure(self, lab: Any, layer: str, parameters: ExchangeParameters, tell: Tell
                      ) -> dict[str, Any]:
        """One run for each size and way."""
        found: dict[str, Any] = {"both": {}, "one": {}}
        for index, size in enumerate(parameters.sizes):
            tell(f"{size} bytes", index, len(parameters.sizes))
            count = max(1, parameters.bytes // size)
            found["both"][size] = await _both_send(lab, size, count)
            found["one"][size] = await _one_does_both(lab, size, count)
        return found

    def evaluate(self, raw: Any, description: Description, parameters: ExchangeParameters
                 ) -> Outcome:
        """Bytes a cycle, both directions together."""
        rates = {way: {str(size): number(Fraction(2 * size * run["count"] * TICKS, run["ticks"]))
                       for size, run in one.items()} for way, one in raw.items()}
        best = max(value for one in rates.values() for value in one.values())
        limit = 2 * description.link.bytes_per_cycle
        return Outcome(
            results=ExchangeResults(rates, "bytes a cycle, both directions"),
            points={way: {str(size): {"transfers": run["count"], "cycles": cycles(run["ticks"])}
                          for size, run in one.items()} for way, one in raw.items()},
            checks=[check("no more than the links carry", best <= limit,
                          f"{number(best)} of {number(limit)} bytes a cycle")])

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """One row for each size."""
        found, clock = self.results(document).bandwidth, document["clock_mhz"]
        rows = []
        for size in found["both"]:
            row = [size_text(int(size))]
            for one in found.values():
                row += [amount(one[size], 3), amount(one[size] * clock, 1)]
            rows.append(row)
        columns = ["transfer"]
        for way in found:
            columns += [WAYS[way], "MB/s"]
        return [table("Exchange, both directions together (bytes a cycle)", columns, rows)]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """Bandwidth over transfer size."""
        from ...results.plots import PALETTE, octaves

        found, clock = self.results(document).bandwidth, document["clock_mhz"]
        axes = figure.add_subplot()
        for colour, (way, one) in zip(PALETTE, found.items(), strict=False):
            axes.plot([int(size) for size in one], [value * clock for value in one.values()],
                      color=colour, marker="o", label=WAYS[way])
        chosen = [int(size) for size in found["both"]]
        octaves(axes, min(chosen), max(chosen), "bytes a transfer", sizes=True)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("MB/s, both directions together")
        axes.legend(loc="lower right")
        axes.set_title("Exchange")

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """The best bandwidth of each way."""
        return [Headline(f"{way}, best", max(one.values()), "bytes/cycle")
                for way, one in self.results(document).bandwidth.items()]

    def series(self, document: Mapping[str, Any]) -> Series:
        """Bandwidth of both nodes sending over size."""
        way, found = next(iter(self.results(document).bandwidth.items()))
        return Series("bytes a transfer", f"{way} (bytes/cycle, both directions)",
                      [(int(size), value) for size, value in found.items()], sizes=True)


async def _both_send(lab: Any, size: int, count: int) -> dict[str, Any]:
    async def program(node: Node) -> Any:
        side = AmEndpoint(node, Sides())
        other = 1 - node.home
        await side.open()
        await side.wait(lambda: side.started)
        start = stamp(node)
        issue = transfers(side, "store_async", other, size)
        for index in range(count):
            await issue(index)
        # All data sent is acknowledged, and all data of the other node has arrived.
        await side.wait(lambda: side.replied >= count and side.received >= count)
        stop = stamp(node)
        await side.close()
        return start, stop

    async def third(node: Node) -> None:
        side = AmEndpoint(node, Sides())
        await side.open()
        for one in (0, 1):
            await side.am.request(node.address_on(one), START)
        await side.close()

    run = await lab.run(programs(lab, {0: program, 1: program, 2: third}))
    begin = min(start[0] for start, _ in run.results[:2])
    return {"ticks": max(stop[0] for _, stop in run.results[:2]) - begin, "count": count}


async def _one_does_both(lab: Any, size: int, count: int) -> dict[str, Any]:
    async def program(node: Node) -> Any:
        side = AmEndpoint(node, Sides())
        await open_to(side, [1])
        base, peer = side.replied, node.address_on(1)
        start = stamp(node)
        for _ in range(count):
            await side.am.get(peer, side.source, side.target, size, ARRIVED)
            await side.am.store_async(peer, side.source, side.target, size, STORED)
        await side.wait(lambda: side.replied - base >= 2 * count)
        stop = stamp(node)
        await close_to(side, [1])
        return start, stop

    run = await lab.run(programs(lab, {
        0: program, 1: server(lambda node: AmEndpoint(node, Sides()))}))
    start, stop = run.results[0]
    return {"ticks": stop[0] - start[0], "count": count}
