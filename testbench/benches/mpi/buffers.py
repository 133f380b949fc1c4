"""Buffer management: latency if every message has fresh pages at both ends, with the registration
cache and without, beside the same buffers throughout, and beside the layer below."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ....layouts.description import Description
from ..benchmark import Tell
from ..common.latencies import Latencies
from ..common.transfers import sizes
from ..fields import setting
from .beside import Beside
from .names import shown, varies
from .pingpong import measure_below, measure_ways

__all__ = ["MpiBuffers", "MpiBuffersParameters"]

SAME, FRESH = "same buffers", "fresh buffers"
WAYS: dict[str, dict[str, Any]] = {
    SAME: {}, "no cache": {"settings": {"mpi.registration_cache": 0}}, FRESH: {"fresh": True}}
REPORT = Latencies("Buffers: latency over MPI with fresh pages, and without registration cache",
                   "n", sizes=True, base=SAME)


@dataclass(frozen=True)
class MpiBuffersParameters:
    """Messages of several sizes."""

    sizes: Sequence[int] = setting([4], "bytes of a message", unit="bytes")
    channel: str = setting("", "the layer below (mpi.channel)")


class MpiBuffers(Beside):
    """Fresh buffers, and buffers that are registered each time."""

    Parameters = MpiBuffersParameters

    def parameters(self, description: Description) -> MpiBuffersParameters:
        """4 B to 32 KB."""
        found = sizes(min(32 << 10, description.memory.bytes // 64))
        return MpiBuffersParameters(sorted({*found[::2], found[-1]}), description.mpi.channel)

    def report(self, parameters: MpiBuffersParameters) -> Latencies:
        return REPORT

    def twins(self, parameters: MpiBuffersParameters) -> dict[str, str]:
        """Only VIA has a ping-pong with fresh buffers."""
        plain = shown(parameters.channel)
        return {way: f"{plain}, fresh buffers" if way == FRESH and varies(parameters.channel)
                else plain for way in WAYS}

    async def measure(self, lab: Any, layer: str, parameters: MpiBuffersParameters, tell: Tell
                      ) -> dict[str, Any]:
        """One run for each size and way, and one for each twin."""
        twins = dict.fromkeys(self.twins(parameters).values())
        return {"runs": await measure_ways(lab, parameters.sizes, WAYS, tell), "below": {
            twin: {size: await measure_below(
                lab, size, **({"fresh": True} if "fresh" in twin else {}))
                for size in parameters.sizes} for twin in twins}}
