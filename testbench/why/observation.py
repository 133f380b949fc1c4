"""Measures a side: figures, round trips by stage, cost items, events.

The figures are those of benchmark ``logp``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...layouts.trace import Event
from ..benches import BENCHES
from .round_trip import RoundTrip, read

__all__ = ["Observation", "figures"]


@dataclass(frozen=True, kw_only=True)
class Observation(RoundTrip):
    """One side: its round trip, and its figures. Times in cycles.

    Attributes
    ----------
    figures
        Name and cycles of each figure of ``logp``.
    blocks
        Share of the time, 0 to 1, in which each block on the path was busy in steady state, by
        block and node.
    bound
        The block that bounds g.
    events
        Those of the round trips' run, in order.
    clock_mhz
        The target's clock.
    """

    figures: dict[str, float]
    blocks: dict[str, float]
    bound: str
    events: list[Event]
    clock_mhz: Fraction

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**super().plain(), "figures": self.figures, "blocks": self.blocks,
                "bound": self.bound, "clock_mhz": str(self.clock_mhz),
                "events": [list(event) for event in self.events]}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "Observation":
        """Returns what :meth:`plain` wrote."""
        return cls(**read(plain), figures=dict(plain["figures"]), blocks=dict(plain["blocks"]),
                   bound=plain["bound"], events=[Event(*event) for event in plain["events"]],
                   clock_mhz=Fraction(plain["clock_mhz"]))


def figures(document: Mapping[str, Any]) -> dict[str, Any]:
    """Of a result of ``logp``: its figures, busy shares and bound."""
    module = BENCHES.get("logp").module(document["layer"])
    results = module.bench.results(document)
    found = {one.name: one.value for one in module.headline(document)
             if one.unit == "cycles" and one.value is not None}
    # No headline where the CPUs hide it.
    return {"figures": found if results.g is None else {**found, "g": results.g},
            "blocks": {f"{one.block}, node {one.node}": one.busy for one in results.bound.shares},
            "bound": results.bound.block}
