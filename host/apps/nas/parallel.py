"""EP: pairs of Gaussian deviates, counted by their size. Processes meet once, at the end.

A pair of numbers (x, y) in (-1, 1) with t = x² + y² ≤ 1 gives the deviates x f and y f, where f =
√(-2 ln t / t). Counted are pairs by the larger deviate's whole part.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .generator import after, uniform
from .kernel import Kernel, Messages, Value, allreduce, power_of_two, times
from .process import Process

__all__ = ["EmbarrassinglyParallel"]

SEED = 271828183
BLOCK = 1 << 16
"""Pairs that are computed at once."""
RINGS = 10


class Size(NamedTuple):
    """A class: 2^pairs pairs, and the sums of all deviates."""

    pairs: int
    x: float
    y: float


class EmbarrassinglyParallel(Kernel):
    """EP."""

    name = "EP"
    title = "Gaussian deviates: computation, and three Allreduces"
    classes = {
        "S": Size(24, -3247.834652034740, -6958.407078382297),
        "W": Size(25, -2863.319731645753, -6320.053679109499),
        "A": Size(28, -4295.875165629892, -15807.32573678431),
    }

    def __init__(self, size: str, procs: int) -> None:
        super().__init__(size, procs)
        self._class: Size = self.classes[size]
        self._share = (1 << self._class.pairs) // procs

    @classmethod
    def refuses(cls, size: str, procs: int) -> str:
        return power_of_two(procs)

    def memory(self) -> int:
        return 2 * 8 * (RINGS + 2)

    async def run(self, process: Process) -> Any:
        """The sums of x and y over all processes."""
        sums = process.empty(2)
        counts = process.empty(RINGS)
        all_sums, all_counts = process.empty(2), process.empty(RINGS)
        await process.begin()
        for _ in process.iterations(1):
            await process.work("ep_pair", self._share, self._count, process.rank, sums, counts)
            await process.comm.Allreduce(sums[:1], all_sums[:1])
            await process.comm.Allreduce(sums[1:], all_sums[1:])
            await process.comm.Allreduce(counts, all_counts)
        process.end()
        return float(all_sums[0]), float(all_sums[1]), float(all_counts.sum())

    def _count(self, rank: int, sums: Any, counts: Any) -> None:
        for block in range(0, self._share, BLOCK):
            place = 2 * (rank * self._share + block)
            pairs = 2 * uniform(after(SEED, place), 2 * min(BLOCK, self._share)).reshape(-1, 2) - 1
            x, y = pairs[:, 0], pairs[:, 1]
            t = x * x + y * y
            inside = t <= 1
            x, y, t = x[inside], y[inside], t[inside]
            factor = np.sqrt(-2 * np.log(t) / t)
            x, y = x * factor, y * factor
            sums += x.sum(), y.sum()
            larger = np.maximum(abs(x), abs(y)).astype(np.int64)
            counts += np.bincount(larger, minlength=RINGS)

    def verify(self, answers: Sequence[Any]) -> list[Value]:
        x, y, _ = answers[0]
        return [Value("sum of x", x, self._class.x, 1e-8),
                Value("sum of y", y, self._class.y, 1e-8)]

    def messages(self, rank: int, iterations: int) -> Messages:
        return times(allreduce(8, self.procs), 2) + allreduce(8 * RINGS, self.procs)
