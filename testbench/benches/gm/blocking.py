"""Blocking over GM: latency of receives that wait for an interrupt at once, and the difference to
receives that spin."""

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

__all__ = ["GmBlocking", "GmBlockingParameters"]

SPINNING, BLOCKING = "spinning", "blocking"


@dataclass(frozen=True)
class GmBlockingParameters:
    """Messages of several sizes."""

    sizes: Sequence[int] = setting([4], "bytes of a message", unit="bytes")


class GmBlocking(VariedLatency):
    """Receives that wait for an interrupt."""

    Parameters = GmBlockingParameters
    report = Latencies("Blocking: latency of receives that sleep at once or spin", "n",
                       sizes=True, base=SPINNING)

    def parameters(self, description: Description) -> GmBlockingParameters:
        """4 B to 32 KB."""
        found = sizes(min(32 << 10, description.memory.bytes // 64))
        return GmBlockingParameters(sorted({*found[::2], found[-1]}))

    async def measure(self, lab: Any, layer: str, parameters: GmBlockingParameters, tell: Tell
                      ) -> dict[str, Any]:
        """One run for each size and way to wait."""
        found: dict[str, Any] = {SPINNING: {}, BLOCKING: {}}
        for index, size in enumerate(parameters.sizes):
            tell(f"{size} bytes", index, len(parameters.sizes))
            for variant in found:
                found[variant][size] = await measure_plan(lab, Plan(size,
                                                                    block=variant == BLOCKING))
        return found

    def series(self, document: Mapping[str, Any]) -> Series:
        """Difference of blocking to spinning, over size."""
        return self.difference(document, BLOCKING, "blocking less spinning")
