"""MG: four V cycles of multigrid for ∇²u = v on a periodic cube.

Processes divide the third axis, the second and the first, in this order; an undivided axis swaps
its faces with itself. Each operation on a grid of a level is followed by a swap of all its faces: 3
axes, two messages each. A face includes what the axes before it have brought, so edges and corners
come along.

``apps.mg_point`` is charged for each point that an operation writes.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .generator import SEED, uniform
from .kernel import Kernel, Messages, Value, allreduce, log2, power_of_two, times
from .process import Process

__all__ = ["Multigrid"]

LAPLACE = (-8 / 3, 0.0, 1 / 6, 1 / 12)
"""Weights of a point, its faces' neighbours, edges' and corners'."""
SMOOTHER = (-3 / 8, 1 / 32, -1 / 64, 0.0)
PROJECTION = (1 / 2, 1 / 4, 1 / 8, 1 / 16)
CHARGES = 10
"""Points where v is 1, and where it is -1."""


class Size(NamedTuple):
    """A class: 2^levels points an axis; the residual's norm after the last cycle."""

    levels: int
    norm: float


class Multigrid(Kernel):
    """MG."""

    name = "MG"
    title = "multigrid: swaps of faces on grids of all sizes"
    iterations = 4
    classes = {
        "S": Size(5, 0.5307707005734e-4),
        "W": Size(7, 0.6467329375339e-5),
        "A": Size(8, 0.2433365309069e-5),
    }

    def __init__(self, size: str, procs: int) -> None:
        super().__init__(size, procs)
        self._class: Size = self.classes[size]
        first = log2(procs) // 3
        second = (log2(procs) - first) // 2
        self.divided = (1 << first, 1 << second, procs >> first + second)
        """Processes along each axis."""

    @cached_property
    def _charges(self) -> list[tuple[Any, float]]:
        """Where v is not 0: the places of the least and the largest numbers of a random grid."""
        edge = 1 << self._class.levels
        numbers = uniform(SEED, edge ** 3)
        order = np.argpartition(numbers, [CHARGES, len(numbers) - CHARGES - 1])
        return [(np.array(np.unravel_index(places, (edge,) * 3)), value)
                for places, value in ((order[:CHARGES], -1.0), (order[-CHARGES:], 1.0))]

    @classmethod
    def refuses(cls, size: str, procs: int) -> str:
        return power_of_two(procs) or ("" if procs <= 8 else "at most 8")

    def points(self, level: int) -> tuple[int, int, int]:
        """A process's points along each axis at ``level``."""
        first, second, third = self.divided
        return (1 << level) // first, (1 << level) // second, (1 << level) // third

    def faces(self, level: int) -> list[int]:
        """Points of a face across each axis at ``level``."""
        first, second, third = self.points(level)
        return [second * third, (first + 2) * third, (first + 2) * (second + 2)]

    def memory(self) -> int:
        return 8 * 4 * max(self.faces(self._class.levels)) + 64

    async def run(self, process: Process) -> float:
        """The norm of the residual."""
        local = _Local(process, self, self._class.levels)
        local.load(self._charges)
        await local.residual_of_v()
        await local.cycle()
        local.load(self._charges)
        await process.begin()
        await local.residual_of_v()
        await local.norm()
        for _ in process.iterations(self.iterations):
            await local.cycle()
            await local.residual_of_v()
        norm = await local.norm()
        process.end()
        return norm

    def verify(self, answers: Sequence[Any]) -> list[Value]:
        return [Value("norm of the residual", answers[0], self._class.norm, 1e-8)]

    def messages(self, rank: int, iterations: int) -> Messages:
        top = self._class.levels
        # Of a cycle: all levels but the top are projected to; all are smoothed; all but the lowest
        # have their residual taken, and the top once more behind the cycle.
        swaps = Counter({level: (level < top) + 1 + (level > 1) + (level == top)
                         for level in range(1, top + 1)})
        found: Messages = Counter()
        for level, count in swaps.items():
            for face in self.faces(level):
                found["Send", 8 * face] += 2 * count * iterations
        for face in self.faces(top):
            found["Send", 8 * face] += 2
        return found + times(allreduce(8, self.procs), 4)


