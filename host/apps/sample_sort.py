"""Sample sort.

1. Each process takes ``SAMPLES`` samples of its keys; process 0 sorts all of them and broadcasts
   PROCS - 1 splitters. 2. Each key goes to the process between whose splitters it lies. 3. Each
   process sorts the keys that it got.

Variant *sm* stores two keys a message, as soon as there are two for a process. Variant *lg* sorts
the local keys first, so that those for a process are one block, and stores each block at once.

``apps.sort_key`` is the price of both local sorts; each is charged half. *sm* has but the last.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..port.costs import Path
from ..port.node import Node
from ..splitc import GlobalPointer, SplitC, SplitCError
from ..splitc.procedures import Procedure
from .computing import compute
from .counts import Counts
from .data import load, place, random_keys, save
from .phases import Phases, communication, computation

__all__ = ["PHASES", "Program", "check", "defaults", "inputs", "messages", "needed", "sorted_keys"]

PHASES = [computation("local sort first"), communication("samples"), computation("splitters"),
          communication("broadcast"), communication("keys"), computation("local sort"),
          communication("barrier")]
SAMPLES = 64
"""Samples of a process."""
KEY = 4

SAMPLE = Path("sample", load=1, store=1, alu=1)
"""Taking a sample."""
BUCKET = Path("bucket", load=3, store=2, branch=4, alu=3)
"""A key into the pair for its process: three splitters of seven are compared."""
TAKE = Path("take_key", load=1, alu=1, store=1)
"""A key that arrives: the place where it goes, besides the touched line."""


def defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters, with what is not ``given`` at its default."""
    return {"variant": "lg", "keys": 2048, "seed": 1, **given}


def _room(parameters: Mapping[str, Any], procs: int) -> int:
    """Keys for which a process has room: twice its share, and some."""
    keys: int = parameters["keys"]
    return min(procs * keys, 2 * keys + 1024)


def needed(parameters: Mapping[str, Any], procs: int) -> int:
    """Bytes of memory that a process takes: its keys, those that it gets, samples, counts."""
    return KEY * (parameters["keys"] + _room(parameters, procs) + 2 * SAMPLES * procs
                  + procs * procs)


def inputs(parameters: Mapping[str, Any], procs: int) -> Any:
    """The keys of each process."""
    return random_keys(procs * parameters["keys"], parameters["seed"]).reshape(procs, -1)


