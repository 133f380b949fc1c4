"""A lattice with random edges, of which each process has a block of nodes."""

from typing import Any

import numpy as np

from .blocks import Blocks

__all__ = ["Lattice"]


class Lattice:
    """Blocks of ``side`` nodes along each of ``axes`` axes, one for each of ``procs`` processes.
    Between two nodes that are next to each other, in one block or in two, there is an edge with
    probability ``percent`` / 100. Node n of process p has the number p * count + n.

    Attributes
    ----------
    count
        Nodes of a process.
    inner
        Edges within each process's block: two arrays of nodes, counted from the block's first.
    outer
        Edges of each process that lead out of its block: its own nodes' numbers, and those of the
        nodes at the other end. Each is in two processes' lists.
    most
        Outer edges of the process that has most, at least one.
    """

    def __init__(self, side: int, axes: int, percent: int, procs: int, mapping: str, seed: int
                 ) -> None:
        self.procs = procs
        self.count = count = side ** axes
        shape = (side,) * axes
        cells = np.arange(count).reshape(shape)
        blocks = Blocks(procs, mapping)
        raw = np.random.PCG64(seed).random_raw(procs * axes * count) >> np.uint64(32)
        there = (raw * np.uint64(100) >> np.uint64(32) < percent).reshape(procs, axes, *shape)
        self.inner: list[tuple[Any, Any]] = []
        out: list[list[Any]] = [[] for _ in range(procs)]
        for process in range(procs):
            pairs = []
            for axis in range(axes):
                edges = np.moveaxis(there[process, axis], axis, 0)
                nodes = np.moveaxis(cells, axis, 0)
                has = edges[:-1]
                pairs.append((nodes[:-1][has], nodes[1:][has]))
                other = blocks.beside(process, axis, 1)
                if other is not None:
                    face = edges[-1]
                    mine, its = process * count + nodes[-1][face], other * count + nodes[0][face]
                    out[process].append((mine, its))
                    out[other].append((its, mine))
            self.inner.append((np.concatenate([one for one, _ in pairs]),
                               np.concatenate([two for _, two in pairs])))
        none = np.zeros(0, np.int64)
        self.outer = [(np.concatenate([none, *(one for one, _ in pairs)]),
                       np.concatenate([none, *(two for _, two in pairs)])) for pairs in out]
        self.most = max(1, *(len(one) for one, _ in self.outer))

    def searched(self, process: int) -> list[int]:
        """The component of each node in the block of ``process``, by a depth-first search: the
        number of its first node."""
        one, two = self.inner[process]
        ends, others = np.concatenate((one, two)), np.concatenate((two, one))
        order = np.argsort(ends, kind="stable")
        first = np.searchsorted(ends[order], np.arange(self.count + 1)).tolist()
        beside = others[order].tolist()
        base = process * self.count
        found = [-1] * self.count
        for start in range(self.count):
            if found[start] >= 0:
                continue
            label = found[start] = base + start
            stack = [start]
            while stack:
                node = stack.pop()
                for other in beside[first[node]:first[node + 1]]:
                    if found[other] < 0:
                        found[other] = label
                        stack.append(other)
        return found

    def united(self) -> list[int]:
        """The component of each node of all processes, by a sequential union-find: the number of
        its first node."""
        parent = list(range(self.procs * self.count))

        def root(node: int) -> int:
            while parent[node] != node:
                parent[node] = node = parent[parent[node]]
            return node

        for process in range(self.procs):
            base = process * self.count
            for ends, at in ((self.inner[process], base), (self.outer[process], 0)):
                for one, two in zip(*(end.tolist() for end in ends), strict=True):
                    low, high = sorted((root(one + at), root(two + at)))
                    parent[high] = low
        return [root(node) for node in range(len(parent))]
