"""Parameters and results of the memory system's benchmark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..fields import figure, setting

__all__ = ["MachineFigure", "MemoryParameters", "MemoryResults", "PublishedMachine"]


@dataclass(frozen=True)
class MemoryParameters:
    """The amount that is measured of a node."""

    lines: int = setting(16, "lines on which an access is measured")
    cpus: Sequence[int] = setting([1], "CPUs of the node that work at once")
    copied: int = setting(16 << 10, "bytes that each CPU copies", unit="bytes")
    rounds: int = setting(24, "times that each CPU counts, locks and meets the others")
    trips: int = setting(16, "round trips of a word between two CPUs")
    dma: int = setting(0, "bytes of a message that the NIC reads from memory; 0: none",
                       unit="bytes")


@dataclass(frozen=True)
class MachineFigure:
    """A published figure, and the description's."""

    name: str
    unit: str
    published: float
    ours: float | None


@dataclass(frozen=True)
class PublishedMachine:
    """A machine with published figures."""

    machine: str
    figures: Sequence[MachineFigure]


@dataclass(frozen=True, kw_only=True)
class MemoryResults:
    """Times of accesses to a node's memory, and rates."""

    accesses: Mapping[str, float] = figure("cycles", "an access, by where the line is")
    ping_pong: float | None = figure("cycles", "a word to another CPU; None: there is none")
    copy: Mapping[str, float] = figure("bytes/cycle", "copied by all, by number of CPUs")
    cas: Mapping[str, float] = figure("cycles", "a CAS that counts, by number of CPUs")
    locks: Mapping[str, Mapping[str, float]] = figure(
        "cycles", "hand-over of a lock, by its kind and number of CPUs")
    barrier: Mapping[str, float] = figure("cycles", "a barrier, by number of CPUs")
    dma: float | None = figure("bytes/cycle", "the NIC's longest bursts; None: it has none")
    cache_bytes: int = figure("bytes", "a CPU's cache")
    line_bytes: int = figure("bytes", "a line of it")
    published: PublishedMachine | None = figure("", "the machine that it is", optional=True)
