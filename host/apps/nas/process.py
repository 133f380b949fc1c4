"""A process of a kernel: its communicator and its arrays, its computation, and its timed part."""

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from ..phases import Phases, computation

__all__ = ["PHASES", "Process"]

PHASES = [computation("begin"), computation("iteration"), computation("end")]
"""The timed part: what comes before the first iteration, each iteration, what comes after the
last."""
SLICE = 1 << 24
"""CPU cycles that are charged at once."""


class Process:
    """A process over the library ``mpi``.

    Parameters
    ----------
    whole
        Whether the arithmetic is done; else only what it takes is charged.
    most
        Iterations after which the timed part ends; 0: all.
    tell
        Called by process 0 with each iteration and the number of them.

    Attributes
    ----------
    comm, rank, size
        All processes, this one's rank, their number.
    sent
        Messages of the timed part, by call, rank and length.
    """

    def __init__(self, mpi: Any, *, whole: bool = True, most: int = 0,
                 tell: Callable[[int, int], None] = lambda *_: None) -> None:
        self._mpi = mpi
        self.comm = mpi.COMM_WORLD
        self.rank: int = self.comm.rank
        self.size: int = self.comm.size
        self.whole = whole
        self._most = most
        self._tell = tell
        self._phases = Phases(mpi.port, PHASES)
        self._phase: Any = None
        self._rest = Fraction(0)
        self._before: Counter[Any] = Counter()
        self.sent: Counter[Any] = Counter()

    def empty(self, shape: Any, dtype: Any = np.float64) -> Any:
        """An array of zeros in the process's memory, to be sent or received into."""
        return self._mpi.empty(shape, dtype)

    # Computation

    async def compute(self, item: str, count: int | Fraction) -> None:
        """Charge ``count`` of ``item``, one of the knobs ``[apps]``. Fractions add up."""
        whole, self._rest = divmod(self._rest + count, 1)
        price = self._mpi.port.costs.rate[item]
        part = max(1, int(SLICE / price)) if price else max(1, whole)
        while whole > 0:
            await self._mpi.compute(item, min(part, whole))
            whole -= part

    async def work(self, item: str, count: int | Fraction, function: Callable[..., Any],
                   *arguments: Any) -> None:
        """Charge ``count`` of ``item``, and do it: ``function`` changes arrays in place. Without
        arithmetic it is not called."""
        await self.compute(item, count)
        self.do(function, *arguments)

    def do(self, function: Callable[..., Any], *arguments: Any) -> None:
        """The same for what another item's price has in it."""
        if self.whole:
            function(*arguments)

    # The timed part

    async def begin(self) -> None:
        """The timed part begins, after a barrier."""
        await self.comm.Barrier()
        self._before = Counter(self._mpi.calls.sent)
        self._enter("begin")

    def iterations(self, count: int) -> Iterator[int]:
        """The timed iterations, from 1 on: ``count`` of them, or fewer if the run is shorter."""
        last = min(count, self._most or count)
        for number in range(1, last + 1):
            if self.rank == 0:
                self._tell(number - 1, last)
            self._enter("iteration")
            yield number
        self._enter("end")

    def end(self) -> None:
        """The timed part ends."""
        self._leave()
        self.sent = Counter(self._mpi.calls.sent)
        self.sent.subtract(self._before)
        self.sent = +self.sent

    def _enter(self, phase: str) -> None:
        self._leave()
        self._phase = self._phases(phase)
        self._phase.__enter__()

    def _leave(self) -> None:
        if self._phase is not None:
            self._phase.__exit__(None, None, None)
            self._phase = None
