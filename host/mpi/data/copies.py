"""Copies by the CPU, from and to pieces of a process's memory: through the cache, a word at a
time."""

from collections.abc import Awaitable, Iterable, Sequence

from ....layouts.trace import BEGIN, END, Activity
from ...kernel.process import Process

__all__ = ["Piece", "Pieces", "copy", "cut", "gather", "queue_copy",
           "queue_traffic", "scatter", "total", "touch_for"]

COPY = int(Activity.COPY)

Piece = tuple[int, int]
"""Address and bytes."""
Pieces = Sequence[Piece]


def total(pieces: Pieces) -> int:
    """Their bytes."""
    if len(pieces) == 1:
        return pieces[0][1]
    return sum([length for _, length in pieces])


def gather(process: Process, pieces: Pieces) -> memoryview | bytes:
    """The bytes of ``pieces``, at least one, in no time: for whoever copies them at once."""
    if len(pieces) == 1:
        return process.view(*pieces[0])
    found = memoryview(bytearray(total(pieces)))
    begin = 0
    for at, length in pieces:
        process.read_into(at, found[begin:begin + length])
        begin += length
    return found


def scatter(process: Process, pieces: Pieces, data: memoryview | bytes) -> None:
    """``data`` into ``pieces``, as far as they go, in no time. If it is a view of memory
    (:func:`gather`), they must not overlap."""
    if len(data) <= pieces[0][1]:
        process.write(pieces[0][0], data)
        return
    begin, data = 0, memoryview(data)
    for at, length in pieces:
        if begin >= len(data):
            break
        process.write(at, data[begin:begin + length])
        begin += length


def cut(pieces: Iterable[Piece], first: int, length: int) -> list[Piece]:
    """The ``length`` bytes of ``pieces`` from byte ``first`` on."""
    found = []
    for at, size in pieces:
        if first >= size:
            first -= size
            continue
        part = min(size - first, length)
        if part > 0:
            found.append((at + first, part))
        length -= part
        first = 0
        if length <= 0:
            break
    return found


def copy(process: Process, source: Pieces, destination: Pieces) -> Awaitable[None]:
    """Copy all of ``source`` to the beginning of ``destination``: charged. They must not overlap,
    which MPI forbids. It must be awaited at once (:meth:`Port.settle`)."""
    queue_copy(process, source, destination)
    return process.port.settle()


def queue_copy(process: Process, source: Pieces, destination: Pieces) -> None:
    """The same, its traffic queued (:meth:`Process.queue_touch`)."""
    length = total(source)
    if length:
        queue_traffic(process, source, destination, length)
        scatter(process, destination, gather(process, source))


def queue_traffic(process: Process, source: Pieces, destination: Pieces, length: int) -> None:
    """Queues what the CPU does for a copy of ``length`` bytes, all of ``source``; the bytes stay
    where they are."""
    port = process.port
    port.mark(COPY, BEGIN, 0)
    port.work("copy_word", max(-(-length // 8), len(source), len(destination)))
    for at, size in source:
        process.queue_touch(at, size)
    left = length
    for at, size in destination:
        if left <= 0:
            break
        process.queue_touch(at, min(size, left), True)
        left -= size
    port.mark(COPY, END, 0)


async def touch_for(process: Process, pieces: Pieces, length: int) -> None:
    """The CPU's stores of ``length`` bytes to the beginning of ``pieces``."""
    for at, size in pieces:
        if length <= 0:
            break
        await process.touch(at, min(size, length), store=True)
        length -= size
