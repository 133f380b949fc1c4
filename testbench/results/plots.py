"""Plots as PNG and SVG: one style, the same bytes for the same data."""

import io
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

__all__ = ["INK", "PALETTE", "Draw", "drawn", "label_right", "line", "microseconds", "octaves",
           "plain_log", "ramp", "render", "warm_up"]

PALETTE = ("#0b5fa5", "#d1495b", "#2e933c", "#8f5ea2", "#c97b12", "#3c8d9e", "#6b6b6b", "#a23e48")
"""Colour-blind readers can distinguish them in this order; on paper their lightness differs."""
INK = "#2b2b2b"
_RAMP = ("#08306b", "#08519c", "#2171b5", "#4292c6", "#5aa77b", "#8abf4d", "#d9b93b", "#e8862e",
         "#d64a3b", "#a31f4d", "#6e1550", "#40104a")

_DASHES = ("-", (0, (4, 4)), (0, (1, 3)), (0, (7, 3, 1, 3)), (0, (2, 6)))
_MARKERS = "os^Dv*P"

_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "nicbed", "svg.fonttype": "path", "path.simplify": True,
    "font.family": "DejaVu Sans", "font.size": 9.5, "text.color": INK,
    "axes.edgecolor": "#9a9a9a", "axes.labelcolor": INK, "axes.titlesize": 11,
    "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.titlepad": 12,
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
    "axes.grid": True, "grid.color": "#e6e6e6", "grid.linewidth": 0.7,
    "xtick.color": "#6a6a6a", "ytick.color": "#6a6a6a", "xtick.labelcolor": INK,
    "ytick.labelcolor": INK, "lines.linewidth": 1.5, "lines.markersize": 3.5,
    "legend.frameon": False, "legend.fontsize": 8.5, "figure.dpi": 100, "savefig.dpi": 130,
    "figure.facecolor": "white",
}

_DRAWING = threading.Lock()


@contextmanager
def _styled() -> Iterator[None]:
    """The style, for this block alone: matplotlib's settings are those of the whole process, and
    threads draw."""
    with _DRAWING, matplotlib.rc_context(_STYLE):
        yield


Draw = Callable[[Mapping[str, Any], Figure], None]
"""What draws a document into a figure."""


def ramp(index: int, count: int) -> str:
    """Colour ``index`` of ``count`` on the ramp from dark blue to red."""
    return _RAMP[round(index * (len(_RAMP) - 1) / max(count - 1, 1))]


def line(index: int, count: int) -> dict[str, Any]:
    """Style of line ``index`` of ``count``: narrower than those before it, with its own dashes and
    markers, so that each of several equal lines is visible."""
    step = 1 - index / max(count - 1, 1)
    return {"color": PALETTE[index % len(PALETTE)], "ls": _DASHES[index % len(_DASHES)],
            "marker": _MARKERS[index % len(_MARKERS)], "lw": 1.5 + 2 * step if count > 1 else 1.5,
            "ms": 3.5 + 4 * step if count > 1 else 3.5, "zorder": 2 + index / count}


def octaves(axes: Axes, low: float, high: float, label: str, *, sizes: bool = False,
            most: int = 12) -> None:
    """A base-2 logarithmic x axis with plain numbers at its powers of two."""
    axes.set_xscale("log", base=2)
    ticks, value = [], 1
    while value <= high:
        if value >= low:
            ticks.append(value)
        value *= 2
    step = -(-len(ticks) // most)
    ticks = ticks[::step]
    axes.set_xticks(ticks, [_size(tick) if sizes else f"{tick}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel(label)


def _size(value: int) -> str:
    for unit, scale in (("M", 1 << 20), ("K", 1 << 10)):
        if value >= scale:
            return f"{value // scale}{unit}"
    return f"{value}"


def plain_log(axes: Axes, low: float, high: float) -> None:
    """A logarithmic y axis from ``low`` to ``high`` with plain numbers at 1, 2 and 5 of each
    decade."""
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    ticks = [step * 10.0 ** power for power in range(-6, 10) for step in (1, 2, 5)]
    ticks = [tick for tick in ticks if low <= tick <= high]
    axes.set_yticks(ticks, [f"{tick:,g}" if tick < 1e6 else f"{tick:,.0f}" for tick in ticks])
    axes.minorticks_off()


def label_right(axes: Axes, labels: Sequence[tuple[float, str, str]], gap: float = 0.032) -> None:
    """Put labels (y, text, colour) at the right edge without overlap; the axes' limits must be
    final."""
    to_axes = axes.transData + axes.transAxes.inverted()
    x = axes.get_xlim()[1]
    reached = -1.0
    for y, text, colour in sorted(labels):
        at = max(to_axes.transform((x, y))[1], reached + gap)
        reached = at
        axes.annotate(text, (1, at), xycoords="axes fraction", xytext=(5, 0),
                      textcoords="offset points", va="center", fontsize=8.2, color=colour,
                      annotation_clip=False)


def microseconds(axes: Axes, clock_mhz: float,
                 where: float | Literal["left", "right"] = "right") -> None:
    """Add a second scale in microseconds to a y axis in cycles."""
    def there(value: Any) -> Any:
        return value / clock_mhz

    def back(value: Any) -> Any:
        return value * clock_mhz

    second = axes.secondary_yaxis(where, functions=(there, back))
    second.set_ylabel("µs")
    second.spines["right"].set_color("#9a9a9a")
    if axes.get_yscale() == "log":
        low, high = (limit / clock_mhz for limit in axes.get_ylim())
        ticks = [step * 10.0 ** power for power in range(-6, 8) for step in (1, 2, 5)]
        ticks = [tick for tick in ticks if low <= tick <= high]
        second.set_yticks(ticks, [f"{tick:,g}" for tick in ticks])
        second.minorticks_off()


def warm_up() -> None:
    """Draw something, which loads fonts and layout code."""
    def dummy(document: Mapping[str, Any], figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.set_title("n$_{1/2}$ 0123456789")
        octaves(axes, 1, 512, "M")
        axes.annotate("D", (1, 0))

    render(dummy, {})


def drawn(draw: Draw, document: Mapping[str, Any]) -> Figure:
    """The figure that ``draw`` makes of ``document``, with everything in its place."""
    with _styled():
        figure = _figure(draw, document)
        FigureCanvasAgg(figure).draw()
        return figure


def _figure(draw: Draw, document: Mapping[str, Any]) -> Figure:
    figure = Figure(figsize=(8.6, 5.2), layout="constrained")
    draw(document, figure)
    return figure


def render(draw: Draw, document: Mapping[str, Any]) -> dict[str, bytes]:
    """The figure that ``draw`` makes of ``document``, by file suffix."""
    with _styled():
        figure = _figure(draw, document)
        found = {}
        for suffix, canvas, metadata in ((".png", FigureCanvasAgg, {"Software": None}),
                                         (".svg", FigureCanvasSVG, {"Date": None})):
            canvas(figure)
            buffer = io.BytesIO()
            figure.savefig(buffer, format=suffix[1:], metadata=metadata)
            found[suffix] = buffer.getvalue()
    return found
