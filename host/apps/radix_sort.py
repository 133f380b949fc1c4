"""Radix sort, from the lowest digit up, in ``passes`` passes over keys of 32 bits.

Of each pass: 1. Each process counts its keys by digit. 2. The counts of a digit go to one process,
which adds up where the keys of each process with this digit begin, and returns that. 3. Each key
goes to its place: place p is on process p // keys.

Variant *sm* stores two keys and their places a message. Variant *lg* stores all keys for a process,
with their places, at once; the receiver puts them there.

How many passes the study made is not told; three of 11 bits is the default. ``apps.radix_key`` is
the price of a key in one pass: half for counting, half for its place, and of that, in *lg*, half at
the receiver.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..port.costs import Path
from ..port.node import Node
from ..splitc import GlobalPointer, SplitC
from ..splitc.procedures import Procedure
from .computing import compute
from .counts import Counts
from .data import load, place, random_keys, save
from .phases import Phases, communication, computation
from .sample_sort import sorted_keys

__all__ = ["PHASES", "Program", "check", "defaults", "inputs", "messages", "needed"]

PHASES = [computation("count"), communication("counts"), computation("add up"),
          communication("ranks"), computation("places"), communication("keys"),
          computation("put in place"), communication("barrier")]
BITS = 32
WORD = 4
PAIR = 8
"""A key and its place."""

BUCKET = Path("radix_bucket", load=3, store=3, branch=2, alu=2)
"""A key and its place into the pair for its process."""
TAKE = Path("take_pair", load=2, alu=1, store=1)
"""A key that arrives, into its place, besides the touched line."""
RANK = Path("rank", load=1, alu=1, store=1)
"""A count of a digit and a process, added up."""


def defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters, with what is not ``given`` at its default."""
    return {"variant": "lg", "keys": 2048, "passes": 3, "seed": 1, **given}


