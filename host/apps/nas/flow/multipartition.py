"""The cube cut into q³ cells for q² processes, q to each: along each axis a process has a cell in
each of the q layers, so that all work in each stage of a sweep.

The neighbours of all cells of a process on one side are cells of one process, so what goes there
goes in one message.
"""

from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np

from ..process import Process
from .equations import HALO, Places, forcing, residual, start

__all__ = ["Cell", "Cells", "Partition", "WORD"]

WORD = 8


class Partition:
    """``edge`` points an axis for ``procs`` processes, a square."""

    def __init__(self, edge: int, procs: int) -> None:
        self.edge = edge
        self.layers = isqrt(procs)

    def places(self, rank: int) -> list[tuple[int, int, int]]:
        """Of each cell of ``rank`` its layer along each axis."""
        layers = self.layers
        return [((rank % layers + layer) % layers, (rank // layers - layer) % layers, layer)
                for layer in range(layers)]

    def points(self, layer: int) -> slice:
        """The points of a layer; the first ones are a point thicker."""
        each, rest = divmod(self.edge, self.layers)
        begin = layer * each + min(layer, rest)
        return slice(begin, begin + each + (layer < rest))

    def neighbours(self, rank: int, axis: int) -> tuple[int, int]:
        """The processes of the cells before and after along ``axis``."""
        layers = self.layers
        first, second = rank % layers, rank // layers
        found = []
        for way in (-1, 1):
            steps = ((way, 0), (0, way), (-way, way))[axis]
            found.append((first + steps[0]) % layers + layers * ((second + steps[1]) % layers))
        return found[0], found[1]


@dataclass
class Cell:
    """A cell of a process.

    Attributes
    ----------
    layers
        Its place along each axis.
    places
        Its points in the cube.
    u
        The variables, with a halo.
    change
        What the variables will change by, without a halo.
    inner
        Its points but for the sides of the cube, as an index by the third, second and first axis.
    """

    layers: tuple[int, int, int]
    places: Places
    u: Any
    change: Any
    inner: tuple[slice, slice, slice]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Points by the third, second and first axis."""
        third, second, first = self.change.shape[1:]
        return third, second, first

    @property
    def points(self) -> int:
        """The number of points."""
        third, second, first = self.shape
        return third * second * first

    def around(self, axis: int) -> Any:
        """The variables at the inner points, and one more on each side along ``axis``."""
        index: list[Any] = [slice(None)]
        for place, inner in enumerate(self.inner):
            more = int(place == 2 - axis)
            index.append(slice(inner.start + HALO - more, inner.stop + HALO + more))
        return self.u[tuple(index)]

    def lines_around(self, axis: int) -> Any:
        """The same by variable, point along ``axis``, line."""
        around = np.moveaxis(self.around(axis), 3 - axis, 1)
        return around.reshape(5, around.shape[1], -1)

    def inner_change(self) -> Any:
        """The changes at the inner points."""
        return self.change[(slice(None), *self.inner)]

    def lines_of_change(self, axis: int) -> Any:
        """The same by point along ``axis``, variable, line; not to be changed."""
        found = np.moveaxis(self.inner_change(), 3 - axis, 0)
        return found.reshape(found.shape[0], 5, -1)

    def set_lines_of_change(self, axis: int, values: Any) -> None:
        """The changes at the inner points, as :meth:`lines_of_change` has them."""
        inner = np.moveaxis(self.inner_change(), 3 - axis, 0)
        inner[:] = values.reshape(inner.shape)


class Cells:
    """The cells of one process."""

    def __init__(self, process: Process, partition: Partition, step: float) -> None:
        self._process = process
        self.partition = partition
        self.edge = edge = partition.edge
        self._step = step
        self.cells = []
        for layers in partition.places(process.rank):
            first, second, third = map(partition.points, layers)
            shape = tuple(place.stop - place.start for place in (third, second, first))
            inner = [slice(int(place.start == 0), place.stop - place.start
                           - int(place.stop == edge)) for place in (third, second, first)]
            self.cells.append(Cell(layers, (first, second, third),
                                   np.ones((5, *(count + 2 * HALO for count in shape))),
                                   np.zeros((5, *shape)), (inner[0], inner[1], inner[2])))
        self._faces = [[self._buffers(axis, side) for side in range(2)] for axis in range(3)]
        self._norms, self._all_norms = process.empty(5), process.empty(5)

    @property
    def weights(self) -> tuple[float, float]:
        """Of a second and of a first difference along an axis, in an implicit step."""
        return self._step * float((self.edge - 1) ** 2), self._step * (self.edge - 1) / 2

    @property
    def points(self) -> int:
        """Of all cells."""
        return sum(cell.points for cell in self.cells)

    def at(self, axis: int, layer: int) -> Cell:
        """The cell in ``layer`` along ``axis``."""
        return next(cell for cell in self.cells if cell.layers[axis] == layer)

    def load(self) -> None:
        """The start, in no time."""
        for cell in self.cells:
            first, second, third = cell.places
            cell.u[:, HALO:-HALO, HALO:-HALO, HALO:-HALO] = \
                start(self.edge)[:, third, second, first]

    # Faces

    def _with_neighbour(self, axis: int, side: int) -> list[Cell]:
        """The cells that have a cell before (side 0) or after (1) along ``axis``."""
        outer = (0, self.partition.layers - 1)[side]
        return [cell for cell in self.cells if cell.layers[axis] != outer]

    def _buffers(self, axis: int, side: int) -> Any:
        """What comes from, and goes to, ``side``."""
        size = sum(5 * HALO * cell.points // cell.shape[2 - axis]
                   for cell in self._with_neighbour(axis, side))
        return self._process.empty((2, size))

    async def swap(self) -> None:
        """Two layers of faces, with all six neighbours at once."""
        process, comm = self._process, self._process.comm
        if self.partition.layers == 1:
            return
        both = [(axis, side, self.partition.neighbours(process.rank, axis)[side])
                for axis in range(3) for side in range(2)]
        requests = [await comm.Irecv(self._faces[axis][side][0], other, 2 * axis + 1 - side)
                    for axis, side, other in both]
        for axis, side, other in both:
            process.do(self._pack, axis, side)
            requests.append(await comm.Isend(self._faces[axis][side][1], other, 2 * axis + side))
        await requests[0].Waitall(requests)
        for axis, side, _ in both:
            process.do(self._unpack, axis, side)

    @staticmethod
    def _layer(axis: int, begin: int) -> Any:
        index: list[Any] = [slice(None), *[slice(HALO, -HALO)] * 3]
        index[3 - axis] = slice(begin, begin + HALO or None)
        return tuple(index)

    def _pack(self, axis: int, side: int) -> None:
        buffer, at = self._faces[axis][side][1], 0
        for cell in self._with_neighbour(axis, side):
            face = cell.u[self._layer(axis, (HALO, -2 * HALO)[side])]
            buffer[at:at + face.size] = face.reshape(-1)
            at += face.size

    def _unpack(self, axis: int, side: int) -> None:
        buffer, at = self._faces[axis][side][0], 0
        for cell in self._with_neighbour(axis, side):
            halo = cell.u[self._layer(axis, (0, -HALO)[side])]
            halo[:] = buffer[at:at + halo.size].reshape(halo.shape)
            at += halo.size

    # The arithmetic

    def take_residual(self) -> None:
        """The changes of a step in time, explicitly."""
        for cell in self.cells:
            first, second, third = cell.places
            cell.change[:] = self._step * (residual(cell.u, cell.places, self.edge)
                                           - forcing(self.edge)[:, third, second, first])

    def add(self) -> None:
        """The new variables."""
        for cell in self.cells:
            cell.u[:, HALO:-HALO, HALO:-HALO, HALO:-HALO] += cell.change

    async def norms(self) -> list[float]:
        """The norms of the residuals over the whole cube."""
        def squares() -> None:
            self._norms[:] = sum((cell.inner_change() ** 2).sum(axis=(1, 2, 3))
                                 for cell in self.cells)

        self._process.do(squares)
        await self._process.comm.Allreduce(self._norms, self._all_norms)
        return (np.sqrt(self._all_norms / (self.edge - 2) ** 3) / self._step).tolist()
