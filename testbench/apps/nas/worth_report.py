"""Tables and picture of what o, g and L are worth to kernels, on several NICs."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ...results.tables import amount, checks, table
from .changes import PARAMETERS

__all__ = ["compared", "draw", "draw_compared", "tables"]

COLUMNS = 4
"""Panels beside each other."""


def tables(document: Mapping[str, Any]) -> list[Any]:
    """The table of one part: what was measured as it is and with each change."""
    measured = _measured(document)
    kinds = next(iter(measured.values()))
    return [table(f"{document['parameters']['part']} (cycles)", ["", *kinds],
                  [(changed, *map(amount, each.values())) for changed, each in measured.items()]),
            *checks(document["checks"])]


def draw(document: Mapping[str, Any], figure: Any) -> None:
    """The picture of one part: cycles as it is and with each change."""
    measured = _measured(document)
    kinds = list(next(iter(measured.values())))
    places = figure.subplots(1, len(kinds), squeeze=False)[0]
    for axes, kind in zip(places, kinds, strict=True):
        axes.bar(range(len(measured)), [each[kind] for each in measured.values()])
        axes.set_xticks(range(len(measured)), list(measured), rotation=90)
        axes.set_title(kind)
    places[0].set_ylabel("cycles")


def _measured(document: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Of a part: by change, the cycles of each thing that was measured."""
    return {"as it is" if changed == "base" else f"another {changed}":
            {kind: float(Fraction(value)) for kind, value in (
                each if isinstance(each, Mapping) else {"time": each}).items()}
            for changed, each in document["points"]["measured"].items()}


def compared(by_name: Mapping[str, Mapping[str, Any]]) -> list[Any]:
    """o, g and L of each NIC, and how its changes moved them; each kernel's time, worths and
    elasticities; checks that failed. ``by_name``: the document of each NIC."""
    found: list[Any] = [table("A message over MPI (cycles)", ["", *PARAMETERS], [
        (nic, *(amount(one["results"]["costs"][name]) for name in PARAMETERS))
        for nic, one in by_name.items()])]
    found.append(table(
        "What the larger change of each moved (cycles)", ["", "of", "by", *PARAMETERS],
        [(nic, name, ", ".join(f"{knob} = {value}" for knob, value in change["knobs"].items()),
          *_moved(one["results"]["costs"], change["moved"]))
         for nic, one in by_name.items()
         for name, change in one["results"]["changes"].items()], left=3))
    rows = []
    for nic, one in by_name.items():
        for kernel in one["parameters"]["kernels"]:
            worth = one["results"]["kernels"][kernel]
            rows.append((nic, kernel, f"{worth['cycles'] / one['clock_mhz'] / 1000:,.1f}",
                         *(_with_spread(worth[name]) for name in PARAMETERS),
                         *(_per_cent(worth[name]["elasticity"]) for name in PARAMETERS)))
    found.append(table(
        "What o, g and L are worth",
        ["", "kernel", "ms", *(f"cycle of {name}" for name in PARAMETERS),
         *(f"{name} +100 %" for name in PARAMETERS)], rows, left=2,
        caption="cycle of x: cycles that the kernel takes longer for each, by the larger of two "
                "changes, ± what the smaller one says otherwise; x +100 %: per cent of its time "
                "that twice x takes, by the slope"))
    for nic, one in by_name.items():
        found += [f"{nic}: {line}" for line in [*one["notes"], *checks(one["checks"])]
                  if not line.startswith("checks: all")]
    return found


def _moved(costs: Mapping[str, float], moved: Mapping[str, float]) -> list[str]:
    """In cycles, and as a share of what is above 0."""
    return [amount(moved[name], 0)
            + (f" ({100 * moved[name] / costs[name]:+.0f} %)" if costs[name] > 0 else "")
            for name in PARAMETERS]


def _with_spread(one: Mapping[str, float]) -> str:
    return f"{amount(one['worth'], 0)} ± {amount(one['spread'], 0)}"


def _per_cent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.2f}"


def draw_compared(by_name: Mapping[str, Mapping[str, Any]], figure: Any) -> None:
    """The elasticities, with their spread: of several NICs a panel for each kernel, with a group of
    bars for each NIC; of one NIC a panel with a group for each kernel."""
    kernels: list[str] = next(iter(by_name.values()))["parameters"]["kernels"]
    found = {(nic, kernel): _shares(one["results"]["kernels"][kernel], one["results"]["costs"])
             for nic, one in by_name.items() for kernel in one["parameters"]["kernels"]}
    if len(by_name) == 1:
        nic = next(iter(by_name))
        panels = {nic: {kernel.upper(): found[nic, kernel] for kernel in kernels}}
    else:
        panels = {kernel.upper(): {nic: found[nic, kernel] for nic in by_name}
                  for kernel in kernels}
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    width = 0.55 * max(map(len, panels.values())) + 1.1
    figure.set_size_inches(max(4.5, columns * width), 3.3 * rows)
    places = figure.subplots(rows, columns, squeeze=False)
    for axes in places.flat[len(panels):]:
        axes.set_visible(False)
    for axes, (title, groups) in zip(places.flat, panels.items(), strict=False):
        _panel(axes, groups)
        axes.set_title(title)
    for axes in places[:, 0]:
        axes.set_ylabel("% of the time that twice as much takes")
    places.flat[0].legend(loc="upper left")


def _shares(kernel: Mapping[str, Any], costs: Mapping[str, float]
            ) -> list[tuple[float, float] | None]:
    """By parameter the elasticity and its spread, in per cent; None: there is none."""
    found: list[tuple[float, float] | None] = []
    for name in PARAMETERS:
        one = kernel[name]
        if one["elasticity"] is None:
            found.append(None)
        else:
            spread = one["spread"] * costs[name] / kernel["cycles"]
            found.append((100 * one["elasticity"], 100 * spread))
    return found


def _panel(axes: Any, groups: Mapping[str, Sequence[tuple[float, float] | None]]) -> None:
    from ...results.plots import INK, PALETTE

    places = np.arange(len(groups))
    for index, name in enumerate(PARAMETERS):
        here = places + 0.27 * (index - 1)
        bars = {place: group[index] for place, group in zip(here, groups.values(), strict=True)}
        given = {place: bar for place, bar in bars.items() if bar}
        axes.bar(list(given), [height for height, _ in given.values()], 0.25,
                 color=PALETTE[index], label=name, ecolor=INK, capsize=2,
                 yerr=[spread for _, spread in given.values()],
                 error_kw={"elinewidth": 0.8, "capthick": 0.8})
        for place in bars.keys() - given.keys():
            axes.text(place, 0, "none", ha="center", va="bottom", rotation=90, fontsize=7,
                      color=PALETTE[index])
    axes.set_xticks(places, list(groups))
    axes.set_xlim(-0.6, len(groups) - 0.4)
    axes.grid(axis="x", visible=False)
