"""Latency and bandwidth between two processes, which the link carries, or the memory of a node."""

from fractions import Fraction

from ....host.am2.layer import LAYER
from ....layouts.description import Description
from ..bandwidth import Bandwidth
from ..latency import Latency

__all__ = ["Am2Bandwidth", "Am2Latency"]


def _carrier(description: Description) -> tuple[str, Fraction]:
    """What carries messages between processes 0 and 1, and its bytes a cycle."""
    assert LAYER.processes is not None
    (one, _), (other, _), *_ = LAYER.processes(description)
    if one == other and description.am2.protocol != "network":
        return "memory", Fraction(description.memory.bytes_per_cycle)
    return "link", Fraction(description.link.bytes_per_cycle)


class Am2Latency(Latency):
    """The same; between CPUs of a node the memory carries the bytes."""

    def carrier(self, description: Description) -> tuple[str, Fraction]:
        return _carrier(description)


class Am2Bandwidth(Bandwidth):
    """The same; between CPUs of a node the memory carries the bytes."""

    def carrier(self, description: Description) -> tuple[str, Fraction]:
        return _carrier(description)
