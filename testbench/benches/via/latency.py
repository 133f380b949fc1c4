"""Latency of VIA: the plain ping-pong of one VI, polled."""

from typing import Any

from ..latency import Latency
from .pingpong import measure_trips

__all__ = ["ViaLatency"]


class ViaLatency(Latency):
    """Its runs are traced."""

    async def trips(self, lab: Any, layer: str, size: int, count: int, warm: int, *,
                    trace: bool = True) -> dict[str, Any]:
        return await measure_trips(lab, size, count, warm)
