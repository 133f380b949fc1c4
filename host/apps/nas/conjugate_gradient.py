"""CG: the smallest eigenvalue of a sparse matrix, by inverse iteration; each step solves A z = x by
25 steps of conjugate gradients.

Processes form a grid of rows and columns, as many columns or twice as many; each has a block of
the matrix. A product's parts are summed along the rows of the grid, in log2(columns) exchanges,
and the result goes to the transposed process, which on the diagonal is the process itself. Sums of
scalars go along the rows, too.

``apps.cg_nonzero`` is charged for each nonzero of the block and product; operations on vectors are
in it.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .kernel import Kernel, Messages, Value, log2, power_of_two, times
from .process import Process
from .sparse import matrix

__all__ = ["ConjugateGradient"]

STEPS = 25


class Size(NamedTuple):
    """A class: order of the matrix, nonzeros of a random vector, shift, the eigenvalue's
    estimate."""

    order: int
    nonzeros: int
    shift: float
    zeta: float


class Grid(NamedTuple):
    """The processes as rows and columns."""

    rows: int
    columns: int

    @classmethod
    def of(cls, procs: int) -> "Grid":
        rows = 1 << log2(procs) // 2
        return cls(rows, procs // rows)

    def transposed(self, rank: int) -> int:
        """The process that gets this one's part of a product."""
        if self.rows == self.columns:
            return rank % self.rows * self.rows + rank // self.rows
        half = rank // 2
        return 2 * (half % self.rows * self.rows + half // self.rows) + rank % 2


class ConjugateGradient(Kernel):
    """CG."""

    name = "CG"
    title = "conjugate gradients: sums along rows, and transposes"
    iterations = 15
    classes = {
        "S": Size(1400, 7, 10.0, 8.5971775078648),
        "W": Size(7000, 8, 12.0, 10.362595087124),
        "A": Size(14000, 11, 20.0, 17.130235054029),
    }

    def __init__(self, size: str, procs: int) -> None:
        super().__init__(size, procs)
        self._class: Size = self.classes[size]
        self.grid = Grid.of(procs)

    @cached_property
    def _matrix(self) -> Any:
        return matrix(self._class.order, self._class.nonzeros, self._class.shift)

    @classmethod
    def refuses(cls, size: str, procs: int) -> str:
        columns, order = Grid.of(procs).columns, cls.classes[size].order
        return power_of_two(procs) or (
            "" if order % columns == 0 else f"{columns} columns of processes must divide {order}")

    @property
    def _lengths(self) -> tuple[int, int]:
        """Elements that a process sends along its row, and that it gets from the transposed
        one."""
        rows, columns = self.grid
        order = self._class.order
        return order // rows // (1 if rows == columns else 2), order // columns

    def memory(self) -> int:
        return 8 * (3 * self._class.order // self.grid.rows + 2 * self._lengths[1] + 16)

    async def run(self, process: Process) -> float:
        """The estimate of the eigenvalue."""
        local = _Local(process, self.grid, self._matrix, self._lengths)
        zeta = np.zeros(1)
        await local.solve()
        await local.normalise(zeta, self._class.shift)
        local.x[:] = 1
        await process.begin()
        for _ in process.iterations(self.iterations):
            await local.solve()
            await local.normalise(zeta, self._class.shift)
        process.end()
        return float(zeta[0])

    def verify(self, answers: Sequence[Any]) -> list[Value]:
        return [Value("zeta", answers[0], self._class.zeta, 1e-10)]

    def messages(self, rank: int, iterations: int) -> Messages:
        along, _ = self._lengths
        sums = log2(self.grid.columns)
        products = STEPS + 1
        found: Messages = Counter()
        if sums:
            found["Send", 8 * along] += products * (sums + 1)
        found["Send", 8] += (2 * STEPS + 2) * sums
        found["Send", 16] += sums
        return times(found, iterations)


class _Local:
    """The solver on one process: a block of the matrix, and its parts of the vectors."""

    def __init__(self, process: Process, grid: Grid, whole: Any, lengths: tuple[int, int]
                 ) -> None:
        self._process = process
        self._comm = process.comm
        rows, columns = grid
        row, column = divmod(process.rank, columns)
        height, width = whole.shape[0] // rows, whole.shape[0] // columns
        self._block = whole[row * height:(row + 1) * height, column * width:(column + 1) * width]
        self._transposed = grid.transposed(process.rank)
        self._partners = [row * columns + (column ^ 1 << bit)
                          for bit in reversed(range(log2(columns)))]
        self._square = rows == columns
        begin = 0 if self._square or process.rank % 2 == 0 else lengths[0]
        self._own = slice(begin, begin + lengths[0])
        self._others = slice(lengths[0] - begin, 2 * lengths[0] - begin)
        self._sum = process.empty(height)
        """A product's part, to be summed along the row."""
        self._came = process.empty(height)
        self._result = process.empty(width)
        """A product, of the transposed process."""
        self._scalars, self._scalars_came = process.empty(2), process.empty(2)
        self.x = np.ones(width)
        self._z, self._r, self._p = (np.zeros(width) for _ in range(3))
        self._rho = 0.0

    async def solve(self) -> None:
        """25 steps towards A z = x; the residual's norm."""
        self._process.do(self._start)
        await self._add_up(1)
        self._rho = float(self._scalars[0])
        for _ in range(STEPS):
            await self._multiply(self._p)
            self._process.do(self._curvature)
            await self._add_up(1)
            self._process.do(self._advance)
            await self._add_up(1)
            self._process.do(self._turn)
        await self._multiply(self._z)
        self._process.do(self._residual)
        await self._add_up(1)

    async def normalise(self, zeta: Any, shift: float) -> None:
        """The estimate of the eigenvalue, and the next x."""
        self._process.do(self._products)
        await self._add_up(2)
        self._process.do(self._next, zeta, shift)

    async def _multiply(self, vector: Any) -> None:
        """The matrix times ``vector``: this process's part of the product, and then the
        transposed process's."""
        comm, own = self._comm, self._own
        await self._process.work("cg_nonzero", self._block.nnz, self._product, vector)
        for number, partner in enumerate(reversed(self._partners)):
            out = self._sum if self._square else self._sum[own if number else self._others]
            into = self._came if self._square else self._came[own]
            request = await comm.Irecv(into, partner)
            await comm.Send(out, partner)
            await request.Wait()
            if self._process.whole:
                self._sum[own] += self._came[own]
        if not self._partners:
            self._result[:] = self._sum
            return
        request = await comm.Irecv(self._result, self._transposed)
        await comm.Send(self._sum[own], self._transposed)
        await request.Wait()

    async def _add_up(self, count: int) -> None:
        """The sum of scalars along the row of processes."""
        for partner in self._partners:
            request = await self._comm.Irecv(self._scalars_came[:count], partner)
            await self._comm.Send(self._scalars[:count], partner)
            await request.Wait()
            self._scalars[:count] += self._scalars_came[:count]

    # The arithmetic

    def _product(self, vector: Any) -> None:
        self._sum[:] = self._block @ vector

    def _start(self) -> None:
        self._z[:] = 0
        self._r[:] = self.x
        self._p[:] = self._r
        self._scalars[0] = self._r @ self._r

    def _curvature(self) -> None:
        self._scalars[0] = self._p @ self._result

    def _advance(self) -> None:
        alpha = self._rho / self._scalars[0]
        self._z += alpha * self._p
        self._r -= alpha * self._result
        self._scalars[0] = self._r @ self._r

    def _turn(self) -> None:
        before, self._rho = self._rho, float(self._scalars[0])
        self._p *= self._rho / before
        self._p += self._r

    def _residual(self) -> None:
        self._scalars[0] = ((self.x - self._result) ** 2).sum()

    def _products(self) -> None:
        self._scalars[:] = self.x @ self._z, self._z @ self._z

    def _next(self, zeta: Any, shift: float) -> None:
        zeta[0] = shift + 1 / self._scalars[0]
        self.x[:] = self._z / np.sqrt(self._scalars[1])
