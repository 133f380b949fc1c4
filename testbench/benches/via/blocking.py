"""Blocking: latency with receives that wait for an interrupt, at once or after spinning for a
while; and the difference to polling."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....host.via.session import BLOCK, POLL
from ....layouts.description import Description
from ..benchmark import Tell
from ..common.headline import Series
from ..common.latencies import Latencies
from ..common.transfers import sizes
from ..common.varied_latency import VariedLatency
from ..fields import setting
from .pingpong import Plan, measure_plan

__all__ = ["Blocking", "BlockingParameters"]

POLLING, BLOCKING, SPINNING = "polling", "blocking", "spin, then block"
LONG = 1_000_000
"""Cycles of spinning, longer than any of these messages takes."""


@dataclass(frozen=True)
class BlockingParameters:
    """Messages of several sizes."""

    sizes: Sequence[int] = setting([4], "bytes of a message", unit="bytes")
    spin: int = setting(LONG, "spinning before a wait", unit="cycles")


class Blocking(VariedLatency):
    """Receives that wait for an interrupt."""

    Parameters = BlockingParameters
    report = Latencies("Blocking: latency of VipRecvWait and of polling", "n", sizes=True,
                       base=POLLING)

    def parameters(self, description: Description) -> BlockingParameters:
        """4 B to 32 KB."""
        found = sizes(min(32 << 10, description.memory.bytes // 64))
        return BlockingParameters(sorted({*found[::2], found[-1]}))

    async def measure(self, lab: Any, layer: str, parameters: BlockingParameters, tell: Tell
                      ) -> dict[str, Any]:
        """One run for each size and way to wait."""
        ways = {POLLING: (POLL, 0), BLOCKING: (BLOCK, lab.description.via.spin),
                SPINNING: (BLOCK, parameters.spin)}
        found: dict[str, Any] = {variant: {} for variant in ways}
        steps = [(variant, size) for variant in ways for size in parameters.sizes]
        for index, (variant, size) in enumerate(steps):
            tell(f"{variant}, {size} bytes", index, len(steps))
            how, spin = ways[variant]
            found[variant][size] = await measure_plan(lab, Plan(size, how=how,
                                                                settings={"via.spin": spin}))
        return found

    def series(self, document: Mapping[str, Any]) -> Series:
        """Difference of blocking to polling, over size."""
        return self.difference(document, BLOCKING, "blocking less polling")
