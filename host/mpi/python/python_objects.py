"""Objects of Python as messages: pickled, with the layer's own messages for their lengths."""

import pickle as module
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..data.datatypes import BYTE
from ..sync import running

__all__ = ["Pickle", "pickle"]

FEWEST_OUT_OF_BAND = 1 << 18
"""mpi4py's ``THRESHOLD``."""


class Pickle:
    """Turns objects into bytes and back. Ranks share the object; each may set it up for itself,
    until its run ends."""

    def __init__(self, dumps: Any = None, loads: Any = None, protocol: int | None = None,
                 threshold: int | None = None) -> None:
        if protocol is None and dumps is None:
            protocol = module.HIGHEST_PROTOCOL
        if threshold is None:
            threshold = FEWEST_OUT_OF_BAND
        self._set(dumps, loads or module.loads, protocol, threshold)

    def _set(self, *given: Any) -> None:
        rank = running()
        if rank is not None:
            rank.keep("pickles", dict)[self] = given
        if rank is None or "_first" not in vars(self):
            self._first = given

    def _mine(self) -> tuple[Any, Any, int | None, int]:
        rank = running()
        return self._first if rank is None else rank.keep("pickles", dict).get(self, self._first)

    @property
    def PROTOCOL(self) -> int | None:
        return self._mine()[2]

    @PROTOCOL.setter
    def PROTOCOL(self, protocol: int | None) -> None:
        dumps, loads, _, threshold = self._mine()
        self._set(dumps, loads, protocol, threshold)

    @property
    def THRESHOLD(self) -> int:
        """mpi4py sends buffers of so many bytes apart from the rest; here they are not."""
        return self._mine()[3]

    @THRESHOLD.setter
    def THRESHOLD(self, threshold: int) -> None:
        self._set(*self._mine()[:3], threshold)

    def dumps(self, obj: Any) -> bytes:
        dumps, _, protocol, _ = self._mine()
        dumps = dumps or module.dumps
        return dumps(obj) if protocol is None else dumps(obj, protocol)

    def loads(self, data: Any) -> Any:
        return self._mine()[1](data.tobytes() if isinstance(data, np.ndarray) else data)


pickle = Pickle()


def _bytes(flat: Any) -> list[Any]:
    return [flat, len(flat), BYTE]


def packed(obj: Any) -> Any:
    """An object as a buffer."""
    data = pickle.dumps(obj)
    return np.frombuffer(data.encode() if isinstance(data, str) else data, np.uint8)


def loaded(flat: Any) -> Any:
    """The object of a message; None of an empty one."""
    return pickle.loads(flat) if len(flat) else None


async def bcast(comm: Any, obj: Any, root: int) -> Any:
    """``obj`` of the root."""
    mine = comm.is_root(root)
    data = packed(obj) if mine else np.empty(0, np.uint8)
    length = np.array([len(data)], np.int64)
    await comm.Bcast(length, root)
    if not mine:
        data = np.empty(int(length[0]), np.uint8)
    await comm.Bcast(_bytes(data), root)
    if mine:
        return obj if root == comm.rank else None
    return loaded(data)


def _cut(data: Any, lengths: Sequence[int]) -> list[Any]:
    ends = np.cumsum(lengths).tolist()
    return [pickle.loads(data[end - length:end]) for end, length in
            zip(ends, lengths, strict=True)]


async def gather(comm: Any, obj: Any, root: int) -> list[Any] | None:
    """All objects, at the root."""
    data = packed(obj)
    mine = comm.is_root(root)
    lengths = np.zeros(comm.reach if mine else 0, np.int64)
    await comm.Gather(np.array([len(data)], np.int64), lengths if mine else None, root)
    every = np.empty(int(lengths.sum()), np.uint8)
    await comm.Gatherv(_bytes(data), [every, lengths.tolist(), BYTE] if mine else None, root)
    return _cut(every, lengths.tolist()) if mine else None


async def scatter(comm: Any, objects: Iterable[Any] | None, root: int) -> Any:
    """The object for this rank."""
    mine = comm.is_root(root)
    every, lengths = _joined(objects, comm.reach) if mine else (np.empty(0, np.uint8), [])
    length = np.zeros(1, np.int64)
    await comm.Scatter(np.array(lengths, np.int64) if mine else None, length, root)
    data = np.empty(int(length[0]), np.uint8)
    await comm.Scatterv([every, lengths, BYTE] if mine else None, _bytes(data), root)
    return loaded(data)


def _joined(objects: Iterable[Any] | None, size: int) -> tuple[Any, list[int]]:
    items = [packed(one) for one in objects] if objects is not None else []
    if len(items) != size:
        raise ValueError(f"expecting {size} items, got {len(items)}")
    return np.concatenate([np.empty(0, np.uint8), *items]), [len(one) for one in items]


async def allgather(comm: Any, obj: Any) -> list[Any]:
    """All objects, at all."""
    data = packed(obj)
    lengths = np.zeros(comm.reach, np.int64)
    await comm.Allgather(np.array([len(data)], np.int64), lengths)
    every = np.empty(int(lengths.sum()), np.uint8)
    await comm.Allgatherv(_bytes(data), [every, lengths.tolist(), BYTE])
    return _cut(every, lengths.tolist())


async def neighbor_allgather(comm: Any, obj: Any) -> list[Any]:
    """The objects of all sources."""
    data = packed(obj)
    lengths = np.zeros(len(comm.topology.sources(comm.rank)), np.int64)
    await comm.Neighbor_allgather(np.array([len(data)], np.int64), lengths)
    every = np.empty(int(lengths.sum()), np.uint8)
    await comm.Neighbor_allgatherv(_bytes(data), [every, lengths.tolist(), BYTE])
    return _came(comm, every, lengths)


def _came(comm: Any, every: Any, lengths: Any) -> list[Any]:
    """The objects of all sources; None where there is none."""
    found = iter(_cut(every, [one for one in lengths.tolist() if one]))
    return [next(found) if one else None for one in lengths.tolist()]


async def neighbor_alltoall(comm: Any, objects: Iterable[Any]) -> list[Any]:
    """An object to each destination, one from each source."""
    every, lengths = _joined(objects, len(comm.topology.destinations(comm.rank)))
    theirs = np.zeros(len(comm.topology.sources(comm.rank)), np.int64)
    await comm.Neighbor_alltoall(np.array(lengths, np.int64), theirs)
    into = np.empty(int(theirs.sum()), np.uint8)
    await comm.Neighbor_alltoallv([every, lengths, BYTE], [into, theirs.tolist(), BYTE])
    return _came(comm, into, theirs)


async def alltoall(comm: Any, objects: Iterable[Any]) -> list[Any]:
    """An object to and from each rank."""
    every, lengths = _joined(objects, comm.reach)
    theirs = np.zeros(comm.reach, np.int64)
    await comm.Alltoall(np.array(lengths, np.int64), theirs)
    into = np.empty(int(theirs.sum()), np.uint8)
    await comm.Alltoallv([every, lengths, BYTE], [into, theirs.tolist(), BYTE])
    return _cut(into, theirs.tolist())


def fold(objects: Sequence[Any], op: Callable[[Any, Any], Any]) -> Any:
    """``op`` over objects, in the order of the ranks."""
    result = objects[0]
    for one in objects[1:]:
        result = op(result, one)
    return result
