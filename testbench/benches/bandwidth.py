"""Bandwidth: messages back to back; the clock stops at the acknowledgement of the last."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ...layouts.description import Description
from ...layouts.trace import TICKS
from ..estimate.bulk import bandwidth
from ..estimate.compare import check
from ..results.document import cycles, number
from ..results.tables import amount, micro, table
from ..truth.bound import bound, shares
from ..truth.messages import posted
from ..truth.spans import spans
from . import ONE_WAY
from .common.bulk_report import size_text
from .common.headline import Headline, Series
from .common.latencies import ordered
from .common.transfers import measure_transfers, sizes
from .latency import LARGEST

__all__ = ["draw", "evaluate", "headline", "measure", "parameters", "series", "tables"]

BUDGET = 256 << 10
LEAST, MOST = 8, 64


def parameters(description: Description) -> dict[str, Any]:
    """4 B to 32 KB; 64 messages of each size, fewer of long ones."""
    return {"sizes": sizes(min(LARGEST, description.memory.bytes // 16)), "bytes": BUDGET}


def messages(size: int, budget: int) -> int:
    """Number of messages in a row."""
    return max(LEAST, min(MOST, budget // size))


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """One run for each size: a stream, and then the wait for the acknowledgement of its last
    message."""
    found = {}
    for index, size in enumerate(parameters["sizes"]):
        count = messages(size, parameters["bytes"])
        tell(f"{count} messages of {size} bytes", index, len(parameters["sizes"]))
        if layer == "via":
            from .via.stream import measure_stream

            found[size] = await measure_stream(lab, size, count)
        elif layer in ONE_WAY:
            from .one_way.exchange import measure_stream as measure_messages

            found[size] = await measure_messages(lab, size, count, layer=layer)
        else:
            found[size] = await measure_transfers(lab, "store_async", size, count, trace=False)
    return {layer: found}


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """Bytes a cycle over size, r_inf, n_1/2; with VIA also the bound."""
    [(layer, runs)] = raw.items()
    times = {size: Fraction(run["done"], TICKS * len(run["issued"])) for size, run in runs.items()}
    found = bandwidth(list(times), list(times.values()))
    rates = {size: size / time for size, time in times.items()}
    best = max(rates.values())
    bounds = {}
    if layer == "via":
        bounds = {size: _bound(run) for size, run in runs.items()}
    limit = description.link.bytes_per_cycle
    return {
        "results": {"bandwidth": {str(size): number(rate) for size, rate in rates.items()},
                    "best": number(best), "link": number(Fraction(limit)),
                    "r_inf": number(found.r_inf),
                    "n_half": None if found.n_half is None else number(found.n_half),
                    "residual": number(found.residual), "unit": "bytes a cycle"},
        "truth": {"bound": {str(size): one for size, one in bounds.items()}} if bounds else {},
        "points": {str(size): {"messages": len(run["issued"]), "cycles": cycles(run["done"])}
                   for size, run in runs.items()},
        "checks": [check("no more than the link carries", best <= limit,
                         f"{number(best)} of {number(Fraction(limit))} bytes a cycle")],
    }


def _bound(run: Mapping[str, Any]) -> dict[str, Any]:
    """The block that the second half of a stream waited for, from the trace."""
    marks = spans(run["marks"])
    sent = posted(marks, 0, run["begin"])[:len(run["issued"])]
    start, stop = sent[len(sent) // 2].begin, run["begin"] + run["done"]
    found = bound(shares(run["events"], marks, start, stop, 0, 1))
    return {"block": found.block, "busy": number(found.busy),
            "shares": {share.block: number(share.busy) for share in found.shares}}


def tables(document: Mapping[str, Any]) -> list[Any]:
    """One row for each size."""
    results, clock = document["results"], document["clock_mhz"]
    bounds = document["truth"].get("bound", {})
    rows = []
    for size in ordered(results["bandwidth"]):
        rate = results["bandwidth"][size]
        point = document["points"][size]
        row = [size_text(int(size)), str(point["messages"]), amount(rate, 3),
               amount(rate * clock, 1), f"{100 * rate / results['link']:.1f} %",
               micro(point["cycles"], clock)]
        if bounds:
            row.append(f"{bounds[size]['block']} {100 * bounds[size]['busy']:.0f} %")
        rows.append(row)
    columns = ["n", "M", "bytes/cycle", "MB/s", "of the link", "µs"]
    half = "-" if results["n_half"] is None else f"{amount(results['n_half'], 0)} bytes"
    return [table("Bandwidth: M messages in a row, until the last is acknowledged",
                  columns + (["bound by"] if bounds else []), rows),
            f"r_inf {amount(results['r_inf'], 4)} bytes a cycle "
            f"({amount(results['r_inf'] * clock, 1)} MB/s); n_1/2 {half}"]


def draw(document: Mapping[str, Any], figure: Any) -> None:
    """Bandwidth over size."""
    from ..results.plots import PALETTE, octaves

    results, clock = document["results"], document["clock_mhz"]
    axes = figure.add_subplot()
    found = {int(size): results["bandwidth"][size] * clock for size in ordered(
        results["bandwidth"])}
    axes.plot(list(found), list(found.values()), color=PALETTE[0], marker="o")
    rate = results["link"] * clock
    axes.axhline(rate, color=PALETTE[6], ls=(0, (5, 3)), lw=1)
    octaves(axes, min(found), max(found), "bytes a message, n", sizes=True)
    axes.annotate(f"link: {amount(rate, 1)}", (min(found), rate), xytext=(2, 3),
                  textcoords="offset points", fontsize=8.5, color=PALETTE[6])
    if results["n_half"]:
        axes.plot([results["n_half"]], [results["r_inf"] * clock / 2], color=PALETTE[0],
                  marker="D", ms=6, ls="none")
    axes.set_ylim(0, rate * 1.1)
    axes.set_ylabel("MB/s")
    axes.set_title("Bandwidth, messages back to back; ◆ n$_{1/2}$")


def headline(document: Mapping[str, Any]) -> list[Headline]:
    """r_inf, n_1/2, and the bandwidth of some sizes."""
    results = document["results"]
    found = [Headline("r_inf", results["r_inf"], "bytes/cycle"),
             Headline("n_1/2", results["n_half"], "bytes")]
    return found + [Headline(f"{size_text(int(size))}", results["bandwidth"][size], "bytes/cycle")
                    for size in ("64", "1024", "4096", "32768") if size in results["bandwidth"]]


def series(document: Mapping[str, Any]) -> Series:
    """Bandwidth over size."""
    found = document["results"]["bandwidth"]
    return Series("bytes a message, n", "bandwidth (bytes/cycle)",
                  [(int(size), found[size]) for size in ordered(found)], sizes=True)
