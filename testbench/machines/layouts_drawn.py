"""Plots of programs in layouts: their times by phase, and their messages by process."""

from collections.abc import Sequence
from typing import Any

from ...host.apps.blocks import MAPPINGS
from .reproduction import Measured, Row
from .sized import phases

__all__ = ["applications", "traffic"]

SHADE = "#c9d3dd"
FILLS = ("#2f6f9f", "#c65b4a", "#5b9a68", "#8c6bb1", "#d39b3a", "#7fb4c9", "#d9a3ad", "#a3a3a3")


def applications(found: Measured, figure: Any) -> None:
    """Each program's time by layout: published left, ours right, by phases at the study's size."""
    names: dict[str, list[Row]] = {}
    for row in found.rows:
        names.setdefault(_program(row), []).append(row)
    names = {name: [row for row in rows if not row.figure.name.endswith("both")]
             for name, rows in names.items()}
    figure.set_size_inches(9, 7.5)
    every = list(figure.subplots(-(-len(names) // 2), 2, squeeze=False).flat)
    for axes, (name, rows) in zip(every, names.items(), strict=False):
        _bars(found, rows, axes)
        axes.set_title(name, fontsize=10)
        axes.set_ylabel("s")
    for axes in every[len(names):]:
        axes.remove()


def _bars(found: Measured, rows: Sequence[Row], axes: Any) -> None:
    """The layouts of one program."""
    colours: dict[str, str] = {}
    for index, row in enumerate(rows):
        axes.bar(index - 0.2, row.figure.middle, 0.36, color=SHADE,
                 label="published" if not index else None)
        if row.ours is None:
            continue
        outcome = found.outcomes[row.figure.machine, row.figure.name]
        parts = phases(outcome["program"], outcome["results"])
        below, scale = 0.0, row.ours / float(sum(parts.values()) or 1)
        for phase, cycles in parts.items():
            new = phase not in colours
            colour = colours.setdefault(phase, FILLS[len(colours) % len(FILLS)])
            height = float(cycles) * scale
            axes.bar(index + 0.2, height, 0.36, bottom=below, color=colour,
                     label=phase if new else None)
            below += height
        axes.annotate(f"{100 * (row.error or 0):+.0f} %", (index + 0.2, row.ours), xytext=(0, 2),
                      textcoords="offset points", ha="center", fontsize=7)
    axes.set_xticks(range(len(rows)), [_layout(row) for row in rows], fontsize=8)
    axes.margins(y=0.15)
    axes.grid(axis="x", visible=False)
    axes.legend(fontsize=6.5, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def traffic(found: Measured, figure: Any) -> None:
    """Messages by process, off its node and within it: from the process that has fewest to the one
    that has most, with quartiles; and the published mean."""
    programs: dict[str, list[Row]] = {}
    for row in found.rows:
        programs.setdefault(row.figure.name.partition(":")[0], []).append(row)
    every = figure.subplots(1, len(programs), squeeze=False).flat
    for axes, (name, rows) in zip(every, programs.items(), strict=True):
        outcome = found.outcomes[rows[0].figure.machine, rows[0].figure.name]
        halves = 2 if any("blocks" in row.figure.name for row in rows) else 1
        each = list(zip(*outcome["results"]["counted"]["processes"], strict=True))
        axes.boxplot([[one / halves for one in column] for column in each], whis=(0, 100),
                     widths=0.5, positions=[0, 1])
        for row in rows:
            for at, where in enumerate(("off", "within")):
                if row.figure.name.endswith(f"s {where}"):
                    axes.plot([at], [row.figure.middle], marker="D", ms=6, ls="none",
                              color=FILLS[1], label="published mean" if not at else None)
        axes.set_xticks([0, 1], ["off", "within"])
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.set_title(name, fontsize=10)
        axes.grid(axis="x", visible=False)
    axes = figure.axes[0]
    axes.set_ylabel("messages of a process")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower left", fontsize=8)


def _program(row: Row) -> str:
    """A figure's name is PROGRAM, LAYOUT; a mapping behind the program is a part of the layout."""
    program, _, mapping = row.figure.name.partition(",")[0].rpartition(" ")
    return program if mapping in MAPPINGS else f"{program} {mapping}".strip()


def _layout(row: Row) -> str:
    program, _, layout = row.figure.name.partition(", ")
    mapping = program.removeprefix(_program(row)).strip()
    return f"{layout}\n{mapping}" if mapping else layout
