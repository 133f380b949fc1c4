"""Design points on the axes of processing and attachment: the costs and the bound of each."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..benches import BENCHES
from .tables import amount, table

__all__ = ["draw", "point", "points_table"]

_SHARES = {"processor": ("NI processor", "receiver's NI processor"), "bus": ("bus",),
           "DMA": ("send DMA", "receive DMA", "H2N", "N2H", "VI fetch", "VI send", "VI receive",
                   "completion"), "link": ("link",)}
"""Busy shares in the table, each of the busiest of its blocks."""

DECADES = 5
"""From this ratio of the largest to the smallest value on, a panel's scale is logarithmic."""


def point(documents: Mapping[str, Mapping[str, Any]], name: str) -> dict[str, Any]:
    """Figures of design point ``name`` from its runs: LogP in cycles, messages a second, bytes a
    second, busy shares (0 to 1), the bounds of g and of the bandwidth."""
    found: dict[str, Any] = {}
    if "logp" in documents:
        document = documents["logp"][name]
        results = _results(document)
        found |= {"o_s": results.o_s, "o_r": results.o_r, "g": results.rate, "L": results.L,
                  "rtt": results.rtt}
        found["rate"] = document["clock_mhz"] / found["g"] if found["g"] else None
        found["bound"], found["busy"] = results.bound.block, results.bound.busy
        shares = {one.block: one.busy for one in results.bound.shares}
        found["shares"] = {title: max((shares[block] for block in blocks if block in shares),
                                      default=None) for title, blocks in _SHARES.items()}
    if "bandwidth" in documents:
        document = documents["bandwidth"][name]
        found["bandwidth"] = _results(document).best * document["clock_mhz"]
    return found


def _results(document: Mapping[str, Any]) -> Any:
    """The results of ``document`` as its benchmark's class has them on its layer."""
    return BENCHES.get(document["benchmark"]).module(document["layer"]).bench.results(document)


def points_table(document: Mapping[str, Any]) -> Any:
    """One row for each design point."""
    axes = document["axes"]
    rows = []
    for name in document["descriptions"]:  # in order; a file's keys are sorted
        place = document["points"][name]
        one = point(document["documents"], name)
        shares = one.get("shares", {})
        rows.append((*(place[axis] for axis in axes),
                     *(amount(one.get(key), 1) for key in ("o_s", "o_r", "g", "L", "rtt")),
                     amount(one.get("rate"), 3), amount(one.get("bandwidth"), 1),
                     *("-" if shares.get(title) is None else f"{100 * shares[title]:.0f}"
                       for title in _SHARES),
                     one.get("bound", "-")))
    return table(f"Design points, {document['layer']}: LogP in cycles; busy shares in %, in steady "
                 "state",
                 [*axes, "o_s", "o_r", "g", "L", "RTT", "M msg/s", "MB/s",
                  *_SHARES, "g is bound by"], rows, left=len(axes))


def draw(document: Mapping[str, Any], figure: Any) -> None:
    """o_s, g and L over the points of the first axis, one line for each point of the second."""
    from .plots import line, plain_log

    first, *others = document["axes"]
    ordered = {name: document["points"][name] for name in document["descriptions"]}
    places = list(dict.fromkeys(place[first] for place in ordered.values()))
    lines: dict[str, dict[str, dict[str, Any]]] = {}
    for name, place in ordered.items():
        label = ", ".join(place[axis] for axis in others)
        lines.setdefault(label, {})[place[first]] = point(document["documents"], name)
    panels = figure.subplots(1, 3)
    for axes, key in zip(panels, ("o_s", "g", "L"), strict=True):
        _panel(axes, key, places, lines, line)
        values = [one[key] for by_place in lines.values() for one in by_place.values()
                  if one.get(key) is not None and one[key] > 0]
        if values and max(values) > DECADES * min(values):
            plain_log(axes, min(values) / 1.5, max(values) * 1.5)
        elif values:
            axes.set_ylim(0, 1.2 * max(values))
    panels[0].set_ylabel("cycles")
    if others:
        panels[-1].legend(loc="best")
    figure.suptitle(f"o_s, g and L by {' and '.join(document['axes'])}, {document['layer']}")


def _panel(axes: Any, key: str, places: Sequence[str], lines: Mapping[str, Any], style: Any
           ) -> None:
    for index, (label, by_place) in enumerate(lines.items()):
        there = [(place, by_place[place].get(key)) for place in places if place in by_place]
        axes.plot([places.index(place) for place, value in there if value is not None],
                  [value for _, value in there if value is not None], label=label,
                  **style(index, len(lines)))
    axes.set_xticks(range(len(places)), places, rotation=30, ha="right")
    axes.set_title(key)
