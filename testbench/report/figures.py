"""Plots as figures that answer to the mouse: turns a benchmark's drawing with Matplotlib into one
of plotly.

A benchmark describes its plot once. Its lines, bars, areas and labels are read back out of
Matplotlib's figure and become plotly's, so that a page shows the same plot as the file.
"""

import re
from collections.abc import Iterable
from math import log10
from typing import Any, cast

from matplotlib.axes import Axes
from matplotlib.collections import FillBetweenPolyCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation, Text

from ..results.plots import INK

__all__ = ["interactive"]

_DASHES = {"-": "solid", "--": "dash", "-.": "dashdot", ":": "dot"}
_MARKERS = {"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down",
            "*": "star", "P": "cross"}
_EDGE = 1e-9


def interactive(figure: Figure) -> dict[str, Any] | None:
    """``figure`` as data, layout and configuration of plotly; None if it shows something that this
    does not know. It must have been drawn."""
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"shapes": [], "annotations": [], "hovermode": "closest",
                              "barmode": "overlay", "height": 480,
                              "margin": {"t": 48, "r": 24, "b": 56, "l": 72},
                              "legend": {"orientation": "h", "y": -0.18}}
    for number, axes in enumerate(figure.axes, 1):
        if not _known(axes):
            return None
        suffix = "" if number == 1 else str(number)
        _Panel(axes, suffix, data, layout).convert()
    for trace in data:
        trace["showlegend"] = bool(trace.get("name")) and len(data) > 1
    return {"data": data, "layout": layout}


def _known(axes: Axes) -> bool:
    return (not axes.images and not axes.tables
            and all(isinstance(one, (PathCollection, FillBetweenPolyCollection))
                    for one in axes.collections)
            and all(isinstance(one, Rectangle) for one in axes.patches))


