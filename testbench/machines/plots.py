"""Plots of published tables, ours beside the published figures."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .reproduction import Measured, Row, rows_of
from .studies import Study

__all__ = ["DRAWINGS", "against", "errors"]

NARROW = 0.36
SHADE = "#c9d3dd"


def signatures(found: Measured, figure: Any) -> None:
    """The LogP signature of each machine, side by side: cost of an issue over M, by D."""
    from ..report.plots import octaves, plain_log, ramp

    runs = {machine: outcome for (machine, bench), outcome in found.outcomes.items()
            if bench == "logp"}
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
                axes.axhline(published.low, color="#2b2b2b", lw=1, ls=style)
                axes.annotate(f"{name} published", (1, published.low), xytext=(3, 2),
                              textcoords="offset points", fontsize=8)
        axes.set_title(machine)
        axes.legend(title="D, µs", fontsize=7.5, title_fontsize=8, loc="upper right", ncols=2)
    every[0].set_ylabel("average cost of an issue, D included (µs)")


def bars(found: Measured, figure: Any) -> None:
    """o_s, o_r, L and g of each machine: published left, ours right."""
    from ..report.plots import PALETTE

    axes = figure.add_subplot()
    machines = list(dict.fromkeys(row.figure.machine for row in found.rows))
    values = {(row.figure.machine, row.figure.name): row for row in found.rows}
    places, names = [], []
    for index, machine in enumerate(machines):
        for offset, ours in ((-0.3, False), (0, True)):
            at = 0.0
            for colour, name in zip(PALETTE, ("o_s", "o_r", "L"), strict=False):
                size = _value(values.get((machine, name)), ours)
                if size is None:
                    continue
                axes.bar(index + offset, size, 0.26, bottom=at, color=colour,
                         alpha=1 if ours else 0.5,
                         label=name if index == 0 and not ours else None)
                axes.annotate(f"{size:.1f}", (index + offset, at + size / 2), ha="center",
                              va="center", fontsize=7.5, color="white")
                at += size
        for offset, ours in ((0.24, False), (0.36, True)):
            size = _value(values.get((machine, "g")), ours)
            if size is not None:
                axes.bar(index + offset, size, 0.1, color=PALETTE[4], alpha=1 if ours else 0.5,
                         label="g" if index == 0 and not ours else None)
                axes.annotate(f"{size:.1f}", (index + offset, size), xytext=(0, 2),
                              textcoords="offset points", ha="center", fontsize=7.5)
        places.append(index)
        names.append(machine)
    axes.set_xticks(places, names)
    axes.set_ylabel("µs")
    axes.set_title(f"{found.table.title}: published (pale), ours (full)")
    axes.legend(loc="upper left")


def pairs(found: Measured, figure: Any) -> None:
    """Every figure of the table, published beside ours."""
    from ..report.plots import PALETTE

    rows = [row for row in found.rows if row.ours is not None]
    axes = figure.add_subplot()
    several = len({row.figure.machine for row in rows}) > 1
    for index, row in enumerate(rows):
        published = (row.figure.low + row.figure.high) / 2
        axes.barh(index - 0.2, published, NARROW, color=SHADE,
                  label="published" if not index else None)
        axes.barh(index + 0.2, row.ours, NARROW, color=PALETTE[0],
                  label="ours" if not index else None)
        use = " (fit)" if row.figure.use == "fit" else ""
        axes.annotate(f"{100 * (row.error or 0):+.0f} %{use}",
                      (max(published, row.ours or 0), index), xytext=(4, 0),
                      textcoords="offset points", va="center", fontsize=8)
    axes.set_yticks(range(len(rows)), [
        f"{row.figure.title}, {row.figure.machine}" if several else row.figure.title
        for row in rows])
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set_xlabel(rows[0].figure.unit if rows else "")
    axes.set_title(found.table.title)
    axes.legend(loc="lower right")


def polls(found: Measured, figure: Any) -> None:
    """What a poll costs against the messages that wait for it."""
    from ..report.plots import PALETTE

    axes = figure.add_subplot()
    runs = [(machine, outcome) for (machine, bench), outcome in found.outcomes.items()
            if bench == "overhead"]
    for colour, (machine, outcome) in zip(PALETTE, runs, strict=False):
        costs = outcome["results"]["poll_finding"]
        each = outcome["results"]["per_message"] / outcome["clock_mhz"]
        counts = sorted(map(int, costs))
        axes.plot(counts, [costs[str(count)] / outcome["clock_mhz"] for count in counts],
                  color=colour, marker="o", ms=3.5, label=f"{machine}: {each:.1f} µs a message")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.set_xlabel("messages waiting")
    axes.set_ylabel("µs")
    axes.set_title("am_poll")
    axes.legend(loc="upper left")


def bandwidth(found: Measured, figure: Any) -> None:
    """Time and rate over size, blocking and asynchronous; the published r_inf as lines."""
    from ..report.plots import PALETTE, octaves, plain_log

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
            rates = piped["results"]["bandwidth"]["store_async"]
            right.plot([int(size) for size in rates],
                       [rate * piped["clock_mhz"] for rate in rates.values()], color=colour,
                       ls=(0, (4, 2)), label=f"{machine}, asynchronous")
        published = found.table.figure(machine, "r_inf")
        if published is not None:
            right.axhline(published.low, color=colour, lw=0.9, ls=(0, (1, 2)))
            right.annotate(f"published {published.published}", (16, published.low),
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


def programs(found: Measured, figure: Any) -> None:
    """Each program's time by machine: published left, ours right, as computation and communication.
    Of a time that is extrapolated, the parts are those of the larger run."""
    from ..report.plots import PALETTE

    names = list(dict.fromkeys(row.figure.name for row in found.rows))
    machines = list(dict.fromkeys(row.figure.machine for row in found.rows))
    values = {(row.figure.machine, row.figure.name): row for row in found.rows}
    every = figure.subplots(2, -(-len(names) // 2), squeeze=False).flat
    for axes, name in zip(every, names, strict=False):
        for index, machine in enumerate(machines):
            row = values.get((machine, name))
            if row is None:
                continue
            axes.bar(index - 0.2, (row.figure.low + row.figure.high) / 2, NARROW, color=SHADE,
                     label="published" if not index else None)
            if row.ours is None:
                continue
            share = _communication(found.outcomes[machine, name]["results"])
            for part, below, colour, label in (
                    (1 - share, 0.0, PALETTE[0], "ours: computation"),
                    (share, 1 - share, PALETTE[1], "communication, waiting")):
                axes.bar(index + 0.2, part * row.ours, NARROW, bottom=below * row.ours,
                         color=colour, label=label if not index else None)
            axes.annotate(f"{round(100 * (row.error or 0)):+d} %", (index + 0.2, row.ours),
                          xytext=(0, 2), textcoords="offset points", ha="center", fontsize=7)
        axes.set_xticks(range(len(machines)), machines, fontsize=7.5)
        axes.set_title(f"{name}{_fitted(found, name)}", fontsize=9)
        axes.margins(y=0.12)
        axes.set_ylabel("s")
    every = list(figure.axes)
    figure.legend(*every[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    for axes in every[len(names):]:
        axes.remove()


def _fitted(found: Measured, name: str) -> str:
    uses = {row.figure.use for row in found.rows if row.figure.name == name}
    return " (fit)" if uses == {"fit"} else ""


def _communication(results: Mapping[str, Any]) -> float:
    """Of the last run: the share of communication, messages that a computing process handles
    included."""
    processes = results["runs"][-1]["processes"]
    whole = sum(one[kind]["cycles"] for one in processes
                for kind in ("computation", "communication"))
    computed = sum(one["computation"]["cycles"] - one["computation"]["messages"]
                   - one["computation"]["waiting"] for one in processes)
    return 1 - computed / whole


DRAWINGS: Mapping[str, Callable[[Measured, Any], None]] = {
    "signatures": signatures, "bars": bars, "pairs": pairs, "polls": polls,
    "bandwidth": bandwidth, "programs": programs}
"""The plots that a study's table may ask for."""