def _digits(parameters: Mapping[str, Any]) -> int:
    """Values of a digit."""
    return 1 << -(-BITS // int(parameters["passes"]))


def needed(parameters: Mapping[str, Any], procs: int) -> int:
    """Bytes of memory that a process takes: its keys twice, keys with places as they leave and as
    they arrive, counts and ranks of all processes for its digits and of itself for all."""
    keys, digits = parameters["keys"], _digits(parameters)
    return (2 * WORD * keys + 2 * PAIR * keys + 2 * WORD * digits
            + WORD * procs * -(-digits // procs) + WORD * procs * procs)


def inputs(parameters: Mapping[str, Any], procs: int) -> Any:
    """The keys of each process."""
    return random_keys(procs * parameters["keys"], parameters["seed"]).reshape(procs, -1)


class Program:
    """A process of the sort. ``given``: the keys of all."""

    def __init__(self, node: Node, given: Any, parameters: Mapping[str, Any]) -> None:
        self.procedures: list[Procedure] = [self._take]
        self._node, self._port = node, node.port
        self._count = parameters["keys"]
        self._small = parameters["variant"] == "sm"
        self._passes = parameters["passes"]
        self._digits = _digits(parameters)
        self._own = place(node, given[node.number])
        self._next = node.allocate(WORD * self._count)
        """Where the keys of this process are, and where those of the next pass go."""
        self._histogram = node.allocate(WORD * self._digits)
        self._leaving = node.allocate(PAIR * self._count)
        path = node.port.path
        self._c_bucket, self._c_take, self._c_rank = path(BUCKET), path(TAKE), path(RANK)

    async def run(self, sc: SplitC, phases: Phases) -> Any:
        """The sorted keys of this process."""
        node, count, procs = self._node, self._count, sc.PROCS
        share = -(-self._digits // procs)
        table = (await sc.all_spread_malloc(procs, WORD * procs * share)).address
        ranks = (await sc.all_spread_malloc(procs, WORD * self._digits)).address
        arriving = (await sc.all_spread_malloc(procs, PAIR * count)).address
        counts = await Counts.make(sc)
        await sc.barrier()
        for number in range(self._passes):
            keys = load(node, self._own, count)
            shift = number * (self._digits.bit_length() - 1)
            digits = (keys >> np.uint32(shift)) & np.uint32(self._digits - 1)
            with phases("count"):
                await compute(sc, "radix_key", count - count // 2)
            histogram = np.bincount(digits, minlength=self._digits).astype(np.uint32)
            first = await self._first_places(sc, phases, histogram, table, ranks, share)
            with phases("places"):
                rest = count // 2
                await compute(sc, "radix_key", rest if self._small else rest - rest // 2)
            places = self._places(digits, first)
            with phases("keys"):
                if self._small:
                    await self._store_pairs(sc, keys, places)
                else:
                    await self._store_blocks(sc, keys, places, counts, arriving)
                await sc.all_store_sync()
            if not self._small:
                with phases("put in place"):
                    await compute(sc, "radix_key", rest // 2)
                pairs = load(node, arriving, 2 * count).reshape(count, 2)
                sorted_ = np.empty(count, np.uint32)
                sorted_[pairs[:, 1]] = pairs[:, 0]
                save(node, self._next, sorted_)
            self._own, self._next = self._next, self._own
        with phases("barrier"):
            await sc.barrier()
        return load(node, self._own, count)

    async def _first_places(self, sc: SplitC, phases: Phases, histogram: Any, table: int,
                            ranks: int, share: int) -> Any:
        """Where this process's keys of each digit begin, of all keys. Process p adds up the digits
        from ``share`` p on: in ``table`` each process has a row of counts, which become ranks."""
        node, me, procs = self._node, sc.MYPROC, sc.PROCS
        save(node, self._histogram, histogram)

        def of(process: int) -> tuple[int, int]:
            """The first of the digits of ``process``, and how many it has."""
            start = min(process * share, self._digits)
            return start, min(share, self._digits - start)

        with phases("counts"):
            for step in range(procs):
                other = (me + step) % procs
                start, length = of(other)
                await sc.bulk_store(GlobalPointer(other, table + WORD * share * me, ""),
                                    self._histogram + WORD * start, WORD * length)
            await sc.all_store_sync()
        start, length = of(me)
        with phases("add up"):
            for _ in range(procs * length):
                self._port.spend(self._c_rank)
        rows = np.array([load(node, table + WORD * share * row, length) for row in range(procs)],
                        np.int64).reshape(procs, length)
        with phases("ranks"):
            total = int(rows.sum())
            before = int(await sc.scan(total)) - total
            # A digit's keys of process 0 come first, then those of process 1, …
            sums = np.concatenate(([0], np.cumsum(rows.T.reshape(-1))))[:-1]
            begin = before + sums.reshape(length, procs).T
            for step in range(procs):
                other = (me + step) % procs
                save(node, table + WORD * share * other, begin[other].astype(np.uint32))
                await sc.bulk_store(GlobalPointer(other, ranks + WORD * start, ""),
                                    table + WORD * share * other, WORD * length)
            await sc.all_store_sync()
        return load(node, ranks, self._digits)

    @staticmethod
    def _places(digits: Any, first: Any) -> Any:
        """The place of each key: its digit's first one, and as many further as there are keys with
        the digit before it."""
        order = np.argsort(digits, kind="stable")
        ordered = digits[order]
        begins = np.searchsorted(ordered, ordered, side="left")
        places = np.empty(len(digits), np.int64)
        places[order] = first[ordered].astype(np.int64) + np.arange(len(digits)) - begins
        return places

    async def _store_pairs(self, sc: SplitC, keys: Any, places: Any) -> None:
        """Each key, in order, with its place: two a message, the last one alone if need be."""
        waiting: dict[int, tuple[int, int]] = {}
        for key, where in zip(keys.tolist(), places.tolist(), strict=True):
            self._port.spend(self._c_bucket)
            process, at = divmod(where, self._count)
            if process in waiting:
                await sc.store_by(process, self._take, *waiting.pop(process), key, at)
            else:
                waiting[process] = key, at
        for process, pair in sorted(waiting.items()):
            await sc.store_by(process, self._take, *pair)

    async def _store_blocks(self, sc: SplitC, keys: Any, places: Any, counts: Counts,
                            arriving: int) -> None:
        """The keys with their places in blocks, one a process: each behind those of the processes
        before this one."""
        me, procs = sc.MYPROC, sc.PROCS
        dest = places // self._count
        order = np.argsort(dest, kind="stable")
        pairs = np.stack((keys[order], places[order] % self._count), axis=1)
        save(self._node, self._leaving, pairs.astype(np.uint32))
        sizes = np.bincount(dest, minlength=procs)
        table = (await counts.exchange(sizes)).astype(int)
        for step in range(procs):
            other = (me + step) % procs
            if length := PAIR * int(sizes[other]):
                target = arriving + PAIR * int(table[:me, other].sum())
                await sc.bulk_store(GlobalPointer(other, target, ""),
                                    self._leaving + PAIR * int(sizes[:other].sum()), length)

    async def _take(self, sc: SplitC, source: int, *pairs: int) -> None:
        """The procedure that keys are stored by: each into its place."""
        for key, at in zip(pairs[::2], pairs[1::2], strict=True):
            self._port.spend(self._c_take)
            await self._port.touch(self._next + WORD * at, WORD, store=True)
            save(self._node, self._next + WORD * at, np.array([key], np.uint32))


def check(results: Sequence[Any], given: Any, parameters: Mapping[str, Any]) -> tuple[bool, str]:
    """Tells whether the processes' keys, one behind the other, are numpy's sorted ones."""
    return sorted_keys(results, given)


def messages(given: Any, parameters: Mapping[str, Any], procs: int) -> list[dict[str, int]]:
    """Messages of each process by kind, besides those of collective calls."""
    digits, keys = _digits(parameters), parameters["keys"]
    found = [{"bulk_store": 0, "store": 0} for _ in range(procs)]
    whole = given.reshape(-1)
    for number in range(parameters["passes"]):
        digit = (whole >> np.uint32(number * (digits.bit_length() - 1))) & np.uint32(digits - 1)
        order = np.argsort(digit, kind="stable")
        source = np.repeat(np.arange(procs), keys)[order]
        dest = np.arange(len(whole)) // keys
        for me, one in enumerate(found):
            others = np.delete(np.bincount(dest[source == me], minlength=procs), me)
            one["bulk_store"] += 2 * (procs - 1)
            if parameters["variant"] == "sm":
                one["store"] += int(np.sum((others + 1) // 2))
            else:
                one["bulk_store"] += procs - 1 + int(np.count_nonzero(others))
        whole = whole[order]
    return [{kind: count for kind, count in one.items() if count} for one in found]
