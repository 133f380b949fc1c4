"""Bandwidth of VIA, and the block that bounds it."""

from collections.abc import Mapping
from typing import Any

from ....layouts.doors import NicDesign
from ...results.document import number
from ...truth.bound import bound, shares
from ...truth.messages import posted
from ...truth.spans import spans
from ..bandwidth import Bandwidth
from .stream import measure_stream

__all__ = ["ViaBandwidth"]


class ViaBandwidth(Bandwidth):
    """Its runs are traced."""

    async def stream(self, lab: Any, layer: str, size: int, count: int) -> dict[str, Any]:
        return await measure_stream(lab, size, count)

    def bounds(self, runs: Mapping[int, Mapping[str, Any]], design: NicDesign) -> dict[str, Any]:
        return {str(size): _bound(run, design) for size, run in runs.items()}


def _bound(run: Mapping[str, Any], design: NicDesign) -> dict[str, Any]:
    """The block that the second half of a stream waited for, from the trace."""
    marks = spans(run["marks"])
    sent = posted(marks, 0, run["begin"])[:len(run["issued"])]
    start, stop = sent[len(sent) // 2].begin, run["begin"] + run["done"]
    found = bound(shares(run["events"], marks, start, stop, 0, 1, design))
    return {"block": found.block, "busy": number(found.busy),
            "shares": {share.block: number(share.busy) for share in found.shares}}
