"""LogP the LogGP way, as a cross-check: from PRTT(n, d, s), the time of n messages of s bytes with
delay d between them and the answer to the last.

Active Messages answer every request (its credit comes back with the reply), so each message here
includes the handling of an answer; the table names this bias.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....host.am.endpoint import AmEndpoint
from ....host.endpoint import Exchange
from ....host.port.node import Node
from ....layouts.description import Description
from ....layouts.trace import TICKS, Activity
from ...estimate.bulk import prtt_gap, prtt_send
from ...estimate.compare import Row, check
from ...estimate.fits import fit
from ...results.document import cycles, number
from ...results.tables import amount, micro, percent, table
from ...truth.budget import ending_check, sends
from ...truth.spans import spans
from ...truth.steady import mean_own
from ..benchmark import Benchmark, Tell
from ..common.headline import Headline, Series
from ..common.programs import (
    REQUESTS,
    close_to,
    on,
    open_to,
    programs,
    requests_to,
    server,
    stream_of,
)
from ..common.transfers import transfers
from ..fields import Outcome, figure, setting

__all__ = ["Prtt", "PrttParameters", "PrttResults"]

FIGURES = ("o_s", "g", "G")


@dataclass(frozen=True)
class PrttParameters:
    """32 messages for o_s; 96 of each of several sizes, beyond any window, for g and G."""

    count: int = setting(32, "requests for o_s")
    stream: int = setting(96, "stores of each size, for g and G")
    delay_rtts: int = setting(2, "delay between the requests", unit="round trips")
    sizes: Sequence[int] = setting([64], "bytes of a store", unit="bytes")


@dataclass(frozen=True)
class PrttResults:
    """Parameters of LogGP."""

    o_s: float = figure("cycles", "send overhead")
    g: float = figure("cycles", "gap: the intercept of the gap over size")
    G: float = figure("cycles/byte", "gap a byte: its slope")
    residual: float = figure("cycles", "of that line")
    gap: Mapping[str, float] = figure("cycles", "gap by bytes of a store")


class Prtt(Benchmark):
    """LogP the LogGP way."""

    Parameters = PrttParameters
    Results = PrttResults
    FIGURES = FIGURES

    def parameters(self, description: Description) -> PrttParameters:
        """Sizes up to a packet."""
        mtu = description.nic.mtu
        return PrttParameters(sizes=sorted({mtu // 16, mtu // 8, mtu // 4, mtu // 2, 3 * mtu // 4,
                                            mtu}))

    async def measure(self, lab: Any, layer: str, parameters: PrttParameters, tell: Tell
                      ) -> dict[str, Any]:
        """PRTT(1, 0, 0) and PRTT(n, d, 0) of requests; PRTT(1, 0, s) and PRTT(n, 0, s) of
        stores."""
        steps = 1 + len(parameters.sizes)
        tell("requests", 0, steps)
        one = await _requests(lab, layer, 1, 0)
        delay = parameters.delay_rtts * -(-one["done"] // TICKS)
        many = await _requests(lab, layer, parameters.count, delay)
        found: dict[str, Any] = {"one": one, "many": many, "stores": {}}
        for index, size in enumerate(parameters.sizes):
            tell(f"stores of {size} bytes", 1 + index, steps)
            found["stores"][size] = {"one": await _stores(lab, 1, size),
                                     "many": await _stores(lab, parameters.stream, size)}
        return found

    def evaluate(self, raw: Any, description: Description, parameters: PrttParameters) -> Outcome:
        """o_s, g and G, and the traced o_s with the parts that do not belong to it."""
        many, one = raw["many"], raw["one"]
        row, handled = _send_row(many, one)
        gaps = {size: prtt_gap(_span_of(run["many"]), _span_of(run["one"]),
                               len(run["many"]["issued"]))
                for size, run in raw["stores"].items()}
        line = fit(list(gaps), list(gaps.values()))
        return Outcome(
            results=PrttResults(
                o_s=number(row.estimate), g=number(line.intercept), G=number(line.slope),
                residual=number(line.residual),
                gap={str(size): number(value) for size, value in gaps.items()}),
            truth={"o_s": number(row.truth), "o_r": number(handled)},
            comparison=[row.plain()],
            points={"one": cycles(one["done"]), "many": cycles(many["done"]),
                    "delay": many["delay"],
                    "stores": {str(size): {"one": cycles(run["one"]["done"]),
                                           "many": cycles(run["many"]["done"])}
                               for size, run in raw["stores"].items()}},
            checks=[check("o_s within 2 % of the truth plus its named bias", row.ok,
                          f"{float(row.left):.3f} cycles are left of {float(row.truth):.3f}")])

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """o_s with its bias; the gap by size."""
        results, clock = self.results(document), document["clock_mhz"]
        rows = []
        for row in document["comparison"]:
            bias = "\n".join(f"{one['cycles']:+.2f} {one['name']}" for one in row["bias"])
            rows.append((row["quantity"], amount(row["estimate"]), micro(row["estimate"], clock),
                         amount(row["truth"]), f"{row['difference']:+.2f}",
                         percent(row["difference"] / row["truth"]), bias))
        made = table("PRTT(n, d, 0) with d beyond the round trip",
                     ["", "estimate", "µs", "truth", "diff.", "", "named bias (cycles)"], rows)
        made.columns[-1].justify = "left"
        gaps = [(size, amount(value), micro(value, clock)) for size, value in results.gap.items()]
        return [made, table("(PRTT(n, 0, s) − PRTT(1, 0, s)) / (n − 1), of asynchronous stores",
                            ["bytes", "cycles", "µs"], gaps),
                f"g = {amount(results.g)} cycles and G = {amount(results.G, 4)} cycles a byte: "
                f"intercept and slope, with a residual of {amount(results.residual)} cycles"]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """The gap over size, and its line."""
        from ...results.plots import INK, PALETTE, microseconds

        results = self.results(document)
        axes = figure.add_subplot()
        sizes = [int(size) for size in results.gap]
        axes.plot(sizes, list(results.gap.values()), color=PALETTE[0], marker="o", ls="none", ms=6)
        ends = [0, max(sizes)]
        axes.plot(ends, [results.g + results.G * size for size in ends], color=INK, lw=1,
                  ls=(0, (5, 3)))
        axes.annotate(f"g = {amount(results.g)} cycles, G = {amount(results.G, 4)} cycles/byte",
                      (0.03, 0.93), xycoords="axes fraction", fontsize=9)
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=min(0, results.g))
        axes.set_xlabel("bytes, s")
        axes.set_ylabel("(PRTT(n, 0, s) − PRTT(1, 0, s)) / (n − 1)   (cycles)")
        microseconds(axes, document["clock_mhz"])
        axes.set_title("g and G the LogGP way")

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """o_s, g and G."""
        results = self.results(document)
        return [Headline("o_s", results.o_s), Headline("g", results.g),
                Headline("G", results.G, "cycles/byte")]

    def series(self, document: Mapping[str, Any]) -> Series:
        """g over size."""
        return Series("bytes a store", "g (cycles)",
                      [(int(size), gap) for size, gap in self.results(document).gap.items()],
                      sizes=True)


async def _requests(lab: Any, layer: str, count: int, delay: int) -> dict[str, Any]:
    """``count`` requests with ``delay`` cycles after each."""
    async def requester(node: Node) -> Any:
        side = AmEndpoint(node, REQUESTS)
        await open_to(side, [1])
        found = await stream_of(side, requests_to(side, [1]), count, delay)
        await close_to(side, [1])
        return found

    run = await lab.run(programs(lab, {0: requester, 1: server(on(layer))}), trace=True)
    return {**run.results[0].plain(), "marks": run.marks}


async def _stores(lab: Any, count: int, size: int) -> dict[str, Any]:
    """``count`` stores of ``size`` bytes in a row."""
    async def requester(node: Node) -> Any:
        side = AmEndpoint(node, Exchange())
        await open_to(side, [1])
        found = await stream_of(side, transfers(side, "store_async", 1, size), count)
        await close_to(side, [1])
        return found

    run = await lab.run(programs(lab, {
        0: requester, 1: server(lambda node: AmEndpoint(node, Exchange()))}))
    return run.results[0].plain()


def _span_of(run: Mapping[str, Any]) -> Fraction:
    """PRTT of a run in cycles, without the computation after the last issue."""
    return Fraction(run["done"], TICKS)


def _send_row(many: Mapping[str, Any], one: Mapping[str, Any]) -> tuple[Row, Fraction]:
    """o_s beside the traced one, and what handling an answer costs, in cycles."""
    count, delay = len(many["issued"]), many["delay"]
    # The delay after the last message hides its answer; count it as METHODS does, between them.
    last = Fraction(many["issued"][-1], TICKS) - delay
    first = Fraction(one["issued"][0], TICKS)
    marks = spans(many["marks"])
    issued = [span for span in sends(marks, 0) if span.begin >= many["begin"]][:count]
    between = (issued[0].begin, issued[-1].end)
    own = Fraction(sum(span.own for span in issued), count)
    traced = (own + ending_check(marks, 0)) / TICKS
    handled = mean_own(marks, Activity.REPLY_HANDLE, 0, between) / TICKS
    control = Fraction(sum(span.own for span in marks if span.activity == Activity.CONTROL
                           and span.node == 0 and between[0] <= span.begin < between[1]),
                       TICKS * (count - 1))
    return Row("o_s", prtt_send(last, first, count, delay), traced,
               [("handling the answer, o_r", handled),
                ("acknowledgements, timers", control)]), handled