class _Local:
    """The grids of one process: arrays by the third, second and first axis, with halos."""

    def __init__(self, process: Process, kernel: Multigrid, top: int) -> None:
        self._process = process
        self._top = top
        first, second, third = kernel.divided
        rank = process.rank
        self._place = (rank % first, rank // first % second, rank // (first * second))
        steps = (1, first, first * second)
        self._neighbours = [
            [rank + ((at + way) % count - at) * step for way in (1, -1)]
            for at, count, step in zip(self._place, kernel.divided, steps, strict=True)]
        self._points = {level: kernel.points(level) for level in range(1, top + 1)}
        shapes = {level: tuple(count + 2 for count in reversed(points))
                  for level, points in self._points.items()}
        self._u = {level: np.zeros(shape) for level, shape in shapes.items()}
        self._r = {level: np.zeros(shape) for level, shape in shapes.items()}
        self._v = np.zeros(shapes[top])
        self._buffers = process.empty((4, max(kernel.faces(top))))
        self._scalars = process.empty((4, 1))

    def load(self, charges: Sequence[tuple[Any, float]]) -> None:
        """u = 0, and v, in no time."""
        self._u[self._top][:] = 0
        self._v[:] = 0
        points = self._points[self._top]
        for places, value in charges:
            for z, y, x in places.T:
                at = [int(one) - place * count for one, place, count
                      in zip((x, y, z), self._place, points, strict=True)]
                if all(0 <= one < count for one, count in zip(at, points, strict=True)):
                    self._v[at[2] + 1, at[1] + 1, at[0] + 1] = value

    def _count(self, level: int) -> int:
        first, second, third = self._points[level]
        return first * second * third

    async def _operate(self, level: int, grid: Any, function: Any, *arguments: Any) -> None:
        """An operation that writes ``grid`` of ``level``, and the swap of its faces."""
        await self._process.work("mg_point", self._count(level), function, grid, *arguments)
        await self._swap(grid, self._points[level])

    async def _swap(self, grid: Any, points: tuple[int, int, int]) -> None:
        """Faces to and from the neighbours, axis by axis."""
        comm, buffers = self._process.comm, self._buffers
        whole = self._process.whole
        for axis in range(3):
            # Axes before this one come with their halos.
            inner = [slice(None) if before < axis else slice(1, -1) for before in range(3)]
            shape = tuple(count + 2 if before < axis else count
                          for before, count in enumerate(points) if before != axis)[::-1]
            size = shape[0] * shape[1]
            face: list[Any] = [None, None]
            halo: list[Any] = [None, None]
            for way, (edge, beyond) in enumerate(((-2, 0), (1, -1))):
                face[way] = tuple(edge if one == axis else inner[one] for one in (2, 1, 0))
                halo[way] = tuple(beyond if one == axis else inner[one] for one in (2, 1, 0))
            after, before = self._neighbours[axis]
            requests = [await comm.Irecv(buffers[2, :size], before, 2 * axis),
                        await comm.Irecv(buffers[3, :size], after, 2 * axis + 1)]
            for way, neighbour in enumerate((after, before)):
                if whole:
                    buffers[way, :size] = grid[face[way]].reshape(-1)
                await comm.Send(buffers[way, :size], neighbour, 2 * axis + way)
            for way, request in enumerate(requests):
                await request.Wait()
                if whole:
                    grid[halo[way]] = buffers[2 + way, :size].reshape(shape)

    async def residual_of_v(self) -> None:
        """r = v - A u at the top."""
        top = self._top
        await self._operate(top, self._r[top], _residual, self._u[top], self._v)

    async def cycle(self) -> None:
        """A V cycle: u is corrected by what the coarser grids find for r."""
        u, r, top = self._u, self._r, self._top
        for level in range(top, 1, -1):
            await self._operate(level - 1, r[level - 1], _project, r[level])
        u[1][:] = 0
        await self._operate(1, u[1], _smooth, r[1])
        for level in range(2, top + 1):
            if level < top:
                u[level][:] = 0
            await self._process.work("mg_point", self._count(level), _interpolate, u[level],
                                     u[level - 1])
            above = r[level] if level < top else self._v
            await self._operate(level, r[level], _residual, u[level], above)
            await self._operate(level, u[level], _smooth, r[level])

    async def norm(self) -> float:
        """The norm of r at the top; its largest element is looked for, too."""
        from ...mpi import MAX

        process, scalars = self._process, self._scalars
        await process.work("mg_point", self._count(self._top), self._squares)
        await process.comm.Allreduce(scalars[0], scalars[2])
        await process.comm.Allreduce(scalars[1], scalars[3], MAX)
        return float(np.sqrt(scalars[2, 0] / (self._count(self._top) * process.size)))

    def _squares(self) -> None:
        inner = self._r[self._top][1:-1, 1:-1, 1:-1]
        self._scalars[0] = (inner ** 2).sum()
        self._scalars[1] = abs(inner).max()


# The arithmetic: weighted sums over a point's 27 neighbours

def _neighbours(grid: Any) -> tuple[Any, Any, Any, Any]:
    """Of each inner point: it, and the sums of its neighbours at faces, edges and corners."""
    def along(array: Any, axis: int) -> tuple[Any, Any]:
        low, mid, high = (tuple(part if one == axis else slice(None) for one in range(3))
                          for part in (slice(None, -2), slice(1, -1), slice(2, None)))
        return array[mid], array[low] + array[high]

    centre, side = along(grid, 0)
    (centre, second), (side, edge) = along(centre, 1), along(side, 1)
    side = side + second
    (point, third), (face, first) = along(centre, 2), along(side, 2)
    diagonal, corner = along(edge, 2)
    return point, face + third, first + diagonal, corner


def _weighted(grid: Any, weights: tuple[float, ...]) -> Any:
    return sum(weight * part for weight, part in zip(weights, _neighbours(grid), strict=True)
               if weight)


def _residual(r: Any, u: Any, v: Any) -> None:
    r[1:-1, 1:-1, 1:-1] = v[1:-1, 1:-1, 1:-1] - _weighted(u, LAPLACE)


def _smooth(u: Any, r: Any) -> None:
    u[1:-1, 1:-1, 1:-1] += _weighted(r, SMOOTHER)


def _project(coarse: Any, fine: Any) -> None:
    """A coarse point lies on every other fine point, the second first."""
    coarse[1:-1, 1:-1, 1:-1] = _weighted(fine, PROJECTION)[1::2, 1::2, 1::2]


def _interpolate(fine: Any, coarse: Any) -> None:
    """Fine points between coarse ones get their mean."""
    for axis in range(3):
        before, after = (tuple(part if one == axis else slice(None) for one in range(3))
                         for part in (slice(None, -1), slice(1, None)))
        shape = list(coarse.shape)
        shape[axis] = 2 * (shape[axis] - 1)
        spread = np.empty(shape)
        even = tuple(slice(0, None, 2) if one == axis else slice(None) for one in range(3))
        odd = tuple(slice(1, None, 2) if one == axis else slice(None) for one in range(3))
        spread[even] = coarse[before]
        spread[odd] = 0.5 * (coarse[before] + coarse[after])
        coarse = spread
    fine += coarse
