"""Wildcards: latency of receives from any rank, with any tag, beside those that name both, and
beside the layer below."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ....layouts.description import Description
from ..benchmark import Tell
from ..common.latencies import Latencies
from ..common.transfers import sizes
from ..fields import setting
from .beside import Beside
from .names import shown
from .pingpong import measure_below, measure_ways

__all__ = ["Wildcard", "WildcardParameters"]

NAMED = "named"
WAYS: dict[str, dict[str, Any]] = {NAMED: {}, "any rank and tag": {"wildcard": True}}
REPORT = Latencies("Wildcards: latency over MPI of receives from any rank, with any tag", "n",
                   sizes=True, base=NAMED)


@dataclass(frozen=True)
class WildcardParameters:
    """Messages of several sizes."""

    sizes: Sequence[int] = setting([4], "bytes of a message", unit="bytes")
    channel: str = setting("", "the layer below (mpi.channel)")


class Wildcard(Beside):
    """Receives that name neither rank nor tag."""

    Parameters = WildcardParameters

    def parameters(self, description: Description) -> WildcardParameters:
        """4 B to 32 KB."""
        return WildcardParameters(sizes(min(32 << 10, description.memory.bytes // 64))[::3],
                                  description.mpi.channel)

    def report(self, parameters: WildcardParameters) -> Latencies:
        return REPORT

    def twins(self, parameters: WildcardParameters) -> dict[str, str]:
        return dict.fromkeys(WAYS, shown(parameters.channel))

    async def measure(self, lab: Any, layer: str, parameters: WildcardParameters, tell: Tell
                      ) -> dict[str, Any]:
        """One run for each size and way, and one over the layer below."""
        return {"runs": await measure_ways(lab, parameters.sizes, WAYS, tell), "below": {
            shown(parameters.channel): {size: await measure_below(lab, size)
                                        for size in parameters.sizes}}}
