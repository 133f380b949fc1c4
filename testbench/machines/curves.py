"""Plots of published tables: curves over the number of issues, the number of messages, or the
size."""

from collections.abc import Mapping
from typing import Any

from ..benches.am.overhead import OverheadResults
from ..benches.am.pipelined import PipelinedResults
from ..benches.bandwidth import BandwidthResults
from ..benches.common.bulk_report import BulkResults
from ..benches.fields import read
from ..benches.latency import LatencyResults
from .reproduction import Measured

__all__ = ["bandwidth", "bulk", "over_size", "polls", "processor", "signatures"]

SMALL = 1024
"""Bytes up to which the processor bandwidth is shown packet by packet."""


def signatures(found: Measured, figure: Any) -> None:
    """The LogP signature of each machine, side by side: cost of an issue over M, by D."""
    from ..results.plots import octaves, plain_log, ramp

    runs = dict(_runs(found, "logp"))
    every = figure.subplots(1, max(len(runs), 1), squeeze=False)[0]
    for axes, (machine, outcome) in zip(every, runs.items(), strict=False):
        clock = outcome["clock_mhz"]
        curves = sorted(outcome["points"]["curves"], key=lambda run: run["delay"])
        most = max(len(run["issued"]) for run in curves)
        for index, run in enumerate(curves):
            issued = run["issued"]
            chosen = sorted({round(2 ** (k / 12)) for k in range(12 * 20)
                             if 2 ** (k / 12) <= len(issued)} | {len(issued)})
            axes.plot(chosen, [issued[m - 1] / m / clock for m in chosen],
                      color=ramp(index, len(curves)), lw=2.2 if index == 0 else 1.3,
                      label=f"{run['delay'] / clock:.1f}")
        costs = [run["issued"][m - 1] / m / clock for run in curves
                 for m in (1, len(run["issued"]))]
        plain_log(axes, min(costs) / 1.5, max(costs) * 4)
        octaves(axes, 1, most, "requests in a row, M", most=6)
        for name, style in (("o_s", (0, (1, 2))), ("g", (0, (5, 3)))):
            published = found.table.figure(machine, name)
            if published is not None:
                axes.axhline(published.middle, color="#2b2b2b", lw=1, ls=style)
                axes.annotate(f"{name} published", (1, published.middle), xytext=(3, 2),
                              textcoords="offset points", fontsize=8)
        axes.set_title(machine)
        axes.legend(title="D, µs", fontsize=7.5, title_fontsize=8, loc="upper right", ncols=2)
    every[0].set_ylabel("average cost of an issue, D included (µs)")


def polls(found: Measured, figure: Any) -> None:
    """The cost of a poll against the messages that wait for it."""
    from ..results.plots import PALETTE

    axes = figure.add_subplot()
    for colour, (machine, outcome) in zip(PALETTE, _runs(found, "overhead"), strict=False):
        results = read(OverheadResults, outcome["results"])
        each = results.per_message / outcome["clock_mhz"]
        counts = sorted(map(int, results.poll_finding))
        axes.plot(counts, [results.poll_finding[str(count)] / outcome["clock_mhz"]
                           for count in counts],
                  color=colour, marker="o", ms=3.5, label=f"{machine}: {each:.1f} µs a message")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.set_xlabel("messages waiting")
    axes.set_ylabel("µs")
    axes.set_title("am_poll")
    axes.legend(loc="upper left")


def bandwidth(found: Measured, figure: Any) -> None:
    """Time and rate over size, blocking and asynchronous; the published r_inf as lines."""
    from ..results.plots import PALETTE, octaves, plain_log

    left, right = figure.subplots(1, 2)
    machines = list(dict.fromkeys(machine for machine, bench in found.outcomes))
    largest = 1 << 20
    times = []
    for colour, machine in zip(PALETTE, machines, strict=False):
        bulk = found.outcomes.get((machine, "bulk"))
        if bulk is not None:
            clock = bulk["clock_mhz"]
            points = bulk["points"]["store"]["T"]
            sizes = [size for size, _ in points]
            times += [time / clock for _, time in points]
            left.plot(sizes, [time / clock for _, time in points], color=colour, label=machine)
            right.plot(sizes, [size / time * clock for size, time in points], color=colour,
                       label=f"{machine}, blocking")
        piped = found.outcomes.get((machine, "pipelined"))
        if piped is not None:
            rates = read(PipelinedResults, piped["results"]).bandwidth["store_async"]
            right.plot([int(size) for size in rates],
                       [rate * piped["clock_mhz"] for rate in rates.values()], color=colour,
                       ls=(0, (4, 2)), label=f"{machine}, asynchronous")
        published = found.table.figure(machine, "r_inf")
        if published is not None:
            right.axhline(published.middle, color=colour, lw=0.9, ls=(0, (1, 2)))
            right.annotate(f"published {published.published}", (16, published.middle),
                           xytext=(0, 2 if colour == PALETTE[0] else 10),
                           textcoords="offset points", fontsize=8, color=colour)
    for axes in (left, right):
        octaves(axes, 16, largest, "bytes, n", sizes=True, most=8)
    if times:
        plain_log(left, min(times) / 1.5, max(times) * 1.5)
    left.set_ylabel("µs")
    left.set_title("A blocking store")
    right.set_ylabel("MB/s")
    right.set_ylim(bottom=0)
    right.set_title("Bandwidth")
    for axes in (left, right):
        axes.legend(loc="upper left" if axes is left else "lower right", fontsize=8)


