"""Matplotlib's figures as plotly's: the same points, scales and names."""

from collections.abc import Callable
from math import log10
from typing import Any

import pytest
from matplotlib.figure import Figure
from nicbed.testbench.report.figures import interactive
from nicbed.testbench.results import plots


def converted(draw: Callable[[Any, Figure], None]) -> dict[str, Any]:
    found = interactive(plots.drawn(draw, {}))
    assert found is not None
    return found


def test_lines_have_their_points_names_and_styles() -> None:
    def draw(_: Any, figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.plot([1, 2, 4], [10, 20, 15], label="n$_{1/2}$", color="#d1495b", ls="--")
        axes.plot([1, 2], [3, 4], "o", color="#0b5fa5", label="dots")
    one, two = converted(draw)["data"]
    assert (one["x"], one["y"], one["name"]) == ([1, 2, 4], [10, 20, 15], "n<sub>1/2</sub>")
    assert (one["line"]["color"], one["line"]["dash"], one["mode"]) == ("#d1495b", "dash", "lines")
    assert two["mode"] == "markers" and two["showlegend"]


def test_a_line_is_named_by_its_label_at_the_right() -> None:
    def draw(_: Any, figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.plot([1, 2], [3, 4], color="#0b5fa5")
        plots.label_right(axes, [(4, "D = 12", "#0b5fa5")])
    found = converted(draw)
    assert found["data"][0]["name"] == "D = 12" and not found["layout"]["annotations"]


def test_scales_keep_kind_range_and_ticks() -> None:
    def draw(_: Any, figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.plot([1, 64], [2, 200])
        plots.octaves(axes, 1, 64, "bytes")
        plots.plain_log(axes, 1, 500)
    layout = converted(draw)["layout"]
    assert layout["xaxis"]["type"] == layout["yaxis"]["type"] == "log"
    assert layout["xaxis"]["tickvals"] == [1, 2, 4, 8, 16, 32, 64]
    assert layout["xaxis"]["title"]["text"] == "bytes"
    assert layout["yaxis"]["range"] == [0, log10(500)]


@pytest.mark.parametrize("lying", [False, True])
def test_bars_have_base_width_and_names(lying: bool) -> None:
    def draw(_: Any, figure: Figure) -> None:
        axes = figure.add_subplot()
        if lying:
            axes.barh([0, 1], [5, 7], 0.5, left=[1, 2], label="a", color="#0b5fa5")
        else:
            axes.bar([0, 1], [5, 7], 0.5, bottom=[1, 2], label="a", color="#0b5fa5")
    [bar] = converted(draw)["data"]
    along, across = ("x", "y") if lying else ("y", "x")
    assert (bar[along], bar[across], bar["base"], bar["width"]) == (
        [5, 7], [0, 1], [1, 2], [0.5, 0.5])
    assert bar["orientation"] == ("h" if lying else "v") and bar["name"] == "a"


def test_lines_and_areas_across_the_axes_are_shapes() -> None:
    def draw(_: Any, figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.plot([1, 10], [1, 10])
        axes.axhline(5, color=plots.INK)
        axes.axvline(3, color="#d1495b")
        axes.axvspan(2, 4, color="#dbe9f6")
    rect, across, down = converted(draw)["layout"]["shapes"]
    assert (rect["x0"], rect["x1"], rect["yref"]) == (2, 4, "y domain")
    assert (across["y0"], across["y1"], across["xref"]) == (5, 5, "x domain")
    assert across["line"]["color"] == "" and down["line"]["color"] == "#d1495b"
    assert (down["x0"], down["yref"]) == (3, "y domain")


def test_labels_stand_where_they_stood() -> None:
    def draw(_: Any, figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.plot([1, 100], [1, 10])
        axes.set_xscale("log")
        axes.annotate("here", (10, 0.5), xycoords=("data", "axes fraction"))
    [note] = converted(draw)["layout"]["annotations"]
    assert (note["text"], note["x"], note["xref"], note["y"], note["yref"]) == (
        "here", 1, "x", 0.5, "y domain")


def test_panels_share_the_figure() -> None:
    def draw(_: Any, figure: Figure) -> None:
        for at in (1, 2):
            axes = figure.add_subplot(1, 2, at)
            axes.plot([0, 1], [0, at])
            axes.set_title(f"panel {at}")
    found = converted(draw)
    assert [(one["xaxis"], one["yaxis"]) for one in found["data"]] == [("x", "y"), ("x2", "y2")]
    left, right = (found["layout"][name]["domain"] for name in ("xaxis", "xaxis2"))
    assert left[1] < right[0]
    assert [one["text"] for one in found["layout"]["annotations"]] == ["<b>panel 1</b>",
                                                                       "<b>panel 2</b>"]


def test_areas_between_curves() -> None:
    def draw(_: Any, figure: Figure) -> None:
        figure.add_subplot().fill_between([0, 1, 2], [1, 2, 1], label="share", color="#0b5fa5")
    [area] = converted(draw)["data"]
    assert area["fill"] == "toself" and max(area["y"]) == 2


def test_what_it_does_not_know_stays_a_picture() -> None:
    def draw(_: Any, figure: Figure) -> None:
        figure.add_subplot().imshow([[1, 2], [3, 4]])
    assert interactive(plots.drawn(draw, {})) is None
