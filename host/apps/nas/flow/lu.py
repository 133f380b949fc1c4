"""LU: two sweeps through the cube, plane by plane, each a wave over the processes.

Processes divide the first and the second axis. An iteration takes the residual; solves for the
lower triangle (points before this one along each axis) from the first plane to the last, and for
the upper one back; and swaps two layers of faces. In a plane a process waits for what those before
it computed at their edges (a pencil along each of the two axes), and sends its own.

``apps.lu_point`` is charged 6/20 for the residual of a point, and 7/20 for each sweep.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..kernel import Kernel, Messages, Value, allreduce, log2, power_of_two, times
from ..process import Process
from .equations import (
    HALO,
    diffusion,
    flux_jacobian,
    forcing,
    residual,
    start,
    viscous_jacobian,
)
from .wave import Wave

__all__ = ["LowerUpper"]

WORD = 8
OMEGA = 1.2
RESIDUAL, SWEEP = Fraction(6, 20), Fraction(7, 20)
LOWER, UPPER = 1, -1


class Size(NamedTuple):
    """A class: points an axis, iterations, the step in time; the residuals' norms after the last
    iteration, where they are known."""

    edge: int
    iterations: int
    step: float
    norms: tuple[float, ...] = ()


class LowerUpper(Kernel):
    """LU."""

    name = "LU"
    title = "flow, by sweeps of planes: many short messages, one after the other"
    classes = {
        "S": Size(12, 50, 0.5, (
            1.6196343210976702e-2, 2.1976745164821318e-3, 1.5179927653399185e-3,
            1.5029584435994323e-3, 3.4264073155896461e-2)),
        "W": Size(33, 300, 1.5e-3, (
            0.1236511638192e2, 0.1317228477799e1, 0.2550120713095e1, 0.2326187750252e1,
            0.2826799444189e2)),
        "A": Size(64, 250, 2.0, (
            7.7902107606689367e2, 6.3402765259692870e1, 1.9499249727292479e2,
            1.7845301160418537e2, 1.8384760349464247e3)),
    }

    def __init__(self, size: str, procs: int) -> None:
        super().__init__(size, procs)
        self._class: Size = self.classes[size]
        self.iterations = self._class.iterations
        self._grid = 1 << log2(procs) // 2, 1 << (log2(procs) + 1) // 2

    @classmethod
    def refuses(cls, size: str, procs: int) -> str:
        most = (cls.classes[size].edge // 4) ** 2
        return power_of_two(procs) or ("" if procs <= most else f"at most {most}")

    def block(self, rank: int) -> tuple[slice, slice]:
        """The points of a process along the first and the second axis."""
        across, along = self._grid
        return (_share(self._class.edge, across, rank % across),
                _share(self._class.edge, along, rank // across))

    def neighbours(self, rank: int) -> list[tuple[int | None, int | None]]:
        """The processes before and after along the first and the second axis."""
        across, along = self._grid
        axes = ((rank % across, across, 1), (rank // across, along, across))
        return [(rank - step if at else None, rank + step if at < count - 1 else None)
                for at, count, step in axes]

    def memory(self) -> int:
        longest = max(place.stop - place.start for rank in range(self.procs)
                      for place in self.block(rank))
        return 8 * HALO * 5 * WORD * self._class.edge * longest

    async def run(self, process: Process) -> Any:
        """The norms of the residuals."""
        local = _Local(process, self, self._class)
        local.load()
        await local.take_residual()
        await local.iterate()
        local.load()
        await local.take_residual()
        await process.begin()
        for _ in process.iterations(self.iterations):
            await local.iterate()
        norms = await local.norms()
        process.end()
        return norms

    def verify(self, answers: Sequence[Any]) -> list[Value]:
        return [Value(f"norm of residual {number + 1}", found, wanted, 1e-8)
                for number, (found, wanted) in enumerate(zip(answers[0], self._class.norms,
                                                             strict=True))]

    def messages(self, rank: int, iterations: int) -> Messages:
        edge = self._class.edge
        inner = [_inner(place, edge) for place in self.block(rank)]
        found: Messages = Counter()
        for axis, (before, after) in enumerate(self.neighbours(rank)):
            rows = inner[1 - axis].stop - inner[1 - axis].start
            place = self.block(rank)[1 - axis]
            for other in (before, after):
                if other is not None:
                    found["Send", 5 * WORD * rows] += edge - 2
                    found["Isend", HALO * 5 * WORD * edge * (place.stop - place.start)] += 1
        return times(found, iterations) + allreduce(5 * WORD, self.procs)


def _share(edge: int, parts: int, number: int) -> slice:
    """Part ``number`` of as many, the first ones a point longer."""
    each, rest = divmod(edge, parts)
    begin = number * each + min(number, rest)
    return slice(begin, begin + each + (number < rest))


def _inner(place: slice, edge: int) -> slice:
    """Without the sides of the cube."""
    return slice(max(place.start, 1), min(place.stop, edge - 1))


class _Local:
    """The block of one process."""

    def __init__(self, process: Process, kernel: LowerUpper, size: Size) -> None:
        self._process = process
        self._edge = edge = size.edge
        self._step = size.step
        first, second = kernel.block(process.rank)
        self._places = (first, second, slice(0, edge))
        self._neighbours = kernel.neighbours(process.rank)
        self._shape = (edge, second.stop - second.start, first.stop - first.start)
        inner = [_inner(place, edge) for place in self._places]
        self._inner = tuple(slice(one.start - place.start, one.stop - place.start)
                            for one, place in zip(inner, self._places, strict=True))[::-1]
        self._counts = [one.stop - one.start for one in reversed(inner)]
        self._points = self._shape[0] * self._shape[1] * self._shape[2]
        self._u = np.ones((5, *(count + 2 * HALO for count in self._shape)))
        self._residual = np.zeros((5, *self._shape))
        longest = max(self._shape[1:])
        self._faces = process.empty((2, 2, 5 * HALO * edge * longest))
        self._pencils = process.empty((2, 2, 5 * longest))
        """By axis: what comes, and what goes."""
        self._norms, self._all_norms = process.empty(5), process.empty(5)
        self._waves = {way: Wave(self._counts[1], self._counts[2]) for way in (LOWER, UPPER)}

    def load(self) -> None:
        """The start, in no time."""
        first, second, third = self._places
        self._u[:, HALO:-HALO, HALO:-HALO, HALO:-HALO] = start(self._edge)[:, third, second, first]

    async def iterate(self) -> None:
        """A step: both sweeps, the new variables, and their residual."""
        process, planes = self._process, self._counts[0]
        process.do(self._scale)
        share = SWEEP * self._points / planes
        for way in (LOWER, UPPER):
            process.do(self._prepare, way)
            for plane in range(planes):
                await self._receive(way)
                await process.work("lu_point", share, self._solve, way, plane)
                await self._send(way)
        process.do(self._correct)
        await self.take_residual()

    async def take_residual(self) -> None:
        """The residual, with two layers of the neighbours' points."""
        await self._swap()
        await self._process.work("lu_point", RESIDUAL * self._points, self._take_residual)

    async def norms(self) -> list[float]:
        """The norms of the residuals over the whole cube."""
        self._process.do(self._squares)
        await self._process.comm.Allreduce(self._norms, self._all_norms)
        return np.sqrt(self._all_norms / (self._edge - 2) ** 3).tolist()

    # Messages

    async def _swap(self) -> None:
        """Two layers of faces, along the first axis and then along the second."""
        process, comm = self._process, self._process.comm
        for axis, both in enumerate(self._neighbours):
            counts = list(self._shape)
            counts[2 - axis] = HALO
            size = 5 * counts[0] * counts[1] * counts[2]
            receives, sends = [], []
            for side, other in enumerate(both):
                if other is not None:
                    receives.append(await comm.Irecv(self._faces[0, side, :size], other, 1 - side))
            for side, other in enumerate(both):
                if other is not None:
                    if process.whole:
                        face = self._u[self._layers(axis, (HALO, -2 * HALO)[side])]
                        self._faces[1, side, :size] = face.reshape(-1)
                    sends.append(await comm.Isend(self._faces[1, side, :size], other, side))
            if receives:
                await receives[0].Waitall([*receives, *sends])
            for side, other in enumerate(both):
                if other is not None and process.whole:
                    self._u[self._layers(axis, (0, -HALO)[side])] = \
                        self._faces[0, side, :size].reshape(5, *counts)

    @staticmethod
    def _layers(axis: int, begin: int) -> Any:
        index: list[Any] = [slice(None), *[slice(HALO, -HALO)] * 3]
        index[3 - axis] = slice(begin, begin + HALO or None)
        return tuple(index)

    async def _receive(self, way: int) -> None:
        """The pencils of the processes before, in the order of the sweep."""
        for axis, both in enumerate(self._neighbours):
            other = both[0 if way == LOWER else 1]
            if other is not None:
                await self._process.comm.Recv(self._pencil(0, axis), other, way + 1)

    async def _send(self, way: int) -> None:
        for axis, both in enumerate(self._neighbours):
            other = both[1 if way == LOWER else 0]
            if other is not None:
                await self._process.comm.Send(self._pencil(1, axis), other, way + 1)

    def _pencil(self, goes: int, axis: int) -> Any:
        """Along the other axis of the plane."""
        return self._pencils[goes, axis, :5 * self._counts[1 + axis]]

    # The arithmetic

    def _take_residual(self) -> None:
        first, second, third = self._places
        self._residual = (residual(self._u, self._places, self._edge)
                          - forcing(self._edge)[:, third, second, first])

    def _scale(self) -> None:
        """The right side of the sweeps: by points, without the sides of the cube."""
        self._change = self._step * np.moveaxis(self._residual[(slice(None), *self._inner)], 0, -1)

    def _prepare(self, way: int) -> None:
        """The matrices of a sweep. Waves go from the first point on: an upper sweep turns the block
        around."""
        wave = self._waves[way]
        edge, step = self._edge, self._step
        two, one = step * float((edge - 1) ** 2), step * (edge - 1) / 2
        diagonal = np.eye(5) + 2 * two * sum(
            viscous_jacobian(self._at(axis, 0), axis) + diffusion(axis) for axis in range(3))
        inverse = np.linalg.inv(diagonal)
        before = []
        for axis in range(3):
            u = self._at(axis, -way)
            matrix = (-way * one * flux_jacobian(u, axis)
                      - two * (viscous_jacobian(u, axis) + diffusion(axis)))
            before.append(OMEGA * inverse @ matrix)
        change = self._change
        if way == LOWER:
            change = (inverse @ change[..., None])[..., 0]
        wave.load(way, change, *before)

    def _at(self, axis: int, shift: int) -> Any:
        """The variables at the inner points' neighbours."""
        index: list[Any] = [slice(None)]
        for place, inner in enumerate(self._inner):
            by = HALO + (shift if place == 2 - axis else 0)
            index.append(slice(inner.start + by, inner.stop + by))
        return self._u[tuple(index)]

    def _solve(self, way: int, plane: int) -> None:
        wave = self._waves[way]
        both = [pair[0 if way == LOWER else 1] for pair in self._neighbours]
        came = [None if other is None else self._pencil(0, axis).reshape(-1, 5)[::way]
                for axis, other in enumerate(both)]
        edges = wave.solve(plane, came)
        for axis, edge in enumerate(edges):
            self._pencil(1, axis)[:] = edge[::way].reshape(-1)
        if plane == self._counts[0] - 1:
            self._change = wave.result

    def _correct(self) -> None:
        inner = self._u[:, HALO:-HALO, HALO:-HALO, HALO:-HALO][(slice(None), *self._inner)]
        inner += np.moveaxis(self._change, -1, 0) / (OMEGA * (2 - OMEGA))

    def _squares(self) -> None:
        inner = self._residual[(slice(None), *self._inner)]
        self._norms[:] = (inner ** 2).sum(axis=(1, 2, 3))