def bulk(found: Measured, figure: Any) -> None:
    """T(n) and, of stores in a row, o_s(n) of each machine, side by side with the same scales."""
    from ..results.plots import PALETTE, octaves, plain_log

    left, right = figure.subplots(1, 2, sharey=True)
    times = []
    for colour, (machine, outcome) in zip(PALETTE, _runs(found, "bulk"), strict=False):
        clock = outcome["clock_mhz"]
        calls = [(size, o_s / clock) for size, o_s in _calls(outcome)]
        whole = [(size, time / clock) for size, time in outcome["points"]["store"]["T"]]
        for axes, points in ((left, whole), (right, calls)):
            axes.plot(*zip(*points, strict=True), color=colour, marker="o", label=machine)
            times += [time for _, time in points]
    for axes, title in ((left, "T(n), a store and its reply"), (right, "o_s(n), the call")):
        octaves(axes, 8, 1 << 16, "bytes, n", sizes=True, most=8)
        axes.set_title(title)
    if times:
        plain_log(left, min(times) / 1.5, max(times) * 1.5)
    left.set_ylabel("µs")
    left.legend(loc="upper left")


def over_size(found: Measured, figure: Any) -> None:
    """Latency and bandwidth over size: Active Messages and MPL."""
    from ..results.plots import PALETTE, octaves, plain_log

    left, right = figure.subplots(1, 2)
    times = []
    for colour, layer in zip(PALETTE, ("am", "mpl"), strict=False):
        suffix = "" if layer == "am" else f", {layer}"
        name = {"am": "Active Messages", "mpl": "MPL"}[layer]
        for machine, outcome in _runs(found, f"latency{suffix}"):
            clock = outcome["clock_mhz"]
            points = sorted((int(size), half / clock) for size, half in
                            read(LatencyResults, outcome["results"]).half["latency"].items())
            left.plot(*zip(*points, strict=True), color=colour, marker="o",
                      label=f"{machine}, {name}")
            times += [time for _, time in points]
        for machine, outcome in _runs(found, f"bandwidth{suffix}"):
            points = sorted((int(size), rate * outcome["clock_mhz"]) for size, rate in
                            read(BandwidthResults, outcome["results"]).bandwidth.items())
            right.plot(*zip(*points, strict=True), color=colour, marker="o",
                       label=f"{machine}, {name}")
    for axes in (left, right):
        octaves(axes, 4, 1 << 15, "bytes, n", sizes=True, most=8)
    if times:
        plain_log(left, min(times) / 1.5, max(times) * 1.5)
    left.set_ylabel("µs")
    left.set_title("Latency: half a round trip")
    left.legend(loc="upper left")
    right.set_ylabel("MB/s")
    right.set_ylim(bottom=0)
    right.set_title("Bandwidth, messages in a row")


def processor(found: Measured, figure: Any) -> None:
    """The rate at which a call passes n bytes to the NIC: up to a few packets, and to two
    chunks."""
    from ..results.plots import PALETTE

    few, many = figure.subplots(1, 2, sharey=True)
    for colour, (machine, outcome) in zip(PALETTE, _runs(found, "bulk"), strict=False):
        points = [(size, size / o_s * outcome["clock_mhz"]) for size, o_s in _calls(outcome)]
        few.plot(*zip(*(point for point in points if point[0] <= SMALL), strict=True),
                 color=colour, marker="o", label=machine)
        many.plot(*zip(*points, strict=True), color=colour, marker="o", label=machine)
    few.set_title("Processor bandwidth, packet by packet")
    many.set_title("to two chunks")
    few.set_ylabel("MB/s")
    few.set_ylim(bottom=0)
    few.legend(loc="lower right")
    for axes in (few, many):
        axes.set_xlim(left=0)
        axes.locator_params(axis="x", nbins=5)
        axes.set_xlabel("bytes, n")


def _calls(outcome: Mapping[str, Any]) -> list[tuple[int, float]]:
    """Of asynchronous stores in a row: sizes, and o_s in cycles where it was seen."""
    found: BulkResults = read(BulkResults, outcome["results"])
    return [(row.size, row.o_s) for row in (found.store_async.by_size if found.store_async else ())
            if row.o_s is not None]


def _runs(found: Measured, name: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Machine and outcome of each run called ``name``."""
    return [(machine, outcome) for (machine, run), outcome in found.outcomes.items()
            if run == name]
