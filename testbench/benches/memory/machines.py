"""Published figures of the machines whose descriptions come with the package."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....layouts.description import Description
from ...descriptions import load
from .results import MachineFigure, MemoryResults, PublishedMachine

__all__ = ["MACHINES", "Figure", "compared"]

Ours = Callable[[Description, MemoryResults], float | None]


@dataclass(frozen=True)
class Figure:
    """A published figure, and the same figure of a description's results."""

    name: str
    unit: str
    published: float
    ours: Ours


def _cpu_cycles(name: str) -> Ours:
    """An access in cycles of the CPU's clock; None if it was not measured."""
    def ours(description: Description, results: MemoryResults) -> float | None:
        cycles = results.accesses.get(name)
        ratio = Fraction(description.cpu.clock_mhz) / Fraction(description.nic.clock_mhz)
        return None if cycles is None else cycles * float(ratio)
    return ours


def _half(name: str) -> Ours:
    """An access to the NIC of 32 bits, in cycles of the CPU's clock: where the bus takes one of 64
    bits in two transfers, half of that."""
    whole = _cpu_cycles(name)

    def ours(description: Description, results: MemoryResults) -> float | None:
        cycles = whole(description, results)
        return None if cycles is None else cycles * description.bus.pio_width / 8
    return ours


def _rate(of: Callable[[MemoryResults], float | None]) -> Ours:
    """Bytes a cycle as MB/s."""
    def ours(description: Description, results: MemoryResults) -> float | None:
        rate = of(results)
        return None if rate is None else rate * float(description.nic.clock_mhz)
    return ours


@dataclass(frozen=True)
class _Published:
    """Published values of a machine: KB of the second-level cache, CPU cycles of accesses, MB/s of
    copies by one CPU and by all, and of DMA over the SBus."""

    cache: int
    memory: int
    other: int | None
    cas: int
    copy: int
    every: int | None
    read: int
    write: int
    sbus: int


def _figures(said: _Published) -> list[Figure]:
    found = [
        Figure("second-level cache", "KB", said.cache,
               lambda _, results: results.cache_bytes / 1024),
        Figure("miss to memory", "CPU cycles", said.memory, _cpu_cycles("load miss")),
        Figure("CAS, line owned", "CPU cycles", said.cas, _cpu_cycles("cas owned")),
        Figure("copy, one CPU", "MB/s", said.copy, _rate(lambda results: results.copy["1"])),
        Figure("read from the NIC, 32 bits", "CPU cycles", said.read, _half("NIC read")),
        Figure("write to the NIC, 32 bits", "CPU cycles", said.write, _half("NIC write")),
        Figure("DMA of a NIC over the SBus", "MB/s", said.sbus,
               _rate(lambda results: results.dma)),
    ]
    if said.other is not None:
        found.insert(2, Figure("miss to another second-level cache", "CPU cycles", said.other,
                               _cpu_cycles("load dirty elsewhere")))
    if said.every is not None:
        found.append(Figure("copy, all CPUs", "MB/s", said.every,
                            _rate(lambda results: max(results.copy.values()))))
    return found


MACHINES = {
    "e5000": _figures(_Published(cache=512, memory=50, other=80, cas=15, copy=200, every=400,
                                 read=152, write=54, sbus=38)),
    "ultra170": _figures(_Published(cache=256, memory=42, other=None, cas=15, copy=160, every=None,
                                    read=114, write=34, sbus=38)),
}
"""Published figures of "Multi-Protocol Active Messages on a Cluster of SMP's" (Lumetta, Mainwaring,
Culler; SC '97), by the name of a description."""

_SECTIONS = ("nic", "node", "cpu", "memory", "bus")


def compared(description: Description, results: MemoryResults) -> PublishedMachine | None:
    """The machine that ``description`` is, and its figures; None if it is none of them. It is one
    if each knob that the machine's own description sets there has that value; with two levels of
    cache the second one is that which the machine's own description has."""
    for name, figures in MACHINES.items():
        own = load.load(name)
        differing = load.difference([Description(), own])
        if all(_value(description, knob) == _value(own, knob) for knob in differing
               if knob.split(".")[0] in _SECTIONS):
            return PublishedMachine(name, [
                MachineFigure(figure.name, figure.unit, figure.published,
                              figure.ours(description, results)) for figure in figures])
    return None


def _value(description: Description, knob: str) -> Any:
    section, key = knob.split(".")
    if knob == "cpu.cache_lines":
        key = "outer_lines"
    return getattr(getattr(description, section), key)