def _sampled(keys: Any) -> Any:
    """Samples of a process: keys in equal distances."""
    count = min(SAMPLES, len(keys))
    return keys[np.arange(count) * len(keys) // count]


def _splitters(samples: Any, procs: int) -> Any:
    """The splitters, of sorted samples."""
    return samples[np.arange(1, procs) * len(samples) // procs]


class Program:
    """A process of the sort. ``given``: the keys of all."""

    def __init__(self, node: Node, given: Any, parameters: Mapping[str, Any]) -> None:
        self.procedures: list[Procedure] = [self._take]
        self._node, self._port = node, node.port
        self._keys = given[node.number]
        self._small = parameters["variant"] == "sm"
        self._room = _room(parameters, node.nodes)
        self._arrived = 0
        self._arrivals = 0
        path = node.port.path
        self._c_sample, self._c_bucket, self._c_take = path(SAMPLE), path(BUCKET), path(TAKE)

    async def run(self, sc: SplitC, phases: Phases) -> Any:
        """The sorted keys of this process."""
        node, procs, keys = self._node, sc.PROCS, self._keys
        own = place(node, keys)
        samples = place(node, _sampled(keys))
        gathered = (await sc.all_spread_malloc(procs, KEY * SAMPLES * procs)).address
        self._arrivals = (await sc.all_spread_malloc(procs, KEY * self._room)).address
        counts = await Counts.make(sc)
        await sc.barrier()

        if not self._small:
            with phases("local sort first"):
                await compute(sc, "sort_key", len(keys) - len(keys) // 2)
            keys = np.sort(keys)
            save(node, own, keys)
        splitters = await self._splitters(sc, phases, samples, gathered)
        dest = np.searchsorted(splitters, keys, side="right")
        with phases("keys"):
            if self._small:
                await self._store_pairs(sc, keys, dest)
            else:
                await self._store_blocks(sc, own, np.bincount(dest, minlength=procs), counts)
            await sc.all_store_sync()
        with phases("local sort"):
            await compute(sc, "sort_key", self._arrived // 2)
        found = np.sort(load(node, self._arrivals, self._arrived))
        save(node, self._arrivals, found)
        with phases("barrier"):
            await sc.barrier()
        return found

    async def _splitters(self, sc: SplitC, phases: Phases, samples: int, gathered: int) -> Any:
        """The splitters, which process 0 chooses among all samples."""
        count = min(SAMPLES, len(self._keys))
        with phases("samples"):
            for _ in range(count):
                self._port.spend(self._c_sample)
            await sc.bulk_store(GlobalPointer(0, gathered + sc.MYPROC * KEY * count, ""), samples,
                                KEY * count)
            if sc.MYPROC == 0:
                await sc.store_sync(sc.PROCS * KEY * count)
        found: list[int | float] = [0] * (sc.PROCS - 1)
        if sc.MYPROC == 0:
            with phases("splitters"):
                await compute(sc, "sort_key", sc.PROCS * count // 2)
            found = _splitters(np.sort(load(self._node, gathered, sc.PROCS * count)),
                               sc.PROCS).tolist()
        with phases("broadcast"):
            for number in range(sc.PROCS - 1):
                found[number] = await sc.broadcast(found[number], 0, "I")
        return np.array(found, np.uint32)

    async def _store_pairs(self, sc: SplitC, keys: Any, dest: Any) -> None:
        """Each key, in order, to its process: two a message, the last one alone if need be."""
        waiting: dict[int, int] = {}
        for key, process in zip(keys.tolist(), dest.tolist(), strict=True):
            self._port.spend(self._c_bucket)
            if process in waiting:
                await sc.store_by(process, self._take, waiting.pop(process), key)
            else:
                waiting[process] = key
        for process, key in sorted(waiting.items()):
            await sc.store_by(process, self._take, key)

    async def _store_blocks(self, sc: SplitC, own: int, sizes: Any, counts: Counts) -> None:
        """The sorted keys at ``own`` in blocks, one a process: each behind those of the processes
        before this one."""
        table = (await counts.exchange(sizes)).astype(int)
        me, procs = sc.MYPROC, sc.PROCS
        self._reserve(int(table[:, me].sum()))
        for step in range(procs):
            other = (me + step) % procs
            if length := KEY * int(sizes[other]):
                target = self._arrivals + KEY * int(table[:me, other].sum())
                await sc.bulk_store(GlobalPointer(other, target, ""),
                                    own + KEY * int(sizes[:other].sum()), length)

    async def _take(self, sc: SplitC, source: int, *keys: int) -> None:
        """The procedure that keys are stored by: put them behind those that are there."""
        at = self._arrivals + KEY * self._arrived
        self._reserve(len(keys))
        for _ in keys:
            self._port.spend(self._c_take)
        await self._port.touch(at, KEY * len(keys), store=True)
        save(self._node, at, np.array(keys, np.uint32))

    def _reserve(self, keys: int) -> None:
        """Count ``keys`` that arrive."""
        self._arrived += keys
        if self._arrived > self._room:
            raise SplitCError(f"process {self._node.number} gets more keys than it has room for, "
                              f"{self._room}: the samples were bad; try another seed")


def check(results: Sequence[Any], given: Any, parameters: Mapping[str, Any]) -> tuple[bool, str]:
    """Tells whether the processes' keys, one behind the other, are numpy's sorted ones."""
    return sorted_keys(results, given)


def sorted_keys(results: Sequence[Any], given: Any) -> tuple[bool, str]:
    """Tells whether the processes' keys, one behind the other, are numpy's sorted ones."""
    wanted, found = np.sort(given, axis=None), np.concatenate(list(results))
    if np.array_equal(found, wanted):
        return True, f"the {len(wanted)} keys are in numpy's order"
    return False, (f"{len(found)} keys, not {len(wanted)}" if len(found) != len(wanted) else
                   f"key {int(np.argmax(found != wanted))} is not numpy's")


def messages(given: Any, parameters: Mapping[str, Any], procs: int) -> list[dict[str, int]]:
    """Messages of each process by kind, besides those of collective calls."""
    samples = np.sort(np.concatenate([_sampled(mine) for mine in given]))
    splitters = _splitters(samples, procs)
    found = []
    for me, keys in enumerate(given):
        sizes = np.bincount(np.searchsorted(splitters, keys, side="right"), minlength=procs)
        others = np.delete(sizes, me)
        first = 1 if me else 0
        if parameters["variant"] == "sm":
            one = {"bulk_store": first, "store": int(np.sum((others + 1) // 2))}
        else:
            one = {"bulk_store": first + procs - 1 + int(np.count_nonzero(others))}
        found.append({kind: count for kind, count in one.items() if count})
    return found

