"""Connected components of a lattice with random edges.

Each process searches its block, depth first, and learns to which component the other end of each
edge that leads out of it belongs. Its components then join those of other processes, round after
round (:mod:`.components`, a variant of Shiloach's and Vishkin's algorithm), until no edge is left
between two. At last each node gets the number of its component's first node.

Variant *comm* is a lattice in three dimensions with 25 % of its edges: near the threshold of
percolation, so that one component grows over all processes, and the one that has its root walks
along its whole list of edges. Variant *comp* is a lattice in two dimensions with 40 %, whose
components are small: the search is most of it. At the study's size a process has 80^3 or 800^2
nodes. How the blocks lie is not told; here eight processes with following numbers, those of a node,
have a row of blocks, of which four are side by side: 8 x 2 x 2 or 8 x 4.

``apps.con_node`` and ``apps.con_edge`` are the prices of a node and an edge in the search, and of
an edge whenever it is looked at. The search reads and writes 44 bytes a node and 24 an edge: label
and edges of a node are 16, and the label at an edge's other end 4, but they come from memory in
whole lines at the study's size, 2 MB and more a process. That is fitted: with it *comp* on the
study's SMP takes as long as published. An edge between components is 8 bytes, two words.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..port.node import Node
from ..splitc import GlobalPointer, SplitC, SpreadArray
from ..splitc.procedures import Procedure
from .components import (
    Chain,
    Join,
    Link,
    Read,
    Total,
    Walk,
    Write,
    chains,
    joined,
    played,
)
from .computing import compute
from .data import load, save
from .lattice import Lattice
from .phases import Phases, communication, computation
from .streaming import Streaming

__all__ = ["PHASES", "Program", "check", "defaults", "inputs", "messages", "needed", "traffic",
           "work"]

PHASES = [computation("search"), communication("ends"), communication("lists"),
          computation("edges"), communication("jump"), communication("join"),
          communication("barrier"), computation("labels")]
SIZES = ("side",)
BY_DATA = True
WORD = 4
EDGE = 8
NODE_BYTES = 44
EDGE_BYTES = 24
AT_ONCE = 1024
"""Most words that a process asks for before it waits."""
VARIANTS = {"comm": (3, 25, "rows", 8), "comp": (2, 40, "plane", 32)}
"""Axes, percentage of edges, mapping of blocks, and the side of a block if nobody says."""


def defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters, with what is not ``given`` at its default."""
    variant = given.get("variant", "comm")
    return {"variant": variant, "side": VARIANTS[variant][3], "seed": 1, **given}


def work(parameters: Mapping[str, Any]) -> int:
    """Nodes of a process."""
    return int(parameters["side"] ** VARIANTS[parameters["variant"]][0])


def needed(parameters: Mapping[str, Any], procs: int) -> int:
    """Bytes of memory that a process takes: the labels of its nodes, the edges that lead out of its
    block, 2 * axes faces at most, and the labels that it reads."""
    axes, side = VARIANTS[parameters["variant"]][0], parameters["side"]
    return int(WORD * (side ** axes + AT_ONCE) + EDGE * 2 * axes * side ** (axes - 1))


def inputs(parameters: Mapping[str, Any], procs: int) -> Lattice:
    """The lattice."""
    axes, percent, mapping, _ = VARIANTS[parameters["variant"]]
    return Lattice(parameters["side"], axes, percent, procs, mapping, parameters["seed"])


