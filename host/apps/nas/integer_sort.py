"""IS: keys are ranked by a bucket sort, ten times.

Of each iteration: 1. Each process counts its keys by bucket (the key's high bits); Allreduce makes
the counts of all. 2. Each process gets a run of buckets with about as many keys as the others:
Alltoall tells how many keys come from each, Alltoallv brings them. 3. Each process counts its keys
by value, which gives their ranks. Five keys' ranks are compared with published ones.

``apps.is_key`` is charged half for the keys that a process has, and half for those that it gets.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .generator import SEED, uniform
from .kernel import BY_DATA, Kernel, Messages, Value, allreduce, alltoall, power_of_two, times
from .process import Process

__all__ = ["IntegerSort"]

WORD = 4


class Size(NamedTuple):
    """A class: 2^keys keys below 2^most in 2^buckets buckets. ``places``: of the keys whose ranks
    are known, where they are; ``ranks``: base and factor of the iteration's number for each."""

    keys: int
    most: int
    buckets: int
    places: tuple[int, ...]
    ranks: tuple[tuple[int, int], ...]


class IntegerSort(Kernel):
    """IS."""

    name = "IS"
    title = "integer sort: Allreduce and Alltoallv of keys"
    by_data = True
    iterations = 10
    classes = {
        "S": Size(16, 11, 9, (48427, 17148, 23627, 62548, 4431),
                  ((0, 1), (18, 1), (346, 1), (64917, -1), (65463, -1))),
        "W": Size(20, 16, 10, (357773, 934767, 875723, 898999, 404505),
                  ((1249 - 2, 1), (11698 - 2, 1), (1039987, -1), (1043896, -1), (1048018, -1))),
        "A": Size(23, 19, 10, (2112377, 662041, 5336171, 3642833, 4250760),
                  ((104 - 1, 1), (17523 - 1, 1), (123928 - 1, 1), (8288932 + 1, -1),
                   (8388264 + 1, -1))),
    }

    def __init__(self, size: str, procs: int) -> None:
        super().__init__(size, procs)
        self._class: Size = self.classes[size]
        self._share = (1 << self._class.keys) // procs
        self.room = self._share * 3 // 2
        self.computed = 1 << self._class.keys
        self.by_data_bytes = WORD * self._share // procs

    @cached_property
    def _keys(self) -> Any:
        """Each the mean of four numbers."""
        numbers = uniform(SEED, 4 << self._class.keys).reshape(-1, 4).sum(axis=1)
        return (numbers * (1 << self._class.most) / 4).astype(np.int32)

    @classmethod
    def refuses(cls, size: str, procs: int) -> str:
        return power_of_two(procs) or ("" if procs <= 64 else "at most 64")

    def memory(self) -> int:
        return WORD * (self._share + self.room + 2 * (1 << self._class.buckets))

    async def run(self, process: Process) -> tuple[list[tuple[int, int, int]], bool]:
        """Ranks of known keys as (iteration, which, rank); whether the keys are in order."""
        first = process.rank * self._share
        keys = self._keys[first:first + self._share].copy()
        local = _Local(self, process, keys)
        await local.iterate(1)
        await process.begin()
        found: list[tuple[int, int, int]] = []
        for iteration in process.iterations(self.iterations):
            await local.iterate(iteration)
            found += [(iteration, which, rank) for which, rank in local.ranks()]
        process.end()
        return found, await local.in_order()

    def verify(self, answers: Sequence[Any]) -> list[Value]:
        found = {(iteration, which): rank for ranks, _ in answers
                 for iteration, which, rank in ranks}
        values = [Value(f"rank of key {place}, iteration {iteration}",
                        found.get((iteration, which), float("nan")), base + factor * iteration, 0.0)
                  for iteration in range(1, self.iterations + 1)
                  for which, (place, (base, factor)) in enumerate(zip(
                      self._class.places, self._class.ranks, strict=True))]
        return [*values, Value("processes whose keys are in order",
                               sum(good for _, good in answers), self.procs, 0.0)]

    def messages(self, rank: int, iterations: int) -> Messages:
        buckets = 1 << self._class.buckets
        return times(allreduce(WORD * (buckets + len(self._class.places)), self.procs)
                     + alltoall("Alltoall", WORD, self.procs)
                     + alltoall("Alltoallv", BY_DATA, self.procs), iterations)


