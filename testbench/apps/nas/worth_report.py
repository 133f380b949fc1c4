"""Tables and picture of what o, g and L are worth to kernels, on several NICs."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...report.tables import amount, checks, table
from .worth import PARAMETERS

__all__ = ["compared", "draw", "draw_compared", "tables"]


def tables(document: Mapping[str, Any]) -> list[Any]:
    """The tables of one NIC."""
    return compared({"": document})


def draw(document: Mapping[str, Any], figure: Any) -> None:
    """The picture of one NIC."""
    draw_compared({"": document}, figure)


def compared(by_name: Mapping[str, Mapping[str, Any]]) -> list[Any]:
    """o, g and L of each NIC; each kernel's time, worths and elasticities; checks that failed.
    ``by_name``: the document of each NIC."""
    found: list[Any] = [table("A message over MPI (cycles)", ["", *PARAMETERS], [
        (nic, *(amount(one["results"]["costs"][name]) for name in PARAMETERS))
        for nic, one in by_name.items()])]
    rows = []
    for nic, one in by_name.items():
        for kernel in one["parameters"]["kernels"]:
            worth = one["results"]["kernels"][kernel]
            rows.append((nic, kernel, f"{worth['cycles'] / one['clock_mhz'] / 1000:,.1f}",
                         *(amount(worth[name]["worth"], 1) for name in PARAMETERS),
                         *(f"{100 * worth[name]['elasticity']:.2f}" for name in PARAMETERS)))
    found.append(table(
        "What o, g and L are worth",
        ["", "kernel", "ms", *(f"cycle of {name}" for name in PARAMETERS),
         *(f"{name} +100 %" for name in PARAMETERS)], rows, left=2,
        caption="cycle of x: cycles that the kernel takes longer for each; "
                "x +100 %: per cent of its time that twice x takes, by the slope"))
    for nic, one in by_name.items():
        found += [f"{nic}: {line}" for line in [*one["notes"], *checks(one["checks"])]
                  if not line.startswith("checks: all")]
    return found


def draw_compared(by_name: Mapping[str, Mapping[str, Any]], figure: Any) -> None:
    """For each kernel a group of bars, the elasticities; for each NIC a panel."""
    from ...report.plots import PALETTE

    figure.set_size_inches(3.1 * len(by_name) + 1.5, 3.6)
    panels = figure.subplots(1, len(by_name), sharey=True, squeeze=False)[0]
    for axes, (nic, one) in zip(panels, by_name.items(), strict=True):
        kernels = {kernel: one["results"]["kernels"][kernel]
                   for kernel in one["parameters"]["kernels"]}
        places = np.arange(len(kernels))
        for index, name in enumerate(PARAMETERS):
            heights = [100 * worth[name]["elasticity"] for worth in kernels.values()]
            axes.bar(places + 0.27 * (index - 1), heights, 0.25, color=PALETTE[index], label=name)
        axes.set_xticks(places, [kernel.upper() for kernel in kernels])
        axes.grid(axis="x", visible=False)
        axes.set_title(nic)
    panels[0].set_ylabel("% of the time that twice as much takes")
    panels[-1].legend(loc="upper right")
