"""FT: a diffusion equation on a periodic box by Fourier transforms.

Random data are transformed once. Each iteration multiplies them by what a step of time does to each
frequency, transforms them back, and sums 1,024 points of the result. A process has a slab of the
third axis, which it transforms along the others; for the third axis, and back, all exchange parts
of their slabs (Alltoall), after which a process has a slab of the second axis.

``apps.ft_point`` is charged for each point of a transform along one axis, and for each point of the
random data; the products are in it.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .generator import SEED, after, uniform
from .kernel import Kernel, Messages, Value, alltoall, power_of_two, times
from .process import Process

__all__ = ["Fourier"]

COMPLEX = 16
DIFFUSION = 1e-6
POINTS = 1024


class Size(NamedTuple):
    """A class: points along each axis, and the sums of the first and the last iteration."""

    shape: tuple[int, int, int]
    first: complex
    last: complex


class Fourier(Kernel):
    """FT."""

    name = "FT"
    title = "Fourier transforms: Alltoall of all data"
    iterations = 6
    least = 1  # the transform before the iterations has exchanged the same data
    classes = {
        "S": Size((64, 64, 64), 554.6087004964 + 484.5363331978j, 554.2683411902 + 493.2597244941j),
        "W": Size((128, 128, 32), 567.3612178944 + 529.3246849175j,
                  550.4159734538 + 523.9212247086j),
        "A": Size((256, 256, 128), 504.6735008193 + 511.4047905510j,
                  509.1487099959 + 510.7917842803j),
    }

    def __init__(self, size: str, procs: int) -> None:
        super().__init__(size, procs)
        self._class: Size = self.classes[size]
        self.shape = self._class.shape
        self._points = self.shape[0] * self.shape[1] * self.shape[2]

    @classmethod
    def refuses(cls, size: str, procs: int) -> str:
        return power_of_two(procs) or (
            "" if procs <= min(cls.classes[size].shape) else
            f"at most {min(cls.classes[size].shape)}")

    def memory(self) -> int:
        return 2 * COMPLEX * self._points // self.procs

    async def run(self, process: Process) -> dict[int, complex]:
        """The sum of each iteration; of process 0 over all."""
        local = _Local(process, self.shape)
        await local.start()
        await process.begin()
        await local.start()
        sums = {}
        for iteration in process.iterations(self.iterations):
            sums[iteration] = await local.iterate()
        process.end()
        return sums

    def verify(self, answers: Sequence[Any]) -> list[Value]:
        values = []
        for iteration, wanted in ((1, self._class.first), (self.iterations, self._class.last)):
            found = answers[0][iteration]
            values += [
                Value(f"sum of iteration {iteration}, real", found.real, wanted.real, 1e-12),
                Value(f"sum of iteration {iteration}, imaginary", found.imag, wanted.imag, 1e-12)]
        return values

    def messages(self, rank: int, iterations: int) -> Messages:
        found = times(alltoall("Alltoall", COMPLEX * self._points // self.procs ** 2, self.procs),
                      1 + iterations)
        if rank:
            found += Counter({("Reduce", COMPLEX): iterations})
        return found


class _Local:
    """The data of one process. Arrays have the axes in reverse, as numpy counts them: the first
    index of points is the last one's."""

    def __init__(self, process: Process, shape: tuple[int, int, int]) -> None:
        self._process = process
        nx, ny, nz = shape
        size, rank = process.size, process.rank
        self._shape = shape
        self._z = slice(rank * nz // size, (rank + 1) * nz // size)
        self._deep, self._high = nz // size, ny // size
        self._share = nx * ny * nz // size
        parts = (size, self._share // size)
        self._out, self._into = (process.empty(parts, np.complex128) for _ in range(2))
        self._sum, self._total = (process.empty(1, np.complex128) for _ in range(2))
        self._data: Any = None
        """The slab that is worked on."""
        self._frequencies: Any = None
        self._step: Any = None

    async def start(self) -> None:
        """Random data, and their transform."""
        await self._process.work("ft_point", self._share, self._make)
        await self._process.work("ft_point", 2 * self._share, self._transform, (2, 1))
        await self._swap((self._deep, self._high), 1)
        await self._process.work("ft_point", self._share, self._transform, (1,))
        self._process.do(self._keep)

    async def iterate(self) -> complex:
        """A step of time, and the transform back; the sum of the points, at process 0."""
        process = self._process
        self._process.do(self._advance)
        await process.work("ft_point", self._share, self._back, (1,))
        await self._swap((self._high, self._deep), 1)
        await process.work("ft_point", 2 * self._share, self._back, (1, 2))
        process.do(self._add_up)
        await process.comm.Reduce(self._sum, self._total)
        return complex(self._total[0])

    async def _swap(self, part: tuple[int, int], axis: int) -> None:
        """The slab along ``axis`` for one along the first: part p of it goes to process p. A part
        is ``part`` by the first axis of points."""
        process, width = self._process, self._shape[0]
        if process.whole:
            pieces = np.split(self._data, process.size, axis)
            for rank, piece in enumerate(pieces):
                self._out[rank] = piece.reshape(-1)
        await process.comm.Alltoall(self._out, self._into)
        if process.whole:
            came = self._into.reshape(process.size, *part, width)
            self._data = came.transpose(2, 0, 1, 3).reshape(part[1], process.size * part[0], width)

    # The arithmetic

    def _make(self) -> None:
        nx, ny, _ = self._shape
        numbers = uniform(after(SEED, 2 * nx * ny * self._z.start), 2 * self._share)
        self._data = numbers.view(np.complex128).reshape(self._deep, ny, nx)

    def _transform(self, axes: tuple[int, ...]) -> None:
        self._data = np.fft.fftn(self._data, axes=axes)

    def _back(self, axes: tuple[int, ...]) -> None:
        self._data = np.fft.ifftn(self._data, axes=axes)

    def _keep(self) -> None:
        """The transformed data, a slab of the second axis; what a step does to each frequency."""
        nx, ny, nz = self._shape
        self._frequencies = self._data
        x, y, z = ((np.arange(count) + count // 2) % count - count // 2 for count in (nx, ny, nz))
        y = y[self._process.rank * self._high:][:self._high]
        squares = (y ** 2)[:, None, None] + (z ** 2)[None, :, None] + (x ** 2)[None, None, :]
        self._step = np.exp(-4 * DIFFUSION * np.pi ** 2 * squares)

    def _advance(self) -> None:
        self._frequencies *= self._step
        self._data = self._frequencies

    def _add_up(self) -> None:
        nx, ny, nz = self._shape
        number = np.arange(1, POINTS + 1)
        z = 5 * number % nz
        here = (self._z.start <= z) & (z < self._z.stop)
        number, z = number[here], z[here] - self._z.start
        self._sum[0] = self._data[z, 3 * number % ny, number % nx].sum()
