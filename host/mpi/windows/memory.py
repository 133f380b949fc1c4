"""Keeps the memory that others reach in agreement with the program's.

A program computes in its own memory, and the target knows a place for it in the memory of the
process, where time is charged and RDMA arrives. A program takes no target time between its calls,
so it is enough that the two agree where calls begin and end:

- *Plain* memory is reached by packets alone. The program's bytes count: each packet takes what it
  reads from there, and puts there what it has written.
- *Remote* memory is reached by RDMA, too. At the beginning of each outermost call the bytes that
  the program has changed since then go to the place, and no others. What an origin has written
  comes back with the packet that follows it on its way (:meth:`Remote.landed`), as each end of an
  epoch and each flush sends one; which bytes these are is known beside the target.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ...kernel.process import Process
from ..data.copies import Piece, Pieces

__all__ = ["Exposed", "Memory", "Place", "Remote", "process_pieces", "put_back", "show"]


class Exposed:
    """Memory of a program, ``flat``, whose place in the memory of ``process`` is ``address``; for
    others it begins at ``base``."""

    def __init__(self, process: Process, flat: Any, address: int, base: int = 0) -> None:
        self._process = process
        self.flat = np.asarray(flat)
        self.address = address
        self.base = base

    @property
    def size(self) -> int:
        """Its bytes."""
        return len(self.flat)

    def show(self, at: int, length: int) -> None:
        """The program's bytes to the place, in no time."""
        self._process.write(self.address + at, self.flat.data[at:at + length])

    def put_back(self, at: int, length: int) -> None:
        """Returns what has been written at the place to the program, in no time."""
        self._process.read_into(self.address + at, self.flat.data[at:at + length])

    def will_write(self, rank: int, at: int, length: int) -> None:
        """``rank``, among all, begins a write by RDMA."""
        raise AssertionError("RDMA into memory that packets alone reach")

    def landed(self, rank: int) -> None:
        """All that ``rank``, among all, has written by RDMA so far is in memory."""


class Remote(Exposed):
    """The same, reached by RDMA, too."""

    def __init__(self, process: Process, flat: Any, address: int) -> None:
        super().__init__(process, flat, address)
        self._known = self.flat.copy()
        """What was at the place when it and the program's memory agreed last."""
        self._written: dict[int, set[Piece]] = {}
        """By rank among all, what it writes."""
        process.write(address, flat.data)

    def enter(self) -> None:
        """A call begins: what the program has changed goes to the place."""
        changed = self.flat != self._known
        if not changed.any():
            return
        places = np.flatnonzero(changed)
        first, last = int(places[0]), int(places[-1]) + 1
        now = np.empty(last - first, np.uint8)
        self._process.read_into(self.address + first, now.data)
        now[changed[first:last]] = self.flat[first:last][changed[first:last]]
        self._process.write(self.address + first, now.data)
        self._known[first:last] = self.flat[first:last]

    def will_write(self, rank: int, at: int, length: int) -> None:
        self._written.setdefault(rank, set()).add((at, length))

    def landed(self, rank: int) -> None:
        for piece in self._written.pop(rank, ()):
            self.put_back(*piece)

    def show(self, at: int, length: int) -> None:
        """It was shown when the call began."""

    def put_back(self, at: int, length: int) -> None:
        super().put_back(at, length)
        self._known[at:at + length] = self.flat[at:at + length]


class Memory:
    """All memory of a window at one process.

    Attributes
    ----------
    regions
        Its pieces: one, or those that the process has attached.
    """

    def __init__(self, *regions: Exposed) -> None:
        self.regions = [*regions]

    def find(self, address: int, length: int) -> Exposed | None:
        """The region that has these bytes."""
        return next((one for one in self.regions
                     if one.base <= address and address + length <= one.base + one.size), None)

    def cut(self, address: int, length: int) -> list[Piece] | None:
        """These bytes, cut where one region follows another; None if some are in none."""
        pieces = []
        while length:
            found = self.find(address, 1)
            if found is None:
                return None
            part = min(length, found.base + found.size - address)
            pieces.append((address, part))
            address, length = address + part, length - part
        return pieces

    def place(self, address: int, length: int) -> "Place":
        """These bytes, which were found before."""
        found = self.find(address, length)
        assert found is not None
        return Place(found, address - found.base, length)

    def will_write(self, rank: int, at: int, length: int) -> None:
        """``rank``, among all, begins a write by RDMA."""
        for one in self.regions:
            one.will_write(rank, at, length)

    def landed(self, rank: int) -> None:
        """All that it has written so far is in memory."""
        for one in self.regions:
            one.landed(rank)


class Place(NamedTuple):
    """``length`` bytes of ``memory``, from byte ``at`` on."""

    memory: Exposed
    at: int
    length: int


def show(places: Iterable[Place]) -> None:
    """The program's bytes to their places in the process's memory, in no time."""
    for memory, at, length in places:
        memory.show(at, length)


def put_back(places: Iterable[Place]) -> None:
    """Returns what has been written there to the program, in no time."""
    for memory, at, length in places:
        memory.put_back(at, length)


def process_pieces(places: Iterable[Place]) -> Pieces:
    """Tells where they are in the process's memory."""
    return [(memory.address + at, length) for memory, at, length in places]
