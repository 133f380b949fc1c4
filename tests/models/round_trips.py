"""Outcomes of ``bench rtt`` with figures that a test chooses, as the benchmark writes them."""

from typing import Any

from nicbed.testbench.benches.am.rtt import RttResults, Trip
from nicbed.testbench.benches.fields import plain

__all__ = ["round_trips"]


def round_trips(figure: Any, **others: Any) -> dict[str, Any]:
    """``figure`` cycles (or None) with 1 word; ``others``: by ``words2`` and so on."""
    words = {"1": figure, **{name.removeprefix("words"): each for name, each in others.items()}}
    trips = {name: Trip(each, each, each, each, each and each / 2) for name, each in words.items()}
    return {"results": plain(RttResults(figure, trips))}
