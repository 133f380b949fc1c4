"""Latency over GM over sizes, of plain ping-pongs and of ping-pongs that differ in one thing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ....layouts.description import Description
from ..benchmark import Tell
from ..common.headline import Series
from ..common.transfers import sizes
from ..common.varied_latency import VariedLatency
from ..fields import setting
from .pingpong import Plan, measure_plan

__all__ = ["GmSizes", "TwoWays"]


@dataclass(frozen=True)
class GmSizes:
    """Messages of several sizes."""

    sizes: Sequence[int] = setting([4], "bytes of a message", unit="bytes")


class TwoWays(VariedLatency):
    """Base of these benchmarks.

    Attributes
    ----------
    plans
        The two ways by name, the plain one first: which fields of a :class:`.pingpong.Plan` each
        sets.
    """

    Parameters = GmSizes
    plans: ClassVar[Mapping[str, Mapping[str, bool]]]

    def parameters(self, description: Description) -> GmSizes:
        """4 B to 32 KB."""
        found = sizes(min(32 << 10, description.memory.bytes // 64))
        return GmSizes(sorted({*found[::2], found[-1]}))

    async def measure(self, lab: Any, layer: str, parameters: GmSizes, tell: Tell
                      ) -> dict[str, Any]:
        """One run for each size and way."""
        found: dict[str, Any] = {way: {} for way in self.plans}
        for index, size in enumerate(parameters.sizes):
            tell(f"{size} bytes", index, len(parameters.sizes))
            for way, varied in self.plans.items():
                found[way][size] = await measure_plan(lab, Plan(size, **varied))
        return found

    def series(self, document: Mapping[str, Any]) -> Series:
        """Difference of the second way to the first, over size."""
        plain, other = self.plans
        return self.difference(document, other, f"{other} less {plain}")
