"""Blocking: latency with receives that wait for an interrupt, at once or after spinning for a
while; and the difference to polling."""

from collections.abc import Mapping
from typing import Any

from ....host.via.session import BLOCK, POLL
from ....layouts.description import Description
from ..common.headline import Series
from ..common.latencies import Latencies, ordered
from ..common.transfers import sizes
from .pingpong import Plan, measure_plan

__all__ = ["draw", "evaluate", "headline", "measure", "parameters", "series", "tables"]

POLLING, BLOCKING, SPINNING = "polling", "blocking", "spin, then block"
REPORT = Latencies("Blocking: latency of VipRecvWait and of polling", "n", sizes=True, base=POLLING)
evaluate = REPORT.evaluate
tables = REPORT.tables
draw = REPORT.draw
headline = REPORT.headline
LONG = 1_000_000
"""Cycles of spinning, longer than any of these messages takes."""


def parameters(description: Description) -> dict[str, Any]:
    """4 B to 32 KB."""
    found = sizes(min(32 << 10, description.memory.bytes // 64))
    return {"sizes": sorted({*found[::2], found[-1]}), "spin": LONG}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """One run for each size and way to wait."""
    ways = {POLLING: (POLL, 0), BLOCKING: (BLOCK, 0), SPINNING: (BLOCK, parameters["spin"])}
    found: dict[str, Any] = {variant: {} for variant in ways}
    steps = [(variant, size) for variant in ways for size in parameters["sizes"]]
    for index, (variant, size) in enumerate(steps):
        tell(f"{variant}, {size} bytes", index, len(steps))
        how, spin = ways[variant]
        found[variant][size] = await measure_plan(lab, Plan(size, how=how,
                                                            settings={"via.spin": spin}))
    return found


def series(document: Mapping[str, Any]) -> Series:
    """Difference of blocking to polling, over size."""
    extra = document["results"]["extra"][BLOCKING]
    return Series("n", "blocking less polling (cycles)",
                  [(int(size), extra[size]) for size in ordered(extra)], sizes=True)
