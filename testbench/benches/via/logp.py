"""LogP of VIA: o_s from streams of few sends, o_r from a ping-pong with a delay longer than L
between send and receive, g from long streams, L, and o_r with interrupts from a counting loop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from ....layouts.description import Description
from ....layouts.trace import TICKS
from ..benchmark import Tell
from ..common.reported import Reported
from ..fields import Outcome, setting
from . import logp_report
from .counting import measure_counting
from .logp_evaluation import evaluate
from .logp_results import ViaLogpResults
from .pingpong import Plan, measure_plan
from .stream import measure_stream

__all__ = ["ViaLogp", "ViaLogpParameters"]

BUDGET = 512 << 10
LEAST, MOST = 24, 192
BEYOND = Fraction(5, 4)
"""Delay of the second ping-pong, in round trips of the first. Every echo has arrived by then."""
APART = 4
"""Round trips between the messages that interrupt the counting loop; at least GAP cycles."""
GAP = 3000


def _messages(size: int, budget: int) -> int:
    """Messages of a long stream."""
    return max(LEAST, min(MOST, budget // size))


@dataclass(frozen=True)
class ViaLogpParameters:
    """4 B to 32 KB; the signature at the smallest size with D as fractions of the round trip."""

    sizes: Sequence[int] = setting([4, 64, 256, 1024, 4096, 16384, 32768], "bytes of a message",
                                   unit="bytes")
    bytes: int = setting(BUDGET, "bytes of a stream, about", unit="bytes")
    delays: Sequence[str] = setting(["0", "1/8", "1/4", "1/2", "1"],
                                    "D, as fractions of the round trip")
    interrupts: int = setting(16, "messages that interrupt the counting loop; 0: no loop")


class ViaLogp(Reported):
    """LogP of VIA.

    Attributes
    ----------
    SHORT
        Parameters in place of the usual ones that take less time and give the same figures within a
        hundredth.
    """

    Parameters = ViaLogpParameters
    Results = ViaLogpResults
    report = logp_report
    SHORT: ClassVar[Mapping[str, Any]] = {"sizes": [4], "delays": ["0"], "interrupts": 0}

    async def measure(self, lab: Any, layer: str, parameters: ViaLogpParameters, tell: Tell
                      ) -> dict[str, Any]:
        """Two ping-pongs and a stream for each size; the signature; the counting loop."""
        chosen, shares = parameters.sizes, parameters.delays
        steps = len(chosen) + len(shares) + 1
        sizes: dict[int, Any] = {}
        for index, size in enumerate(chosen):
            tell(f"{size} bytes", index, steps)
            trips = await measure_plan(lab, Plan(size))
            beyond = int(BEYOND * max(trips["trips"]) / TICKS) + 1
            sizes[size] = {
                "trips": trips, "delayed": await measure_plan(lab, Plan(size, delay=beyond)),
                "stream": await measure_stream(lab, size, _messages(size, parameters.bytes))}
        least = min(chosen)
        rtt = -(-max(sizes[least]["trips"]["trips"]) // TICKS)
        curves = []
        for index, share in enumerate(shares):
            delay = int(rtt * Fraction(share))
            tell(f"D = {delay}", len(chosen) + index, steps)
            curves.append(await measure_stream(lab, least, MOST, delay) if delay
                          else sizes[least]["stream"])
        tell("counting loop", steps - 1, steps)
        counting = None
        if parameters.interrupts:
            counting = await measure_counting(lab, least, parameters.interrupts,
                                              max(GAP, APART * rtt))
        return {"sizes": sizes, "curves": curves, "counting": counting}

    def evaluate(self, raw: Any, description: Description, parameters: ViaLogpParameters
                 ) -> Outcome:
        """All figures by size, the signature at the smallest size, and o_r with interrupts."""
        return evaluate(raw, description)
