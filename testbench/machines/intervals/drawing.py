"""The picture of intervals: each test figure in units of the published one."""

from collections.abc import Sequence
from typing import Any

from .result import Interval

__all__ = ["draw"]

ROUNDED = "#dfe7ee"


def draw(every: Sequence[Interval], figure: Any) -> None:
    """A bar from 5 to 95 % for each figure, ours as a mark on it, the published value at 1 with its
    rounding."""
    from ...results.plots import INK, PALETTE

    shown = [one for one in every if one.ends is not None]
    figure.set_size_inches(8, 1.3 + 0.26 * len(shown))
    axes = figure.add_subplot()
    for index, one in enumerate(shown):
        assert one.ends is not None
        low, high = one.published
        middle = (low + high) / 2
        axes.barh(index, (high - low + 2 * one.rounding) / middle, 0.8,
                  left=(low - one.rounding) / middle, color=ROUNDED, zorder=1,
                  label="published, as rounded" if not index else None)
        colour = PALETTE[0] if one.inside else PALETTE[1]
        axes.plot([end / middle for end in one.ends], [index, index], color=colour, lw=5,
                  solid_capstyle="butt", zorder=3)
        if one.ours is not None:
            axes.plot([one.ours / middle], [index], marker="|", ms=11, mew=2, color=INK, ls="none",
                      zorder=4, label="ours" if not index else None)
    for colour, text in ((PALETTE[0], "5 to 95 %, the published value inside"),
                         (PALETTE[1], "5 to 95 %, the published value outside")):
        axes.plot([], [], color=colour, lw=5, label=text)
    axes.axvline(1, color=INK, lw=1, zorder=2)
    axes.set_yticks(range(len(shown)), [f"{one.machine}: {one.title}" for one in shown], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("in units of the published value")
    axes.set_title("Test figures with intervals by typical values")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
