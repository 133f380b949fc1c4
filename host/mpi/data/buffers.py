"""Buffers of a program: arrays of numpy that have a place in the process's memory.

What a program computes it computes in numpy. A call puts what it sends into the process's memory,
in no time, and takes what it has received from there. The place of an array decides on cache and
registration, so it must not depend on where numpy has the array: arrays of :meth:`Buffers.empty`
have a place of their own for good, and so have their views. Others are given one for each call, in
the order of the calls.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import index
from typing import Any, SupportsIndex

import numpy as np

from ...kernel.process import Process
from ..errors import ErrorClass, MpiError
from .copies import Piece
from .datatypes import BYTE, Datatype, of_dtype
from .memory import Memory
from .memory_store import MemoryStore
from .message_data import Data, Parts
from .operands import Operand
from .operators import Op

__all__ = ["Buffers"]

ALIGN = 64
NEAR = 4096
"""Bytes between data of one message that keep their distance where the message is staged in parts:
they belong together."""
FAR = 1 << 20
"""So many bytes without data are no part of a message's place."""
SPARSE = 1 << 24
"""Neither are the gaps of a message that are more than that together."""


class Buffers:
    """The arrays of ``process``."""

    def __init__(self, process: Process, store: MemoryStore) -> None:
        self._process = process
        self._store = store
        self._roots: dict[int, tuple[Any, int, int]] = {}
        """By the identity of an array that owns its memory: it, where numpy has it, its place."""
        self._whole: dict[int, Data] = {}
        """Of those of :meth:`empty`, by the same: all their bytes, as messages have them."""

    def empty(self, shape: Any, dtype: Any = np.float64) -> Any:
        """An array of zeros with a place of its own.

        Raises
        ------
        MemoryError
            The node's memory is full.
        """
        array = np.zeros(shape, dtype)
        address = self._process.allocate(max(array.nbytes, 1), ALIGN)
        self._roots[id(array)] = array, array.__array_interface__["data"][0], address
        flat = array.reshape(-1).view(np.uint8)
        self._whole[id(array)] = Data(self._process, address,
                                      [(0, len(flat))] if len(flat) else [], flat).of(array.dtype)
        return array

    @contextmanager
    def placed(self, *arrays: Any) -> Iterator[None]:
        """Meanwhile ``arrays``, which own their memory, have places of their own."""
        places = [self._store.take(array.nbytes) for array in arrays]
        for array, address in zip(arrays, places, strict=True):
            self._roots[id(array)] = array, array.__array_interface__["data"][0], address
        try:
            yield
        finally:
            for array, address in zip(arrays, places, strict=True):
                del self._roots[id(array)]
                self._store.give(address, array.nbytes)

    def data(self, buffer: Any, call: str) -> Data:
        """The bytes of ``buffer``: an array; an array, or an address of the process's memory, with
        a count and a datatype, or with one of them; or None, no bytes.

        Raises
        ------
        MpiError
            It is none of these, or not in one piece, or shorter than that.
        """
        whole = self._whole.get(id(buffer))
        if whole is not None:
            return whole
        if buffer is None:
            return Data(self._process, 0, [])
        array, count, datatype = buffer, None, None
        if isinstance(buffer, list | tuple):
            array, count, datatype = self.spec(buffer, call)
        if isinstance(array, int | Memory):
            if count is None or datatype is None:
                raise MpiError(ErrorClass.ERR_BUFFER, f"{call}: an address needs a count and a "
                               "datatype")
            if count < 0:
                raise MpiError(ErrorClass.ERR_COUNT, f"{call}: count {count}: must not be "
                               "negative")
            return self._at(array, datatype.pieces(count), call).of(datatype.dtype)
        flat, array = self.flat(array, call)
        if datatype is None and count is None:
            places, dtype = [(0, len(flat))] if len(flat) else [], array.dtype
        else:
            if datatype is None:
                datatype = of_dtype(array.dtype)
            if count is None:
                count = len(flat) // datatype.extent if datatype.extent else 0
            if count < 0:
                raise MpiError(ErrorClass.ERR_COUNT, f"{call}: count {count}: must not be "
                               "negative")
            places, dtype = datatype.pieces(count), datatype.dtype
            array, flat, places = _inside(
                array, flat, places, lambda: f"{call}: {count} of {datatype.name}")
        return self._placed(array, flat, places).of(dtype)

    def operand(self, buffer: Any, call: str) -> Operand:
        """A copy of a buffer's elements to compute with. What a library would copy first, it
        copies last, and is charged there."""
        if not isinstance(buffer, list | tuple):
            flat, array = self.flat(buffer, call)
            return Operand.of_array(flat.view(array.dtype))
        array, count, datatype = self.spec(buffer, call)
        if isinstance(array, Memory):
            assert count is not None and datatype is not None
            return Operand.of_elements(array.view, count, datatype, call)
        flat, array = self.flat(array, call)
        if datatype is None:
            return Operand.of_array(flat.view(array.dtype)[:count])
        if count is None:
            count = len(flat) // datatype.extent
        first, _ = datatype.span(count)
        array, flat, [(at, _)] = _inside(array, flat, [(first, datatype.span(count)[1] - first)],
                                         lambda: f"{call}: {count} of {datatype.name}")
        begin = at - first
        return Operand.of_elements(lambda first, length: flat[begin + first:begin + first + length],
                                   count, datatype, call)

    def reduce(self, op: Op, first: Any, second: Any, call: str) -> None:
        """``first`` op ``second`` into ``second``, in no time: what a program computes alone. Each
        is bytes, or memory, with a count and a datatype."""
        lower, higher = self.operand(first, call), self.operand(second, call)
        op.check(higher, call)
        op.combine(lower, higher, higher)
        array, count, datatype = self.dense(second, call)
        begin, packed = 0, higher.packed()
        for at, length in datatype.pieces(count):
            into = array.view(at, length) if isinstance(array, Memory) else array[at:at + length]
            into[:] = packed[begin:begin + length]
            begin += length

    def held(self, operand: Operand, call: str) -> Data:
        """The bytes of ``operand``, which has a place."""
        if operand.places is None:
            return self.data(operand.array, call)
        dtype = None if operand.datatype is None else operand.datatype.dtype
        return self._placed(operand.array, operand.bytes, operand.places).of(dtype)

    def dense(self, buffer: Any, call: str) -> Any:
        """``buffer``; of pairs of a value and an index with what lies between them, as an operand
        has it."""
        if isinstance(buffer, list | tuple):
            array, count, datatype = self.spec(buffer, call)
            if datatype is not None and datatype.kind is not None and not datatype.contiguous:
                if count is None:
                    count = len(self.flat(array, call)[0]) // datatype.extent
                return [array, count * datatype.extent, BYTE]
        return buffer

    def parts(self, buffer: Any, ranks: int, call: str) -> Parts:
        """A buffer of a vector collective: [array, counts], [array, counts, displacements], [array,
        (counts, displacements)], each with a datatype behind it or not."""
        if isinstance(buffer, Parts):
            return buffer
        if not isinstance(buffer, list | tuple) or len(buffer) < 2:
            raise MpiError(ErrorClass.ERR_BUFFER, f"{call}: a buffer must be [array, counts, "
                           "displacements]")
        array, *rest = buffer
        datatype = rest.pop() if isinstance(rest[-1], Datatype) else None
        if len(rest) == 1 and isinstance(rest[0], tuple) and len(rest[0]) == 2 \
                and not np.isscalar(rest[0][0]):
            rest = list(rest[0])
        counts = rest[0]
        displacements = rest[1] if len(rest) > 1 else None
        if datatype is None:
            datatype = of_dtype(np.asarray(array).dtype)
        found = Parts(array, counts, displacements, datatype)
        if len(found.counts) != ranks or len(found.displacements) != ranks:
            raise MpiError(ErrorClass.ERR_COUNT, f"{call}: {len(found.counts)} counts and "
                           f"{len(found.displacements)} displacements for {ranks} ranks")
        return found

    def typed_parts(self, buffer: Any, ranks: int, call: str) -> Parts:
        """A buffer of Alltoallw: [array, counts, displacements in bytes, datatypes]."""
        if not isinstance(buffer, list | tuple) or len(buffer) != 4 \
                or any(len(one) != ranks for one in buffer[1:]):
            raise MpiError(ErrorClass.ERR_BUFFER, f"{call}: a buffer must be [array, counts, "
                           f"displacements, datatypes], each for {ranks} ranks")
        array, counts, displacements, datatypes = buffer
        return Parts(array, counts, displacements, datatypes)

    def part(self, parts: Parts, rank: int, call: str) -> Data:
        """Returns what of ``parts`` belongs to ``rank``."""
        places, datatype = parts.places(rank), parts.type_of(rank)
        if isinstance(parts.buffer, int | Memory):
            return self._at(parts.buffer, places, call).of(datatype.dtype)
        flat, whole = self.flat(parts.buffer, call)
        whole, flat, places = _inside(whole, flat, places, lambda: f"{call}: rank {rank}'s data")
        return self._placed(whole, flat, places).of(datatype.dtype)

    @staticmethod
    def flat(array: Any, call: str) -> tuple[Any, Any]:
        """The bytes of ``array`` as numpy sees them, and the array."""
        if not isinstance(array, np.ndarray):
            try:
                array = np.frombuffer(array, np.uint8) if memoryview(array).format == "B" \
                    else np.asarray(memoryview(array))
            except (TypeError, ValueError):
                raise MpiError(ErrorClass.ERR_BUFFER, f"{call}: {type(array).__name__} is no "
                               "buffer") from None
        if not array.flags.c_contiguous:
            raise MpiError(ErrorClass.ERR_BUFFER, f"{call}: the array is not in one piece; send a "
                           "copy, or describe it by a datatype")
        return array.reshape(-1).view(np.uint8), array

    @staticmethod
    def spec(buffer: Any, call: str) -> tuple[Any, int | None, Datatype | None]:
        """An array, or an address; count and datatype, if they are given."""
        array, *rest = buffer
        count = datatype = None
        for one in rest:
            if isinstance(one, Datatype):
                datatype = one
            elif isinstance(one, SupportsIndex):
                count = index(one)
            else:
                raise MpiError(ErrorClass.ERR_BUFFER, f"{call}: {one!r} is no count and no "
                               "datatype")
        return array, count, datatype

    def _at(self, address: int | Memory, places: list[Piece], call: str) -> Data:
        if isinstance(address, Memory):
            return self._staged(address, places)
        for at, length in places:
            if not self._process.mapped(address + at, length):
                raise MpiError(ErrorClass.ERR_BUFFER, f"{call}: the process has no memory at "
                               f"{address + at:#x}")
        return Data(self._process, address, places)

    def _staged(self, memory: Memory, places: list[Piece]) -> Data:
        """A place for ``places`` in ``memory``: as they lie from its address on, or, where they lie
        before it or far from each other, each group of them that is near. Where a program's own
        memory is differs from run to run."""
        length = max([at + size for at, size in places], default=0)
        if not places:
            return Data(self._process, 0, [])
        groups = _groups(places) if not memory.address or _far(places) else [(0, length)]
        if groups == [(0, length)]:
            address = self._store.take(length)
            return Data(self._process, address, places, memory.view(0, length),
                        (self._store, address, length))
        room = [-(-(high - low) // ALIGN) * ALIGN for low, high in groups]
        address = self._store.take(sum(room))
        offsets = np.concatenate(([0], np.cumsum(room)))[:-1].tolist()
        views = [memory.view(low, high - low) for low, high in groups]
        lows = [low for low, _ in groups]
        parts = []
        for at, size in places:
            group = bisect_right(lows, at) - 1
            first = at - lows[group]
            parts.append((address + offsets[group] + first, views[group][first:first + size]))
        return Data.of_parts(self._process, parts, (self._store, address, sum(room)))

    def _placed(self, array: Any, flat: Any, places: list[Piece]) -> Data:
        root = array
        while root.base is not None and isinstance(root.base, np.ndarray):
            root = root.base
        found = self._roots.get(id(root))
        if found is not None:
            _, begin, address = found
            offset = array.__array_interface__["data"][0] - begin
            return Data(self._process, address + offset, places, flat)
        length = max((at + size for at, size in places), default=0)
        if not length:
            return Data(self._process, 0, [])
        address = self._store.take(length)
        return Data(self._process, address, places, flat, (self._store, address, length))


def _far(places: list[Piece]) -> bool:
    """Whether some lie before the buffer, or far from each other."""
    end = gaps = 0
    for at, size in sorted(places):
        gap = max(at - end, 0)
        gaps += gap
        if at < 0 or gap > FAR or gaps > SPARSE:
            return True
        end = max(end, at + size)
    return False


def _groups(places: list[Piece]) -> list[Piece]:
    """First and last byte of each group of ``places`` that are near each other."""
    found: list[Piece] = []
    for at, size in sorted(places):
        if found and at - found[-1][1] < NEAR:
            found[-1] = found[-1][0], max(found[-1][1], at + size)
        else:
            found.append((at, at + size))
    return found


def _inside(array: Any, flat: Any, places: list[Piece], what: Callable[[], str]
            ) -> tuple[Any, Any, list[Piece]]:
    """``array``, its bytes and ``places`` in it; where some lie before it, of the array of which
    it is a part.

    Raises
    ------
    MpiError
        They lie before that, or reach beyond ``array``.
    """
    outside = next((at + length for at, length in places if at < 0 or at + length > len(flat)),
                   None)
    if outside is None:
        return array, flat, places
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    first = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    moved = [(at + first, length) for at, length in places]
    if not root.flags.c_contiguous or any(at < 0 or at + length > first + len(flat)
                                          for at, length in moved):
        raise MpiError(ErrorClass.ERR_BUFFER, f"{what()} reach to byte {outside} of a buffer of "
                       f"{len(flat)}")
    return root, root.reshape(-1).view(np.uint8), moved
