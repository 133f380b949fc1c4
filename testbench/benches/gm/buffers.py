"""Buffer management over GM: latency if every send and every receive has a new buffer on pages of
its own. The difference to the plain ping-pong is the cost of translation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....layouts.description import Description
from ..benchmark import Tell
from ..common.headline import Series
from ..common.latencies import Latencies
from ..common.transfers import sizes
from ..common.varied_latency import VariedLatency
from ..fields import setting
from .pingpong import Plan, measure_plan

__all__ = ["GmBuffers", "GmBuffersParameters"]

SAME, FRESH = "same buffer", "fresh buffers"


@dataclass(frozen=True)
class GmBuffersParameters:
    """Messages of several sizes."""

    sizes: Sequence[int] = setting([4], "bytes of a message", unit="bytes")


class GmBuffers(VariedLatency):
    """Fresh buffers."""

    Parameters = GmBuffersParameters
    report = Latencies("Buffers: latency with fresh pages for every send and receive", "n",
                       sizes=True, base=SAME)

    def parameters(self, description: Description) -> GmBuffersParameters:
        """4 B to 32 KB."""
        found = sizes(min(32 << 10, description.memory.bytes // 64))
        return GmBuffersParameters(sorted({*found[::2], found[-1]}))

    async def measure(self, lab: Any, layer: str, parameters: GmBuffersParameters, tell: Tell
                      ) -> dict[str, Any]:
        """One run for each size with the same buffers, and one with fresh ones."""
        found: dict[str, Any] = {SAME: {}, FRESH: {}}
        for index, size in enumerate(parameters.sizes):
            tell(f"{size} bytes", index, len(parameters.sizes))
            for variant in found:
                found[variant][size] = await measure_plan(lab, Plan(size, fresh=variant == FRESH))
        return found

    def series(self, document: Mapping[str, Any]) -> Series:
        """Difference of fresh buffers to the same one, over size."""
        return self.difference(document, FRESH, "fresh buffers less the same one")
