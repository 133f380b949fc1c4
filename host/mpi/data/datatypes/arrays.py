"""Parts of arrays as datatypes: subarrays, and the part of a process of an array that is divided
among all."""

from collections.abc import Sequence
from operator import index
from typing import Any

from ...errors import ErrorClass, MpiError
from .datatype import Datatype

__all__ = ["BLOCK", "CYCLIC", "DEFAULT", "NONE", "darray", "subarray"]

NONE, BLOCK, CYCLIC = range(3)
"""How the elements along a dimension are divided: not at all, in one block for each process, or in
blocks in turn."""
DEFAULT = -1
"""A block's length that follows from the others."""

Runs = Sequence[tuple[int, int]]
"""First index and length of each run of elements along a dimension."""


def subarray(of: Datatype, sizes: Sequence[int], subsizes: Sequence[int], starts: Sequence[int],
             order: int, *, fortran: bool) -> Datatype:
    """Elements ``starts`` to ``starts + subsizes`` of an array of ``sizes`` elements of type
    ``of``; its extent is the whole array's. ``fortran``: the first index is the fastest one, else
    the last; ``order``: the face's number for that.

    Raises
    ------
    MpiError
        The part is not within the array, or empty.
    """
    _same(len(sizes), subsizes, starts)
    runs = []
    for size, part, start in zip(sizes, subsizes, starts, strict=True):
        if part < 1 or not 0 <= start <= size - part:
            raise MpiError(ErrorClass.ERR_ARG, f"a subarray of {part} elements from {start} on, of "
                           f"{size}")
        runs.append([(index(start), index(part))])
    return _of_runs(of, sizes, runs, fortran).made(
        "SUBARRAY", types=(of,), sizes=sizes, subsizes=subsizes, starts=starts, order=order)


def darray(of: Datatype, size: int, rank: int, gsizes: Sequence[int], distribs: Sequence[int],
           dargs: Sequence[int], psizes: Sequence[int], order: int, *, fortran: bool) -> Datatype:
    """The elements that process ``rank`` of ``size`` has of an array of ``gsizes`` elements of type
    ``of``. The processes are a grid of ``psizes``, the last index the fastest one, and along each
    dimension elements are divided by its entry of ``distribs``, in blocks of ``dargs``.

    Raises
    ------
    MpiError
        There is no such process or no such division.
    """
    _same(len(gsizes), distribs, dargs, psizes)
    processes = 1
    for one in psizes:
        processes *= index(one)
    if processes != size or not 0 <= rank < size:
        raise MpiError(ErrorClass.ERR_ARG, f"rank {rank} of {size}, in a grid of {processes}")
    runs, left, of_grid = [], index(rank), index(size)
    for length, how, block, count in zip(gsizes, distribs, dargs, psizes, strict=True):
        of_grid //= count
        place, left = divmod(left, of_grid)
        runs.append(_owned(index(length), how, index(block), index(count), place))
    return _of_runs(of, gsizes, runs, fortran).made(
        "DARRAY", types=(of,), size=size, rank=rank, gsizes=gsizes, distribs=distribs, dargs=dargs,
        psizes=psizes, order=order)


def _same(count: int, *lists: Sequence[Any]) -> None:
    if any(len(one) != count for one in lists):
        raise MpiError(ErrorClass.ERR_ARG, "lists for the dimensions are of different lengths")


def _owned(length: int, how: int, block: int, count: int, place: int) -> Runs:
    """What the process at ``place`` of ``count`` has of ``length`` elements."""
    if how not in (NONE, BLOCK, CYCLIC):
        raise MpiError(ErrorClass.ERR_ARG, f"{how} is no distribution")
    if how == NONE:
        if count != 1:
            raise MpiError(ErrorClass.ERR_ARG, f"a dimension that is not divided, and {count} "
                           "processes")
        return [(0, length)]
    if block == DEFAULT:
        block = -(-length // count) if how == BLOCK else 1
    if block < 1 or how == BLOCK and block * count < length:
        raise MpiError(ErrorClass.ERR_ARG, f"blocks of {block}, for {length} elements and {count} "
                       "processes")
    step = block * count if how == CYCLIC else max(length, 1)
    return [(first, min(block, length - first)) for first in range(block * place, length, step)]


def _of_runs(of: Datatype, sizes: Sequence[int], runs: Sequence[Runs], fortran: bool) -> Datatype:
    made, stride = of, of.extent
    axes = list(zip(sizes, runs, strict=True))
    for size, along in axes if fortran else reversed(axes):
        made = made.Create_hindexed([length for _, length in along],
                                    [first * stride for first, _ in along])
        stride *= index(size)
        made = made.Create_resized(0, stride)
    return made
