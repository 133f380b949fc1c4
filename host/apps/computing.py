"""Charges computation, and polls during it."""

from ..splitc import SplitC
from .streaming import Streaming

__all__ = ["compute"]

SLICE = 1 << 20
"""CPU cycles that are charged at once if the program does not poll."""


async def compute(sc: SplitC, item: str, count: int, over: Streaming | None = None, each: int = 0
                  ) -> None:
    """Compute ``count`` of ``item``, one of the APP_ITEMS. The program polls whenever it has
    computed for ``apps.poll_interval`` CPU cycles, and others are then served. Each item changes
    ``each`` bytes of the data ``over`` which the computation goes, if any."""
    port = sc.node.port
    price = port.costs.rate[item]
    interval = sc.node.description.apps.poll_interval
    part = max(1, int((interval or SLICE) / price)) if price else max(1, count)
    while count > part:
        port.compute(item, part)
        if over is not None:
            await over.change(part * each)
        count -= part
        if interval:
            await sc.poll()
        else:
            await port.flush()
    port.compute(item, count)
    if over is not None:
        await over.change(count * each)
