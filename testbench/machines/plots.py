"""Plots of published tables: bars and points, ours beside the published figures."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import curves, layouts_drawn
from .reproduction import Measured, Row, rows_of
from .studies import Study

__all__ = ["DRAWINGS", "against", "errors"]

NARROW = 0.36
SHADE = "#c9d3dd"


def bars(found: Measured, figure: Any) -> None:
    """o_s, o_r, L and g of each machine: published left, ours right."""
    from ..results.plots import PALETTE

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
    from ..results.plots import PALETTE

    rows = [row for row in found.rows if row.ours is not None]
    axes = figure.add_subplot()
    several = len({row.figure.machine for row in rows}) > 1
    for index, row in enumerate(rows):
        published = row.figure.middle
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


def programs(found: Measured, figure: Any) -> None:
    """Each program's time by machine: published left, ours right, as computation and communication.
    Of a time that is extrapolated, the parts are those of the larger run."""
    from ..results.plots import PALETTE

    names = list(dict.fromkeys(row.figure.name for row in found.rows))
    machines = list(dict.fromkeys(row.figure.machine for row in found.rows))
    values = {(row.figure.machine, row.figure.name): row for row in found.rows}
    every = figure.subplots(2, -(-len(names) // 2), squeeze=False).flat
    for axes, name in zip(every, names, strict=False):
        for index, machine in enumerate(machines):
            row = values.get((machine, name))
            if row is None:
                continue
            axes.bar(index - 0.2, row.figure.middle, NARROW, color=SHADE,
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
    "signatures": curves.signatures, "bars": bars, "pairs": pairs, "polls": curves.polls,
    "bandwidth": curves.bandwidth, "bulk": curves.bulk, "over-size": curves.over_size,
    "processor": curves.processor, "programs": programs,
    "applications": layouts_drawn.applications, "traffic": layouts_drawn.traffic}
"""The plots that a study's table may ask for."""


def errors(rows: Sequence[Row], figure: Any) -> None:
    """Ours over published, a point for each test figure that was measured."""
    from ..results.plots import INK, PALETTE

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
    hollow ones are fitted to. Axes are logarithmic: signs, whose ranges are around 0, are left
    out."""
    from ..results.plots import INK, PALETTE

    axes = figure.add_subplot()
    values = []
    for (study, tables), colour in zip(found, PALETTE, strict=False):
        for use, fill in (("test", colour), ("fit", "white")):
            rows = [row for row in rows_of(tables) if row.figure.use == use
                    and row.ours and min(row.ours, row.figure.low) > 0]
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
    return row.ours if ours else row.figure.middle
