"""The part that SP and BT share: an implicit step is a product of three, one for each axis, and
each of these is systems along the lines of that axis.

A stage of a sweep eliminates the unknowns of a process's cell in one layer, with what the stage
before left at its last points, for all lines in one message; the way back substitutes them. Of a
point's price a quarter is for the residual, and a quarter for each axis, half of it each way.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import isqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..kernel import Kernel, Messages, Value, times
from ..process import Process
from .equations import HALO
from .multipartition import WORD, Cell, Cells, Partition

__all__ = ["Alternating", "Size"]

QUARTER = Fraction(1, 4)


class Size(NamedTuple):
    """A class: points an axis, iterations, the step in time; the residuals' norms after the last
    iteration."""

    edge: int
    iterations: int
    step: float
    norms: tuple[float, ...]


class Alternating(Kernel):
    """SP or BT.

    Attributes
    ----------
    item
        What a point's computation is charged as.
    forth, back
        Numbers for each line in a message of each way.
    """

    item: ClassVar[str]
    forth: ClassVar[int]
    back: ClassVar[int]

    def __init__(self, size: str, procs: int) -> None:
        super().__init__(size, procs)
        self._class: Size = self.classes[size]
        self.iterations = self._class.iterations
        self.partition = Partition(self._class.edge, procs)

    @classmethod
    def refuses(cls, size: str, procs: int) -> str:
        if isqrt(procs) ** 2 != procs:
            return "must be a square"
        most = (cls.classes[size].edge // 4) ** 2
        return "" if procs <= most else f"at most {most}"

    @abstractmethod
    def lines(self, layers: tuple[int, int, int], axis: int) -> int:
        """For how many lines a message of the cell in ``layers`` along ``axis`` has room."""

    @abstractmethod
    def begin(self, cells: Cells) -> None:
        """Before the first axis: change the right sides."""

    @abstractmethod
    def eliminate(self, cells: Cells, cell: Cell, axis: int, came: Any) -> tuple[Any, Any]:
        """Eliminate along ``axis``, behind what ``came`` (an array of ``forth`` by lines, or None).
        Returns what :meth:`substitute` needs, and what goes on."""

    @abstractmethod
    def substitute(self, cell: Cell, axis: int, kept: Any, came: Any) -> Any:
        """Substitute along ``axis``, before what ``came`` (``back`` by lines, or None), and change
        the cell. Returns what goes on."""

    def memory(self) -> int:
        lines = max(self.lines(layers, axis) for rank in range(self.procs)
                    for layers in self.partition.places(rank) for axis in range(3))
        layer = self.partition.points(0).stop
        return WORD * (2 * (self.forth + self.back) * lines
                       + 12 * 5 * HALO * layer ** 2 * self.partition.layers)

    async def run(self, process: Process) -> Any:
        """The norms of the residuals."""
        cells = Cells(process, self.partition, self._class.step)
        sweeps = _Sweeps(process, self, cells)
        cells.load()
        await sweeps.iterate()
        cells.load()
        await process.begin()
        for _ in process.iterations(self.iterations):
            await sweeps.iterate()
        process.end()
        await cells.swap()
        process.do(cells.take_residual)
        return await cells.norms()

    def verify(self, answers: Sequence[Any]) -> list[Value]:
        return [Value(f"norm of residual {number + 1}", found, wanted, 1e-8)
                for number, (found, wanted) in enumerate(zip(answers[0], self._class.norms,
                                                             strict=True))]

    def messages(self, rank: int, iterations: int) -> Messages:
        found: Messages = Counter()
        partition = self.partition
        last = partition.layers - 1
        for axis in range(3):
            counts = Counter[int]()
            for layers in partition.places(rank):
                points = [partition.points(layer) for layer in layers]
                sizes = [point.stop - point.start for point in points]
                del sizes[axis]
                lines = self.lines(layers, axis)
                if layers[axis] > 0:
                    counts[0] += sizes[0] * sizes[1]
                    found["Isend", WORD * self.back * lines] += 1
                if layers[axis] < last:
                    counts[1] += sizes[0] * sizes[1]
                    found["Isend", WORD * self.forth * lines] += 1
            for face in counts.values():
                found["Isend", WORD * 5 * HALO * face] += 1
        return times(found, iterations)


class _Sweeps:
    """The iterations of one process."""

    def __init__(self, process: Process, kernel: Alternating, cells: Cells) -> None:
        self._process = process
        self._kernel = kernel
        self._cells = cells
        room = max(kernel.lines(cell.layers, axis) for cell in cells.cells for axis in range(3))
        self._buffers = process.empty((2, 2, max(kernel.forth, kernel.back) * room))
        """By way: what comes, and what goes."""
        self._kept: dict[int, Any] = {}
        self._goes: Any = None

    async def iterate(self) -> None:
        """An implicit step."""
        process, kernel, cells = self._process, self._kernel, self._cells
        await cells.swap()
        await process.work(kernel.item, QUARTER * cells.points, cells.take_residual)
        process.do(kernel.begin, cells)
        for axis in range(3):
            layers = range(cells.partition.layers)
            before, after = cells.partition.neighbours(process.rank, axis)
            await self._sweep(axis, list(layers), before, after, 0)
            await self._sweep(axis, list(reversed(layers)), after, before, 1)
        process.do(cells.add)

    async def _sweep(self, axis: int, layers: Sequence[int], before: int, after: int, way: int
                     ) -> None:
        process, comm, kernel = self._process, self._process.comm, self._kernel
        numbers = (kernel.forth, kernel.back)[way]
        sent = None
        for layer in layers:
            cell = self._cells.at(axis, layer)
            size = numbers * kernel.lines(cell.layers, axis)
            came = None
            if layer != layers[0]:
                came = self._buffers[way, 0, :size]
                request = await comm.Irecv(came, before, way)
                await request.Wait()
            await process.work(kernel.item, QUARTER / 2 * cell.points, self._solve, cell, axis, way,
                               came)
            if layer != layers[-1]:
                if sent is not None:
                    await sent.Wait()
                goes = self._buffers[way, 1, :size]
                process.do(self._pack, goes)
                sent = await comm.Isend(goes, after, way)
        if sent is not None:
            await sent.Wait()

    def _solve(self, cell: Cell, axis: int, way: int, came: Any) -> None:
        numbers = (self._kernel.forth, self._kernel.back)[way]
        if came is not None:
            lines = int(np.prod([inner.stop - inner.start for place, inner in enumerate(cell.inner)
                                 if place != 2 - axis]))
            came = came[:numbers * lines].reshape(numbers, lines)
        if way == 0:
            kept, self._goes = self._kernel.eliminate(self._cells, cell, axis, came)
            self._kept[cell.layers[axis]] = kept
        else:
            self._goes = self._kernel.substitute(cell, axis, self._kept[cell.layers[axis]], came)

    def _pack(self, goes: Any) -> None:
        goes[:self._goes.size] = self._goes.reshape(-1)
