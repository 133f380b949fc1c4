"""Fourier transform of a cube of n x n x n complex points, in slabs.

A process has some planes of the first axis, whose lines along the other two it transforms. A
transpose then gives it planes of the second axis instead, with whole lines along the first: it
transforms these, and a second transpose puts everything back. In a transpose each process puts what
is another's into the other's memory, in blocks of up to 4 KB, each of which is acknowledged. What a
process keeps is copied.

``apps.fft_point`` is the price of a point in a transform along one axis. At the study's size (256
points, 8 MB and more a process) points come from memory and go back there in each such pass: 42
bytes read and 42 written for a point of 16, as two of three passes go across the lines. That is
fitted: with it the study's SMP, whose CPUs wait for the memory, takes as long as published.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..port.node import Node
from ..splitc import GlobalPointer, SplitC, SpreadArray
from ..splitc.procedures import Procedure
from .computing import compute
from .data import load, save
from .phases import Phases, communication, computation
from .streaming import Streaming

__all__ = ["PHASES", "Program", "check", "defaults", "inputs", "messages", "needed", "traffic",
           "turns", "work"]

PHASES = [computation("axes 2, 3"), communication("transpose"), computation("axis 1"),
          communication("transpose back"), communication("barrier")]
SIZES = ("points",)
BY_DATA = False
POINT = 16
PASS_BYTES = 42
BLOCK = 4096
"""Most bytes of a message."""
TOLERANCE = 1e-12
"""Most difference from numpy's transform, of its largest value: numpy sums in another order, so
rounding errors of 2^-53 add up differently over the 3 log2(n) stages."""


def defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters, with what is not ``given`` at its default."""
    return {"points": 32, "seed": 1, **given}


def work(parameters: Mapping[str, Any]) -> int:
    """Points of the cube."""
    return int(parameters["points"]) ** 3


def planes(points: int, procs: int, process: int) -> range:
    """The planes of ``process``."""
    return range(process * points // procs, (process + 1) * points // procs)


def _slab(points: int, procs: int) -> int:
    """Bytes of the thickest slab."""
    return -(-points // procs) * points * points * POINT


def needed(parameters: Mapping[str, Any], procs: int) -> int:
    """Bytes of memory that a process takes: its slab as it leaves and as it arrives."""
    return 2 * _slab(parameters["points"], procs)


def inputs(parameters: Mapping[str, Any], procs: int) -> Any:
    """The cube: real and imaginary parts from -1 to 1."""
    points = parameters["points"]
    raw = np.random.PCG64(parameters["seed"]).random_raw(2 * points ** 3) >> np.uint64(11)
    return (raw / 2.0 ** 52 - 1).view(np.complex128).reshape(points, points, points)


def turns(parameters: Mapping[str, Any]) -> int:
    """Phases of a process, one behind the other."""
    return len(PHASES)


class Program:
    """A process of the transform. ``given``: the whole cube."""

    def __init__(self, node: Node, given: Any, parameters: Mapping[str, Any]) -> None:
        self.procedures: list[Procedure] = []
        self._node = node
        self._given = given
        self._points = parameters["points"]

    async def run(self, sc: SplitC, phases: Phases) -> Any:
        """The planes of this process, transformed along all axes."""
        points, procs, me = self._points, sc.PROCS, sc.MYPROC
        here, there = [await sc.all_spread_malloc(procs, _slab(points, procs)) for _ in range(2)]
        over = Streaming(self._node)
        mine = planes(points, procs, me)
        count = len(mine) * points * points
        save(self._node, here.at(me), self._given[mine.start:mine.stop])
        await sc.barrier()
        with phases("axes 2, 3"):
            await compute(sc, "fft_point", 2 * count, over, PASS_BYTES)
        slab = load(self._node, here.at(me), count, np.complex128)
        slab = np.fft.fftn(slab.reshape(len(mine), points, points), axes=(1, 2))
        with phases("transpose"):
            slab = await self._transpose(sc, slab, here, there, axis=1)
        with phases("axis 1"):
            await compute(sc, "fft_point", count, over, PASS_BYTES)
        slab = np.fft.fft(slab, axis=0)
        with phases("transpose back"):
            slab = await self._transpose(sc, slab, there, here, axis=0)
        with phases("barrier"):
            await sc.barrier()
        return slab

    async def _transpose(self, sc: SplitC, slab: Any, here: SpreadArray, there: SpreadArray, *,
                         axis: int) -> Any:
        """Cut ``slab`` along ``axis``, put each part from ``here`` to ``there`` at the process that
        gets it, and return what has arrived, whole along that axis and cut along the other."""
        points, procs, me = self._points, sc.PROCS, sc.MYPROC
        ranges = [planes(points, procs, process) for process in range(procs)]
        unit = points * POINT
        parts = np.split(slab, [one.start for one in ranges[1:]], axis=axis)
        save(self._node, here.at(me), np.concatenate([part.reshape(-1) for part in parts]))
        mine = ranges[me]
        for step in range(procs):
            other = (me + step) % procs
            length = unit * len(mine) * len(ranges[other])
            source = here.at(me) + unit * len(mine) * ranges[other].start
            target = there.at(other) + unit * mine.start * len(ranges[other])
            block = BLOCK if step else max(1, length)  # its own part is one copy
            for at in range(0, length, block):
                await sc.bulk_put(GlobalPointer(other, target + at, ""), source + at,
                                  min(block, length - at))
        await sc.sync()
        await sc.barrier()
        found = load(self._node, there.at(me), points * len(mine) * points, np.complex128)
        arrived = np.split(found, [one.start * len(mine) * points for one in ranges[1:]])
        shapes = [(len(one), len(mine), points) if axis else (len(mine), len(one), points)
                  for one in ranges]
        return np.concatenate([part.reshape(shape) for part, shape in
                               zip(arrived, shapes, strict=True)], axis=1 - axis)


def check(results: Sequence[Any], given: Any, parameters: Mapping[str, Any]) -> tuple[bool, str]:
    """Tells whether the planes are those of numpy's transform, to within rounding."""
    wanted, found = np.fft.fftn(given), np.concatenate(list(results))
    if found.shape != wanted.shape:
        return False, f"{found.size} points, not {wanted.size}"
    wrong = int(np.count_nonzero(~(np.abs(found - wanted) <= TOLERANCE * np.abs(wanted).max())))
    return not wrong, (f"{wrong} of {wanted.size} points differ from numpy's transform" if wrong
                       else f"all {wanted.size} points are those of numpy's transform")


def traffic(given: Any, parameters: Mapping[str, Any], procs: int) -> list[dict[int, int]]:
    """Blocks that each process sends to each other one, in both transposes."""
    points = parameters["points"]
    thick = [len(planes(points, procs, process)) for process in range(procs)]
    return [{other: 2 * blocks for other in range(procs)
             if other != me and (blocks := -(-thick[me] * thick[other] * points * POINT // BLOCK))}
            for me in range(procs)]


def messages(given: Any, parameters: Mapping[str, Any], procs: int) -> list[dict[str, int]]:
    """Messages of each process by kind, besides those of collective calls."""
    return [{"bulk_put": sum(one.values())} if one else {}
            for one in traffic(given, parameters, procs)]