def errors(rows: Sequence[Row], figure: Any) -> None:
    """Ours over published, a point for each test figure that was measured."""
    from ..report.plots import INK, PALETTE

    chosen = [row for row in rows if row.error is not None and row.figure.use == "test"]
    axes = figure.add_subplot()
    machines = list(dict.fromkeys(row.figure.machine for row in chosen))
    for index, row in enumerate(chosen):
        ratio = 1 + (row.error or 0)
        colour = PALETTE[machines.index(row.figure.machine) % len(PALETTE)]
        axes.plot([1, ratio], [index, index], color=colour, lw=1.2)
        axes.plot([ratio], [index], color=colour, marker="o", ms=5)
    axes.axvline(1, color=INK, lw=1)
    axes.axvspan(1 / 1.15, 1.15, color="#e3f1e1", lw=0, zorder=0)
    axes.set_xscale("log", base=2)
    ticks = [0.125, 0.25, 0.5, 1, 2, 4, 8]
    reached = [1 + (row.error or 0) for row in chosen] or [1]
    low, high = min(0.5, *reached, 0.8) / 1.1, max(2, *reached, 1.2) * 1.1
    axes.set_xlim(low, high)
    axes.set_xticks([tick for tick in ticks if low <= tick <= high],
                    [f"{tick:g}" for tick in ticks if low <= tick <= high])
    axes.minorticks_off()
    axes.set_yticks(range(len(chosen)), [f"{row.figure.machine}: {row.figure.title}"
                                         for row in chosen], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("ours / published")
    axes.set_title("Test figures: ours over published (green: within 15 %)")


def against(found: Sequence[tuple[Study, Sequence[Measured]]], figure: Any) -> None:
    """Ours over published, each figure in its own unit, by study: full marks are test figures,
    hollow ones are fitted to."""
    from ..report.plots import INK, PALETTE

    axes = figure.add_subplot()
    values = []
    for (study, tables), colour in zip(found, PALETTE, strict=False):
        for use, fill in (("test", colour), ("fit", "white")):
            rows = [row for row in rows_of(tables) if row.ours and row.figure.use == use]
            if not rows:
                continue
            published = [min(max(row.ours or 0, row.figure.low), row.figure.high) for row in rows]
            ours = [row.ours or 0 for row in rows]
            values += [*published, *ours]
            axes.plot(published, ours, ls="none", marker="o", ms=6, color=colour, mfc=fill,
                      label=f"{study.name}, {use} ({len(rows)})", zorder=4 if use == "fit" else 3)
    low, high = min(values, default=1) / 1.5, max(values, default=10) * 1.5
    ends = [low, high]
    axes.plot(ends, ends, color=INK, lw=1, zorder=2)
    axes.fill_between(ends, [end / 1.15 for end in ends], [end * 1.15 for end in ends],
                      color="#e3f1e1", lw=0, zorder=0)
    for scale, limit in ((axes.set_xscale, axes.set_xlim), (axes.set_yscale, axes.set_ylim)):
        scale("log")
        limit(low, high)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
    axes.set_xlabel("published (µs, MB/s, bytes, s)")
    axes.set_ylabel("ours")
    axes.set_title("Published against ours (green: within 15 %)")
    axes.legend(loc="upper left")


def _value(row: Row | None, ours: bool) -> float | None:
    if row is None:
        return None
    return row.ours if ours else (row.figure.low + row.figure.high) / 2