class _Panel:
    """One pair of axes, which becomes plotly's axes ``x<suffix>`` and ``y<suffix>``."""

    def __init__(self, axes: Axes, suffix: str, data: list[dict[str, Any]],
                 layout: dict[str, Any]) -> None:
        self._axes = axes
        self._suffix = suffix
        self._data = data
        self._layout = layout
        self._named = {_colour(text.get_color()): text.get_text() for text in axes.texts
                       if _at_right(text)}

    def convert(self) -> None:
        """Append the panel to data and layout."""
        self._scales()
        bars = {id(bar) for container in self._axes.containers
                if isinstance(container, BarContainer) for bar in container}
        for patch in self._axes.patches:
            if id(patch) not in bars and isinstance(patch, Rectangle):
                self._span(patch)
        for container in self._axes.containers:
            if isinstance(container, BarContainer):
                self._bars(container)
        for collection in self._axes.collections:
            if isinstance(collection, FillBetweenPolyCollection):
                self._area(collection)
            else:
                self._points(collection)
        for line in self._axes.lines:
            self._line(line)
        for text in self._axes.texts:
            if not _at_right(text):
                self._text(text)

    def _trace(self, kind: str, **more: Any) -> None:
        self._data.append({"type": kind, "xaxis": f"x{self._suffix}", "yaxis": f"y{self._suffix}",
                           **more})

    def _scales(self) -> None:
        place = self._axes.get_position()
        for name, axis, low, high, span in (
                ("x", self._axes.xaxis, *self._axes.get_xlim(), (place.x0, place.x1)),
                ("y", self._axes.yaxis, *self._axes.get_ylim(), (place.y0, place.y1))):
            scale: dict[str, Any] = {
                "title": {"text": axis.get_label_text()}, "domain": list(span),
                "anchor": ("y" if name == "x" else "x") + self._suffix, "zeroline": False,
                "range": [low, high]}
            if axis.get_scale() == "log":
                scale |= {"type": "log", "range": [log10(low), log10(high)]}
            ticks = [(float(at), label.get_text()) for at, label in
                     zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
                     if label.get_text() and min(low, high) - _EDGE <= at <= max(low, high) + _EDGE]
            if ticks:
                scale |= {"tickvals": [at for at, _ in ticks],
                          "ticktext": [_plain(text) for _, text in ticks]}
            self._layout[f"{name}axis{self._suffix}"] = scale
        title = self._axes.get_title("left") or self._axes.get_title()
        if title:
            self._layout["annotations"].append({
                "text": f"<b>{_plain(title)}</b>", "x": place.x0, "y": place.y1, "xref": "paper",
                "yref": "paper", "xanchor": "left", "yanchor": "bottom", "showarrow": False})

    def _line(self, line: Line2D) -> None:
        x, y = ([float(one) for one in cast(Iterable[Any], values)]
                for values in (line.get_xdata(), line.get_ydata()))
        in_x, in_y = line.get_transform().contains_branch_seperately(self._axes.transData)
        look = {"color": _colour(line.get_color()), "width": line.get_linewidth(),
                "dash": _DASHES.get(str(line.get_linestyle()), "dash")}
        if not (in_x and in_y):  # axhline, axvline
            self._layout["shapes"].append({
                "type": "line", "line": look, "x0": x[0], "x1": x[-1], "y0": y[0], "y1": y[-1],
                "xref": f"x{self._suffix}" + ("" if in_x else " domain"),
                "yref": f"y{self._suffix}" + ("" if in_y else " domain")})
            return
        marker = _MARKERS.get(str(line.get_marker()))
        drawn = str(line.get_linestyle()) not in ("None", "none", "")
        self._trace("scatter", x=x, y=y, name=self._name(line.get_label(), look["color"]),
                    line=look, marker={"symbol": marker or "circle", "color": look["color"],
                                       "size": line.get_markersize() + 2},
                    mode="+".join([*(["lines"] if drawn else []),
                                   *(["markers"] if marker or not drawn else [])]))

    def _points(self, collection: Any) -> None:
        offsets = collection.get_offsets()
        colour = _colour(collection.get_facecolor()[0])
        self._trace("scatter", mode="markers", x=[float(at) for at, _ in offsets],
                    y=[float(at) for _, at in offsets], marker={"color": colour},
                    name=self._name(collection.get_label(), colour))

    def _area(self, collection: Any) -> None:
        for path in collection.get_paths():
            colour = collection.get_facecolor()[0]
            self._trace("scatter", mode="lines", fill="toself", line={"width": 0},
                        x=[float(at) for at, _ in path.vertices],
                        y=[float(at) for _, at in path.vertices], hoverinfo="skip",
                        fillcolor=_rgba(colour), name=self._name(collection.get_label(), ""))

    def _bars(self, container: BarContainer) -> None:
        lying = container.orientation == "horizontal"
        bars = [bar for bar in container if isinstance(bar, Rectangle)]
        along = [bar.get_width() if lying else bar.get_height() for bar in bars]
        base = [bar.get_x() if lying else bar.get_y() for bar in bars]
        across = [bar.get_y() + bar.get_height() / 2 if lying else bar.get_x() + bar.get_width() / 2
                  for bar in bars]
        colours = [_colour(bar.get_facecolor()) for bar in bars]
        self._trace("bar", orientation="h" if lying else "v", base=[float(one) for one in base],
                    x=[float(one) for one in (along if lying else across)],
                    y=[float(one) for one in (across if lying else along)],
                    width=[float(bar.get_height() if lying else bar.get_width()) for bar in bars],
                    marker={"color": colours},
                    name=self._name(container.get_label(), colours[0] if colours else ""))

    def _span(self, patch: Rectangle) -> None:
        in_x, in_y = patch.get_transform().contains_branch_seperately(self._axes.transData)
        self._layout["shapes"].append({
            "type": "rect", "layer": "below", "line": {"width": 0}, "opacity": 0.6,
            "fillcolor": _colour(patch.get_facecolor()),
            "x0": float(patch.get_x()), "x1": float(patch.get_x() + patch.get_width()),
            "y0": float(patch.get_y()), "y1": float(patch.get_y() + patch.get_height()),
            "xref": f"x{self._suffix}" + ("" if in_x else " domain"),
            "yref": f"y{self._suffix}" + ("" if in_y else " domain")})

    def _text(self, text: Text) -> None:
        """A label in the axes. Positions on a logarithmic axis are plotly's: exponents."""
        at = text.xy if isinstance(text, Annotation) else text.get_position()
        coordinates = text.xycoords if isinstance(text, Annotation) else "data"
        ways = coordinates if isinstance(coordinates, tuple) else (coordinates, coordinates)
        found: dict[str, Any] = {"text": _plain(text.get_text()), "showarrow": False,
                                 "font": {"color": _colour(text.get_color()), "size": 11},
                                 "xanchor": {"left": "left", "right": "right"}.get(
                                     text.get_horizontalalignment(), "center")}
        for name, way, value, axis in (("x", ways[0], at[0], self._axes.xaxis),
                                       ("y", ways[1], at[1], self._axes.yaxis)):
            data = way == "data"
            if data and axis.get_scale() == "log":
                value = log10(value)
            found |= {name: float(value),
                      f"{name}ref": f"{name}{self._suffix}" + ("" if data else " domain")}
        self._layout["annotations"].append(found)

    def _name(self, label: object, colour: str) -> str:
        """What a curve is called: in the legend, or by the label of its colour at the right."""
        own = str(label)
        return _plain(own) if own and not own.startswith("_") else self._named.get(colour, "")


def _at_right(text: Text) -> bool:
    """Whether this is a curve's label at the right edge of the axes."""
    return (isinstance(text, Annotation) and text.xycoords == "axes fraction"
            and float(text.xy[0]) == 1)


def _colour(value: Any) -> str:
    """As plotly wants it; the page sets ink for each theme itself."""
    found = to_hex(value)
    return "" if found == INK else found


def _rgba(value: Any) -> str:
    red, green, blue, alpha = value
    return f"rgba({red * 255:.0f},{green * 255:.0f},{blue * 255:.0f},{alpha:.2f})"


def _plain(text: str) -> str:
    """Matplotlib's mathematics as HTML: ``n$_{1/2}$``."""
    text = text.replace("\n", "<br>")
    return re.sub(r"\$([^$]*)\$", lambda found: re.sub(
        r"_\{([^}]*)\}", r"<sub>\1</sub>", found[1].replace(r"\mathdefault", "")), text)
