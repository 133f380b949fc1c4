"""Electromagnetic waves on a graph: E and H vertices, each of which depends on some of the others.

In half a step each E vertex subtracts the values of its neighbours, which are H vertices, times the
weights of its edges; then H vertices do so with E. A process fetches the value of each remote
neighbour, a request and its reply an edge, before it computes.

Each process has a block of a space, of which half of the vertices are E. Of the edges ``remote``
percent lead to vertices of the blocks that have a face with it, each as likely as the others; the
space has edges. With 32 processes there are 4 x 4 x 2 blocks, and eight of them have a node: 4 x 2
x 1 (mapping *naive*) or 2 x 2 x 2 (*good*). Of the messages of naive 62.9 % stay on a node, of
those of good 77.5 %.

``apps.em3d_edge`` is the price of an edge in half a step. A block's vertices and edges are fewer
than a cache has room for at the study's size, so that no more of the memory is occupied.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..port.node import Node
from ..splitc import GlobalPointer, SplitC
from ..splitc.procedures import Procedure
from .blocks import Blocks
from .computing import compute
from .data import load, save
from .phases import Phases, communication, computation

__all__ = ["PHASES", "Program", "check", "defaults", "inputs", "messages", "needed", "traffic",
           "turns", "work"]

PHASES = [communication("fetch H"), computation("update E"), communication("fetch E"),
          computation("update H"), communication("barrier")]
SIZES = ("vertices", "steps")
BY_DATA = True
E, H = 0, 1
DOUBLE = 8


class Half(NamedTuple):
    """The vertices of one kind of a process: their values, and of each edge its weight and the
    process and number of the neighbour, which is of the other kind; vertices by edges."""

    values: Any
    weights: Any
    processes: Any
    numbers: Any


def defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters, with what is not ``given`` at its default."""
    return {"vertices": 20, "degree": 20, "remote": 40, "steps": 1, "mapping": "naive", "seed": 1,
            **given}


def work(parameters: Mapping[str, Any]) -> int:
    """Edges of a process, in all steps."""
    return int(parameters["vertices"] * parameters["degree"] * parameters["steps"])


def _kinds(vertices: int) -> tuple[int, int]:
    """E and H vertices of a process."""
    return vertices - vertices // 2, vertices // 2


def _remote(parameters: Mapping[str, Any], kind: int) -> int:
    """Remote edges of the vertices of ``kind`` of a process, to the nearest one."""
    count = _kinds(parameters["vertices"])[kind] * parameters["degree"]
    return (count * int(parameters["remote"]) + 50) // 100


def needed(parameters: Mapping[str, Any], procs: int) -> int:
    """Bytes of memory that a process takes: its values, and those that it fetches."""
    return DOUBLE * (parameters["vertices"] + max(_remote(parameters, kind) for kind in (E, H)))


def inputs(parameters: Mapping[str, Any], procs: int) -> list[tuple[Half, Half]]:
    """E and H of each process."""
    random = np.random.PCG64(parameters["seed"])
    blocks, degree = Blocks(procs, parameters["mapping"]), parameters["degree"]
    kinds = _kinds(parameters["vertices"])

    def numbers(count: int, below: Any) -> Any:
        """Whole numbers below ``below``, which do not change with numpy's version."""
        raw = random.random_raw(count) >> np.uint64(32)
        return ((raw * np.uint64(below)) >> np.uint64(32)).astype(np.int64)

    def half(process: int, kind: int) -> Half:
        count = kinds[kind] * degree
        others = np.array(blocks.neighbours(process))
        away = np.argsort(numbers(count, 1 << 32), kind="stable")[:_remote(parameters, kind)]
        processes = np.full(count, process)
        processes[away] = others[numbers(len(away), len(others))]
        shape = kinds[kind], degree
        return Half(numbers(kinds[kind], 1 << 20) / float(1 << 20),
                    (numbers(count, 1 << 20) / float(1 << 20) / degree).reshape(shape),
                    processes.reshape(shape), numbers(count, kinds[1 - kind]).reshape(shape))

    return [(half(process, E), half(process, H)) for process in range(procs)]


def updated(values: Any, weights: Any, neighbours: Any) -> Any:
    """The vertices' new values, edge after edge in their order: whoever computes them gets the same
    bits."""
    for edge in range(weights.shape[1]):
        values = values - weights[:, edge] * neighbours[:, edge]
    return values