class _Local:
    """The sort on one process."""

    def __init__(self, kernel: IntegerSort, process: Process, keys: Any) -> None:
        self._size = size = kernel.classes[kernel.size]
        self._process = process
        self._shift = size.most - size.buckets
        self._keys = keys
        self._share = len(keys)
        self._mine = [(which, place % self._share) for which, place in enumerate(size.places)
                      if place // self._share == process.rank]
        count = (1 << size.buckets) + len(size.places)
        self._counts, self._totals = (process.empty(count, np.int32) for _ in range(2))
        self._outgoing, self._coming = (process.empty(process.size, np.int32) for _ in range(2))
        self._out = process.empty(self._share, np.int32)
        self._into = process.empty(kernel.room, np.int32)
        self._below = 0
        self._first = 0
        self._got = np.zeros(0, np.int32)
        self._upto = np.zeros(1, np.int64)

    async def iterate(self, iteration: int) -> None:
        """Rank the keys once."""
        process, comm = self._process, self._process.comm
        buckets = 1 << self._size.buckets
        if process.rank == 0:
            self._keys[iteration] = iteration
            self._keys[iteration + IntegerSort.iterations] = (1 << self._size.most) - iteration
        await process.compute("is_key", Fraction(self._share, 2))
        bucket = self._keys >> self._shift
        self._counts[:buckets] = np.bincount(bucket, minlength=buckets)
        self._counts[buckets:] = 0
        for which, place in self._mine:
            self._counts[buckets + which] = self._keys[place]
        self._out[:] = self._keys[np.argsort(bucket, kind="stable")]
        await comm.Allreduce(self._counts, self._totals)

        sums = np.cumsum(self._totals[:buckets])
        owners = [int(np.searchsorted(sums, share * self._share))
                  for share in range(1, process.size)]
        ends = np.array([*(owner + 1 for owner in owners), buckets])
        begins = np.concatenate(([0], ends[:-1]))
        own = np.concatenate(([0], np.cumsum(self._counts[:buckets])))
        self._outgoing[:] = own[ends] - own[begins]
        await comm.Alltoall(self._outgoing, self._coming)
        total = int(self._coming.sum())
        if total > len(self._into):
            raise ValueError(f"rank {process.rank} gets {total} keys, and has room for "
                             f"{len(self._into)}")
        await comm.Alltoallv([self._out, self._outgoing], [self._into, self._coming])

        await process.compute("is_key", Fraction(total, 2))
        self._got = self._into[:total]
        self._first = int(begins[process.rank]) << self._shift
        last = int(ends[process.rank]) << self._shift
        self._below = int(sums[begins[process.rank] - 1]) if begins[process.rank] else 0
        counts = np.bincount(self._got - self._first, minlength=last - self._first)
        self._upto = np.concatenate(([0], np.cumsum(counts)))

    def ranks(self) -> list[tuple[int, int]]:
        """Of the known keys those that lie here: which, and how many keys are smaller."""
        known = self._totals[1 << self._size.buckets:]
        return [(which, self._below + int(self._upto[key - self._first]))
                for which, key in enumerate(known.tolist())
                if 0 <= key - self._first < len(self._upto) - 1]

    async def in_order(self) -> bool:
        """Sort the keys by their ranks; whether they, and the last key of the process before, are
        in order."""
        process = self._process
        mine = np.repeat(np.arange(len(self._upto) - 1), np.diff(self._upto)) + self._first
        edge, before = (process.empty(1, np.int32) for _ in range(2))
        receive = None
        if process.rank > 0:
            receive = await process.comm.Irecv(before, process.rank - 1)
        if process.rank < process.size - 1:
            edge[0] = mine[-1]
            await process.comm.Send(edge, process.rank + 1)
        if receive is not None:
            await receive.Wait()
        return bool(np.array_equal(np.sort(self._got), mine) and before[0] <= mine[0])
