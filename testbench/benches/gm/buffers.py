"""Buffer management over GM: latency if every send and every receive has a new buffer on pages of
its own. The difference to the plain ping-pong is the cost of translation."""

from ..common.latencies import Latencies
from .two_ways import TwoWays

__all__ = ["GmBuffers"]


class GmBuffers(TwoWays):
    """Fresh buffers."""

    report = Latencies("Buffers: latency with fresh pages for every send and receive", "n",
                       sizes=True, base="same buffer")
    plans = {"same buffer": {}, "fresh buffers": {"fresh": True}}
