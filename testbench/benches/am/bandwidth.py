"""Bandwidth of Active Messages: asynchronous stores."""

from typing import Any

from ..bandwidth import Bandwidth
from ..common.transfers import measure_transfers

__all__ = ["AmBandwidth"]


class AmBandwidth(Bandwidth):
    """The same, of stores."""

    async def stream(self, lab: Any, layer: str, size: int, count: int) -> dict[str, Any]:
        return await measure_transfers(lab, "store_async", size, count, trace=False)
