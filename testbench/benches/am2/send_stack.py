"""The stack of a send's costs, in the form in which it was published, and ours in that form."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..fields import figure

__all__ = ["MEASURED", "PUBLISHED", "SendStep", "stacked"]

PUBLISHED = {
    "call and arguments": 11, "locate and advance": 9, "fill": 49,
    "misses, full check": 39 + 22 + 50, "poll of both heads": 42,
    "argument and tag checks": 25, "CAS": 45}
"""Cycles of 167 MHz, of a send of eight arguments: Lumetta, Mainwaring, Culler: Multi-Protocol
Active Messages on a Cluster of SMP's (SC '97). The misses: 50, of which 11 are hidden; 22 more, as
the packet is in the receiver's cache; 50 to own it, as it is read first."""
MEASURED = 299
"""What the same send took when it was measured."""


@dataclass(frozen=True)
class SendStep:
    """A step of a send."""

    work: float = figure("cycles", "instructions of the CPU, beside those that access memory")
    memory: float = figure("cycles", "loads, stores and swaps, with their misses")

    @property
    def total(self) -> float:
        """All of it."""
        return self.work + self.memory


def stacked(steps: Mapping[str, SendStep], cas: float) -> dict[str, float]:
    """``steps``, by name, under the names of PUBLISHED; ``cas``: cycles of a swap of a word whose
    line is owned. They have the same sum."""
    swaps = min(2 * cas, steps["advance"].memory + steps["claim"].memory)
    return {
        "call and arguments": steps["call"].total,
        "locate and advance": steps["advance"].work,
        "fill": steps["fill"].total + steps["claim"].work,
        "misses, full check": steps["advance"].memory + steps["claim"].memory - swaps,
        "poll of both heads": steps["poll"].total,
        "argument and tag checks": steps["check"].total,
        "CAS": swaps}