def turns(parameters: Mapping[str, Any]) -> int:
    """Phases of a process, one behind the other."""
    return 6 * int(parameters["steps"])


class Program:
    """A process of it. ``given``: E and H of all."""

    def __init__(self, node: Node, given: Any, parameters: Mapping[str, Any]) -> None:
        self.procedures: list[Procedure] = []
        self._node = node
        self._given = given
        self._parameters = parameters

    async def run(self, sc: SplitC, phases: Phases) -> Any:
        """The values of this process's E and H vertices."""
        node, procs, me = self._node, sc.PROCS, sc.MYPROC
        halves, kinds = self._given[me], _kinds(self._parameters["vertices"])
        places = [await sc.all_spread_malloc(procs, DOUBLE * count) for count in kinds]
        fetched = node.allocate(DOUBLE * max(_remote(self._parameters, kind) for kind in (E, H)))
        wanted = []
        for kind, half in enumerate(halves):
            save(node, places[kind].at(me), half.values)
            away = np.nonzero(half.processes.reshape(-1) != me)[0]
            wanted.append((away, [
                GlobalPointer(process, places[1 - kind].at(process) + DOUBLE * number, "d")
                for process, number in zip(half.processes.reshape(-1)[away].tolist(),
                                           half.numbers.reshape(-1)[away].tolist(), strict=True)]))
        await sc.barrier()
        for _ in range(self._parameters["steps"]):
            for kind, half in enumerate(halves):
                away, pointers = wanted[kind]
                with phases("fetch E" if kind else "fetch H"):
                    for number, pointer in enumerate(pointers):
                        await sc.get(fetched + DOUBLE * number, pointer)
                    await sc.sync()
                with phases("update H" if kind else "update E"):
                    await compute(sc, "em3d_edge", half.weights.size)
                others = load(node, places[1 - kind].at(me), kinds[1 - kind], np.float64)
                neighbours = others[half.numbers].reshape(-1)
                neighbours[away] = load(node, fetched, len(away), np.float64)
                values = load(node, places[kind].at(me), kinds[kind], np.float64)
                save(node, places[kind].at(me),
                     updated(values, half.weights, neighbours.reshape(half.weights.shape)))
                with phases("barrier"):
                    await sc.barrier()
        return [load(node, places[kind].at(me), kinds[kind], np.float64) for kind in (E, H)]


def check(results: Sequence[Any], given: Any, parameters: Mapping[str, Any]) -> tuple[bool, str]:
    """Tells whether the values are those of a serial run, bit by bit."""
    values = [[halves[kind].values for halves in given] for kind in (E, H)]
    for _ in range(parameters["steps"]):
        for kind in (E, H):
            others = np.array(values[1 - kind])
            values[kind] = [updated(mine, half.weights, others[half.processes, half.numbers])
                            for mine, half in zip(values[kind], (halves[kind] for halves in given),
                                                  strict=True)]
    wanted = np.concatenate([one for kind in (E, H) for one in values[kind]])
    found = np.concatenate([halves[kind] for kind in (E, H) for halves in results])
    if found.shape != wanted.shape:
        return False, f"{found.size} values, not {wanted.size}"
    wrong = int(np.count_nonzero(found.view(np.uint64) != wanted.view(np.uint64)))
    return not wrong, (f"{wrong} of {wanted.size} values differ from the serial run's" if wrong
                       else f"all {wanted.size} values are those of the serial run, bit by bit")


def traffic(given: Any, parameters: Mapping[str, Any], procs: int) -> list[dict[int, int]]:
    """Requests of each process to each other one: one a remote edge and step."""
    found = []
    for me, halves in enumerate(given):
        counts = np.bincount(np.concatenate([half.processes.reshape(-1) for half in halves]),
                             minlength=procs)
        found.append({other: parameters["steps"] * int(count)
                      for other, count in enumerate(counts) if count and other != me})
    return found


def messages(given: Any, parameters: Mapping[str, Any], procs: int) -> list[dict[str, int]]:
    """Messages of each process by kind, besides those of collective calls."""
    return [{"get": sum(one.values())} if one else {}
            for one in traffic(given, parameters, procs)]