class Program:
    """A process of it."""

    def __init__(self, node: Node, given: Lattice, parameters: Mapping[str, Any]) -> None:
        self.procedures: list[Procedure] = [self._take]
        self._node = node
        self._lattice = given
        self._told: list[tuple[int, int, int]] = []
        self._fetched = 0

    async def run(self, sc: SplitC, phases: Phases) -> Any:
        """The component of each node of this process."""
        node, lattice, me = self._node, self._lattice, sc.MYPROC
        count = lattice.count
        labels = await sc.all_spread_malloc(sc.PROCS, WORD * count)
        edges = await sc.all_spread_malloc(sc.PROCS, EDGE * lattice.most)
        here = labels.at(me)
        self._fetched = node.allocate(WORD * AT_ONCE)
        over = Streaming(node)
        await sc.barrier()
        with phases("search"):
            await compute(sc, "con_node", count, over, NODE_BYTES)
            inner, outer = len(lattice.inner[me][0]), len(lattice.outer[me][0])
            await compute(sc, "con_edge", inner + outer, over, EDGE_BYTES)
        found = lattice.searched(me)
        save(node, here, np.array(found, np.uint32))
        lists, behind = chains(lattice, me, found)
        save(node, edges.at(me), np.array([(0, edge) for edge in behind], np.uint32))
        with phases("barrier"):
            await sc.barrier()
        with phases("ends"):
            for number, end in enumerate(lattice.outer[me][1].tolist()):
                await sc.get(edges.at(me) + EDGE * number, _label(labels, count, end))
            await sc.sync()
        with phases("barrier"):
            await sc.barrier()
        steps, answer = joined(lists), None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration:
                break
            answer = None
            if isinstance(step, Walk):
                with phases("lists"):
                    answer = [await self._walk(sc, edges, chain) for chain in step.lists]
            elif isinstance(step, Read):
                with phases("jump" if step.jump else "ends"):
                    answer = await self._read(sc, [_label(labels, count, end)
                                                   for end in step.nodes])
                with phases("barrier"):
                    await sc.barrier()
                if not step.jump:
                    with phases("edges"):
                        await compute(sc, "con_edge", len(step.nodes))
            elif isinstance(step, Total):
                with phases("barrier"):
                    answer = int(await sc.reduce(step.value))
            elif isinstance(step, Write):
                with phases("jump"):
                    for root, parent in step.parents.items():
                        await sc.put(GlobalPointer(me, here + WORD * (root % count), "I"), parent)
            elif isinstance(step, Link):
                with phases("lists"):
                    for edge, then in step.behind.items():
                        place = self._edge(edges, edge)
                        await sc.put(GlobalPointer(place.process, place.address + WORD, "I"), then)
                    await sc.sync()
            else:
                with phases("join"):
                    answer = await self._join(sc, step)
        with phases("labels"):
            await compute(sc, "con_node", count, over, NODE_BYTES)
        own = load(node, here, count).astype(np.int64)
        save(node, here, own[np.array(found) - me * count].astype(np.uint32))
        with phases("barrier"):
            await sc.barrier()
        return load(node, here, count)

    def _edge(self, edges: SpreadArray, number: int) -> GlobalPointer:
        """Where edge ``number`` is: its other end, and the edge behind it."""
        owner, at = divmod(number, self._lattice.most)
        return GlobalPointer(owner, edges.at(owner) + EDGE * at, "Q")

    async def _walk(self, sc: SplitC, edges: SpreadArray, chain: Chain
                    ) -> list[tuple[int, int, int]]:
        """The edges of a list. Each tells where the next one is, so nothing is read ahead."""
        edge, found = chain.head, []
        while True:
            behind, end = divmod(int(await sc.read(self._edge(edges, edge))), 1 << 32)
            found.append((edge, end, behind))
            if edge == chain.tail:
                return found
            edge = behind

    async def _read(self, sc: SplitC, pointers: Sequence[GlobalPointer]) -> list[int]:
        """The words at ``pointers``."""
        words: list[int] = []
        for first in range(0, len(pointers), AT_ONCE):
            part = pointers[first:first + AT_ONCE]
            for number, pointer in enumerate(part):
                await sc.get(self._fetched + WORD * number, pointer)
            await sc.sync()
            words += load(self._node, self._fetched, len(part)).tolist()
        return words

    async def _join(self, sc: SplitC, step: Join) -> list[tuple[int, int, int]]:
        """Tell lists to the processes that have their new roots; those that were told here."""
        for root, head, tail in step.lists:
            await sc.store_by(root // self._lattice.count, self._take, root, head, tail)
        await sc.all_store_sync()
        told, self._told = sorted(self._told), []
        return told

    def _take(self, sc: SplitC, source: int, root: int, head: int, tail: int) -> None:
        """The procedure by which lists are told."""
        self._told.append((root, head, tail))


def _label(labels: SpreadArray, count: int, node: int) -> GlobalPointer:
    """Where the label of ``node`` is."""
    owner, at = divmod(node, count)
    return GlobalPointer(owner, labels.at(owner) + WORD * at, "I")


def check(results: Sequence[Any], given: Lattice, parameters: Mapping[str, Any]
          ) -> tuple[bool, str]:
    """Tells whether each node is in the component that a sequential union-find finds."""
    wanted, found = np.array(given.united()), np.concatenate(list(results))
    if found.shape != wanted.shape:
        return False, f"{found.size} nodes, not {wanted.size}"
    wrong = int(np.count_nonzero(found != wanted))
    return not wrong, (f"{wrong} of {wanted.size} nodes are in another component than the "
                       "union-find's" if wrong else f"all {wanted.size} nodes are in the "
                       f"union-find's {len(np.unique(wanted))} components")


def traffic(given: Lattice, parameters: Mapping[str, Any], procs: int) -> list[dict[int, int]]:
    """Requests of each process to each other one."""
    sent = played(given).values()
    return [dict(sum(kinds, Counter())) for kinds in zip(*sent, strict=True)]


def messages(given: Lattice, parameters: Mapping[str, Any], procs: int) -> list[dict[str, int]]:
    """Messages of each process by kind, besides those of collective calls."""
    sent = played(given)
    return [{kind: count for kind, each in sent.items() if (count := each[process].total())}
            for process in range(procs)]
