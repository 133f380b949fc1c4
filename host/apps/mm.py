"""Matrix product by blocks, which are fetched while others are multiplied.

C = A B, ``blocks`` x ``blocks`` blocks of ``block`` x ``block`` doubles, spread over the processes.
A process computes the blocks of C that lie on it. For each it multiplies ``blocks`` pairs of blocks
of A and B, in turn from the MYPROC-th on, so that the processes do not all fetch from one; while it
multiplies a pair, bulk_get fetches the next. Blocks that are local are used where they are.

The study names blocks of 128 x 128 and 16 x 16 doubles. 4 x 4 blocks of the former are a reading of
its times: 8 x 8 would be more than the peak of its processors.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..port.node import Node
from ..splitc import GlobalPointer, SplitC
from ..splitc.procedures import Procedure
from .computing import compute
from .data import load, random_matrix, save
from .phases import Phases, communication, computation

__all__ = ["PHASES", "Program", "check", "defaults", "inputs", "messages", "needed"]

PHASES = [communication("fetch"), computation("multiply"), communication("barrier")]
DOUBLE = 8


def defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters, with what is not ``given`` at its default."""
    return {"blocks": 4, "block": 16, "seed": 1, **given}


def needed(parameters: Mapping[str, Any], procs: int) -> int:
    """Bytes of memory that a process takes: its share of three matrices, and four buffers."""
    blocks, block = parameters["blocks"], parameters["block"]
    return (3 * -(-blocks * blocks // procs) + 4) * block * block * DOUBLE


def inputs(parameters: Mapping[str, Any], procs: int) -> tuple[Any, Any]:
    """A and B."""
    size = parameters["blocks"] * parameters["block"]
    return tuple(random_matrix(size, 2 * parameters["seed"] + one) for one in range(2))


def _block(parameters: Mapping[str, Any], matrix: Any, index: int) -> Any:
    row, column = divmod(index, parameters["blocks"])
    size = parameters["block"]
    return matrix[row * size:(row + 1) * size, column * size:(column + 1) * size]


class Program:
    """A process of the product. ``given``: A and B."""

    def __init__(self, node: Node, given: tuple[Any, Any], parameters: Mapping[str, Any]) -> None:
        self.procedures: list[Procedure] = []
        self._node = node
        self._given = given
        self._parameters = parameters
        self._length = parameters["block"] ** 2 * DOUBLE
        self._buffers = [(node.allocate(self._length), node.allocate(self._length))
                         for _ in range(2)]

    async def run(self, sc: SplitC, phases: Phases) -> dict[int, Any]:
        """The blocks of C that lie on this process, by number."""
        blocks, block = self._parameters["blocks"], self._parameters["block"]
        node = self._node
        left, right, result = [await sc.all_spread_malloc(blocks * blocks, self._length)
                               for _ in range(3)]
        for array, matrix in zip((left, right), self._given, strict=True):
            for index in array.indices(sc.MYPROC):
                save(node, array[index].address, _block(self._parameters, matrix, index))
        mine = result.indices(sc.MYPROC)
        pairs = [(left[index // blocks * blocks + k], right[k * blocks + index % blocks])
                 for index in mine
                 for k in ((sc.MYPROC + step) % blocks for step in range(blocks))]
        found: dict[int, Any] = {}
        following: list[int] = []
        await sc.barrier()
        for number in range(len(pairs)):
            with phases("fetch"):
                if not number:
                    following = await self._fetch(sc, pairs[0], 0)
                await sc.sync()
                here = following
                if number + 1 < len(pairs):
                    following = await self._fetch(sc, pairs[number + 1], number + 1)
            with phases("multiply"):
                await compute(sc, "flop", 2 * block ** 3)
            index = mine[number // blocks]
            one, two = (self._load(address) for address in here)
            found[index] = found.get(index, 0) + one @ two
            save(node, result[index].address, found[index])
        with phases("barrier"):
            await sc.barrier()
        return {index: self._load(result[index].address) for index in mine}

    async def _fetch(self, sc: SplitC, pair: Sequence[GlobalPointer], number: int) -> list[int]:
        """Begin to fetch what is elsewhere of pair ``number``; the addresses of the two blocks."""
        places = []
        for source, buffer in zip(pair, self._buffers[number % 2], strict=True):
            if source.process == sc.MYPROC:
                buffer = sc.tolocal(source)
            else:
                await sc.bulk_get(buffer, source, self._length)
            places.append(buffer)
        return places

    def _load(self, address: int) -> Any:
        block = self._parameters["block"]
        return load(self._node, address, block * block, np.float64).reshape(block, block)


def check(results: Sequence[Mapping[int, Any]], given: tuple[Any, Any],
          parameters: Mapping[str, Any]) -> tuple[bool, str]:
    """Tells whether the blocks are those of numpy's product."""
    whole = given[0] @ given[1]
    blocks = {index: block for mine in results for index, block in mine.items()}
    wrong = [index for index in range(parameters["blocks"] ** 2)
             if index not in blocks
             or not np.array_equal(blocks[index], _block(parameters, whole, index))]
    return not wrong, (f"{len(wrong)} of {parameters['blocks'] ** 2} blocks differ from numpy's "
                       "product" if wrong else f"all {len(blocks)} blocks are those of numpy's "
                       "product")


def messages(given: tuple[Any, Any], parameters: Mapping[str, Any], procs: int
             ) -> list[dict[str, int]]:
    """Messages of each process by kind, besides those of collective calls."""
    n = parameters["blocks"]
    found = []
    for me in range(procs):
        away = sum((i * n + k) % procs != me for i in range(n) for j in range(n)
                   if (i * n + j) % procs == me for k in range(n))
        away += sum((k * n + j) % procs != me for i in range(n) for j in range(n)
                    if (i * n + j) % procs == me for k in range(n))
        found.append({"bulk_get": away} if away else {})
    return found

