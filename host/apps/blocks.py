"""Blocks of a space, one a process, and which of them lie on one node."""

from functools import cached_property

__all__ = ["MAPPINGS", "Blocks"]

_CUBES = {4: (2, 2, 1), 8: (2, 2, 2), 16: (4, 2, 2), 32: (4, 4, 2), 64: (4, 4, 4)}
_ROWS = {16: (8, 2, 1), 32: (8, 2, 2), 64: (8, 4, 2)}
_PLANES = {16: (8, 2, 1), 32: (8, 4, 1), 64: (8, 8, 1)}
MAPPINGS = {"naive": ((4, 2, 1), _CUBES), "good": ((2, 2, 2), _CUBES),
            "rows": ((8, 1, 1), _ROWS), "plane": ((8, 1, 1), _PLANES)}
"""Of each mapping: the blocks along each axis that eight processes with following numbers have,
those of a node with eight CPUs; and the blocks along each axis altogether, by their number. With
another number they are in a row."""
NODE = 8
Place = tuple[int, int, int]


class Blocks:
    """``procs`` blocks in the order of ``mapping``, one of MAPPINGS. 16 blocks and more are
    numbered node by node; with fewer there is one node."""

    def __init__(self, procs: int, mapping: str) -> None:
        node, shapes = MAPPINGS[mapping]
        self.shape = shapes.get(procs, (procs, 1, 1))
        x, y, z = node if procs in shapes and procs > NODE else self.shape
        across, deep = self.shape[0] // x, self.shape[1] // y
        self.places: list[Place] = []
        """Where the block of each process is."""
        for process in range(procs):
            outer, inner = divmod(process, x * y * z)
            self.places.append((outer % across * x + inner % x,
                                outer // across % deep * y + inner // x % y,
                                outer // across // deep * z + inner // x // y))

    @cached_property
    def process(self) -> dict[Place, int]:
        """The process of each place."""
        return {place: process for process, place in enumerate(self.places)}

    def beside(self, process: int, axis: int, by: int) -> int | None:
        """The process whose block is ``by`` further along ``axis``; None if there is none: the
        space has edges."""
        place = [*self.places[process]]
        place[axis] += by
        return self.process.get((place[0], place[1], place[2]))

    def neighbours(self, process: int) -> list[int]:
        """The processes whose blocks have a face with that of ``process``."""
        return [other for axis in range(3) for by in (-1, 1)
                if (other := self.beside(process, axis, by)) is not None]
