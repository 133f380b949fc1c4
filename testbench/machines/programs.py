"""Programs over Split-C as the study of the SP-2 ran them, and sorts of fewer keys in their place.

A sort of 512 K keys a process takes too long in the simulator. Its time grows in proportion to the
keys, so two runs of :data:`KEYS`, by variant, give a slope, and the slope the time of :data:`FULL`
keys.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ...layouts.description import Apps, Description

__all__ = ["FULL", "KEYS", "RATES", "alone", "extrapolated", "first", "shares", "sort_runs"]

FULL = 524288
"""Keys a process of the study's sorts: 4 M keys on 8 processes."""
KEYS = {"sm": (2048, 4096), "lg": (8192, 16384)}
"""Keys a process of the two runs in their place, by variant; *sm* sends a message for two keys."""
RATES = {"mm": ("flop",), "sample-sort": ("sort_key",), "radix-sort": ("radix_key",),
         "fft": ("fft_point",), "con": ("con_node", "con_edge"), "em3d": ("em3d_edge",)}
"""Of each program, the rates by which its computation is charged."""


def sort_runs(variant: str) -> dict[str, Any]:
    """Parameters of a sort's two runs."""
    return {"runs": [{"variant": variant, "keys": keys} for keys in KEYS[variant]]}


def first(results: Mapping[str, Any]) -> Any:
    """The cycles of a program's only run."""
    return results["runs"][0]["cycles"]


def extrapolated(results: Mapping[str, Any]) -> Fraction:
    """The cycles of :data:`FULL` keys a process, on the line through two runs of fewer."""
    (fewer, low), (more, high) = _sizes(results["runs"])
    return high + (high - low) * Fraction(FULL - more, more - fewer)


def _sizes(runs: Sequence[Mapping[str, Any]]) -> list[tuple[int, Fraction]]:
    return [(run["parameters"]["keys"], Fraction(str(run["cycles"]))) for run in runs]


def shares(results: Mapping[str, Any]) -> str:
    """Of the last run, what all processes together spent their time on; and of several runs, that
    the figure is extrapolated from them."""
    last = results["runs"][-1]
    kinds = ("computation", "communication")
    whole, messages, waiting = ({kind: sum(one[kind][part] for one in last["processes"])
                                 for kind in kinds} for part in ("cycles", "messages", "waiting"))
    parts = {"computation": whole["computation"] - messages["computation"]
             - waiting["computation"],
             "messages": sum(messages.values()), "waiting": sum(waiting.values()),
             "other communication": whole["communication"] - messages["communication"]
             - waiting["communication"]}
    said = ", ".join(f"{name} {part / sum(whole.values()):.0%}" for name, part in parts.items())
    if len(results["runs"]) == 1:
        return said
    keys = " and ".join(f"{count // 1024} K" for count, _ in _sizes(results["runs"]))
    return (f"{said}, at the larger of {keys} keys a process, which give {FULL // 1024} K by their "
            "slope")


def alone(description: Description, program: str) -> Description:
    """``description`` with the default rates of other programs' computation. They do not count in
    ``program``, so that a run is found again in the cache whatever they are."""
    usual = Apps()
    return description.with_({f"apps.{rate}": getattr(usual, rate)
                              for name, rates in RATES.items() if name != program
                              for rate in rates})
