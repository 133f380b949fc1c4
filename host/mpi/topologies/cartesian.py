"""Grids: dimensions, of which each is periodic or not."""

import math
from collections.abc import Sequence

from ..constants import CART, PROC_NULL
from ..errors import ErrorClass, MpiError
from .topology import Topology

__all__ = ["Cartesian"]


class Cartesian(Topology):
    """A grid of ``dims``, whose last one is the fastest; ``periods`` says which are periodic.

    Raises
    ------
    MpiError
        A dimension is not positive.
    """

    __slots__ = ("dims", "periods", "size")
    kind = CART
    name = "Cartesian"

    def __init__(self, dims: Sequence[int], periods: Sequence[object]) -> None:
        self.dims = [int(one) for one in dims]
        self.periods = [bool(one) for one in periods]
        if any(one <= 0 for one in self.dims):
            raise MpiError(ErrorClass.ERR_DIMS, f"a grid of {self.dims}: each dimension must be "
                           "positive")
        self.size = math.prod(self.dims)

    def rank(self, coords: Sequence[int]) -> int:
        """Tells who is at ``coords``.

        Raises
        ------
        MpiError
            They are outside in a dimension that is not periodic.
        """
        rank = 0
        for length, periodic, at in zip(self.dims, self.periods, coords, strict=True):
            if not 0 <= at < length and not periodic:
                raise MpiError(ErrorClass.ERR_ARG, f"coordinates {list(coords)} in a grid of "
                               f"{self.dims}")
            rank = rank * length + at % length
        return rank

    def coords(self, rank: int) -> list[int]:
        """Tells where ``rank`` is.

        Raises
        ------
        MpiError
            There is no such rank.
        """
        if not 0 <= rank < self.size:
            raise MpiError(ErrorClass.ERR_RANK, f"rank {rank} in a grid of {self.dims}")
        found = []
        for length in reversed(self.dims):
            rank, at = divmod(rank, length)
            found.append(at)
        return found[::-1]

    def shift(self, rank: int, direction: int, disp: int) -> tuple[int, int]:
        """Source and destination of ``rank`` in a shift by ``disp`` along ``direction``; PROC_NULL
        beyond an end.

        Raises
        ------
        MpiError
            There is no such direction.
        """
        if not 0 <= direction < len(self.dims):
            raise MpiError(ErrorClass.ERR_ARG, f"direction {direction} in a grid of "
                           f"{len(self.dims)} dimensions")
        return self._beside(rank, direction, -disp), self._beside(rank, direction, disp)

    def _beside(self, rank: int, direction: int, disp: int) -> int:
        coords = self.coords(rank)
        coords[direction] += disp
        if not 0 <= coords[direction] < self.dims[direction] and not self.periods[direction]:
            return PROC_NULL
        return self.rank(coords)

    def sources(self, rank: int) -> list[int]:
        return [self._beside(rank, direction, disp) for direction in range(len(self.dims))
                for disp in (-1, 1)]

    destinations = sources

    def order(self, count: int) -> Sequence[int]:
        """Returns what is sent down comes from above, even where both neighbours are one
        process."""
        return [place ^ 1 for place in range(count)]

    def of(self, rank: int, remain: Sequence[object]) -> tuple[int, int, "Cartesian"]:
        """The grid of the dimensions that ``remain``, of those with ``rank``: its number, the place
        of ``rank`` in it, and it."""
        number = place = 0
        for length, at, stays in zip(self.dims, self.coords(rank), remain, strict=True):
            if stays:
                place = place * length + at
            else:
                number = number * length + at
        kept = [index for index, stays in enumerate(remain) if stays]
        return number, place, Cartesian([self.dims[one] for one in kept],
                                        [self.periods[one] for one in kept])
