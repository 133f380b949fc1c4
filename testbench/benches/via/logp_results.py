"""LogP of VIA as results: at each size, at the smallest one, with interrupts."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..common.gap_bound import GapBound
from ..common.logp_results import RegimeEnds
from ..fields import figure

__all__ = ["InterruptResults", "SizeResults", "ViaLogpResults"]


@dataclass(frozen=True, kw_only=True)
class SizeResults:
    """The parameters at one size. o_r and L are None if a message was not there when it was first
    looked for, g if it was not visible."""

    o_s: float = figure("cycles", "send overhead")
    o_s_alone: float = figure("cycles", "of a send to an empty queue, which links to nothing")
    o_r: float | None = figure("cycles", "receive overhead")
    L: float | None = figure("cycles", "latency: half a round trip without the overheads")
    g: float | None = figure("cycles", "gap: the time between messages of a long stream")
    rate: float = figure("cycles", "the same, visible or not")
    g_visible: bool = figure("", "the gap is more than the host's own cost")
    half: float = figure("cycles", "half a round trip")
    bound_by: str = figure("", "the block that bounds the gap")
    busy: float = figure("", "the share, 0 to 1, of the time in which it served")


@dataclass(frozen=True, kw_only=True)
class InterruptResults:
    """The receive overhead with interrupts, from the counting loop."""

    o_r: float = figure("cycles", "receive overhead")
    messages: int = figure("", "messages that came")
    alone: int = figure("", "counts of the loop alone")
    disturbed: int = figure("", "counts while messages came")
    per_count: float = figure("cycles", "of a count")


@dataclass(frozen=True, kw_only=True)
class ViaLogpResults(SizeResults):
    """The parameters at the smallest size, and over size."""

    size: int = figure("bytes", "of the smallest message")
    by_size: Mapping[str, SizeResults] = figure("", "by bytes of a message")
    o_s_per_byte: float | None = figure("cycles/byte", "growth of o_s over size")
    bound: GapBound = figure("", "the block that bounds the gap, and the busy shares")
    regimes: RegimeEnds = figure("", "regimes of the stream")
    interrupts: InterruptResults | None = figure("", "with an interrupt a message", optional=True)

    @property
    def rtt(self) -> float:
        """Round trip."""
        return 2 * self.half
