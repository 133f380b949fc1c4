"""The first messages of a time line: each with a bar wherever it is served, over time."""

from pathlib import Path
from typing import Any

from ..errors import UserError
from ..results.plots import PALETTE
from ..timeline.reading import Drawn, read

__all__ = ["MESSAGES", "first_messages"]

MESSAGES = 8
"""Messages that are drawn."""
_RUN = 32
"""The bit of a flow's number from which on it is the run's."""


def first_messages(path: Path) -> dict[str, Any]:
    """The first messages of the first run in ``path``, as a figure of plotly.

    Raises
    ------
    UserError
        The file is no time line, or there is no message in it.
    """
    slices = read(path)
    flows = sorted({one.flow for one in slices if one.flow}, key=lambda flow: _begin(slices, flow))
    chosen = [flow for flow in flows if flow >> _RUN == flows[0] >> _RUN][:MESSAGES]
    if not chosen:
        raise UserError(f"{path}: has no messages: nothing was sent in its runs")
    start = _begin(slices, chosen[0])
    shown = [one for one in slices if one.flow in chosen]
    places = list(dict.fromkeys(" · ".join(one.place)
                                for one in sorted(shown, key=lambda one: one.begin)))
    data = []
    for index, flow in enumerate(chosen):
        mine = [one for one in shown if one.flow == flow]
        data.append({
            "type": "bar", "orientation": "h", "name": f"message {flow & (1 << _RUN) - 1}",
            "y": [" · ".join(one.place) for one in mine],
            "x": [(one.end - one.begin) / 1000 for one in mine],
            "base": [(one.begin - start) / 1000 for one in mine],
            "text": [one.name for one in mine], "textposition": "none",
            "hovertemplate": "%{y}<br>%{text}: %{base:.3f} µs, for %{x:.3f} µs",
            "marker": {"color": PALETTE[index % len(PALETTE)]}, "showlegend": True})
    layout = {"barmode": "overlay", "height": 120 + 24 * len(places),
              "margin": {"t": 24, "r": 24, "b": 56, "l": 220},
              "xaxis": {"title": {"text": "µs from the first message's call"}, "zeroline": False},
              "yaxis": {"categoryorder": "array", "categoryarray": places,
                        "autorange": "reversed"},
              "legend": {"orientation": "h", "y": -0.12}}
    return {"data": data, "layout": layout}


def _begin(slices: list[Drawn], flow: int) -> int:
    return min(one.begin for one in slices if one.flow == flow)
