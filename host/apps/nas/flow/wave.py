"""A wave through planes of points, diagonal by diagonal."""

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["Wave"]


class Wave:
    """A sweep through planes of ``rows`` by ``columns`` points: each point's values less what its
    neighbours before give, diagonal by diagonal."""

    def __init__(self, rows: int, columns: int) -> None:
        self._rows, self._columns = rows, columns
        row, column = np.divmod(np.arange(rows * columns), columns)
        self._order = np.argsort(row + column, kind="stable")
        lengths = np.bincount(row + column)
        ends = np.cumsum(lengths)
        self._diagonals = [slice(end - length, end)
                           for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)]
        # Values have a row and a column before them: those of the neighbours.
        here = (row * (columns + 1) + column + columns + 2)[self._order]
        self._here = [here[diagonal] for diagonal in self._diagonals]
        self._before = [np.stack((at - 1, at - columns - 1), axis=1) for at in self._here]
        self.result: Any = None

    def load(self, way: int, values: Any, first: Any, second: Any, third: Any) -> None:
        """``values`` of all points, and the matrices of their neighbours before along each axis."""
        turn = np.s_[::way, ::way, ::way]
        self._way = way
        self._third = third[turn]
        self._values = values[turn]
        both = np.concatenate((first[turn], second[turn]), axis=-1)
        planes = len(values)
        self._both = both.reshape(planes, -1, 5, 10)[:, self._order]
        self._done = np.zeros_like(self._values)

    def solve(self, plane: int, came: Sequence[Any]) -> list[Any]:
        """Solve a plane, with what ``came`` from the processes before along the first and the
        second axis; the values at the last column and row."""
        rows, columns = self._rows, self._columns
        values = self._values[plane]
        if plane:
            values = values - (self._third[plane] @ self._done[plane - 1][..., None])[..., 0]
        right = values.reshape(-1, 5)[self._order]
        padded = np.zeros((rows + 1, columns + 1, 5))
        if came[0] is not None:
            padded[1:, 0] = came[0]
        if came[1] is not None:
            padded[0, 1:] = came[1]
        flat, both = padded.reshape(-1, 5), self._both[plane]
        for diagonal, here, before in zip(self._diagonals, self._here, self._before, strict=True):
            neighbours = flat[before].reshape(-1, 10, 1)
            flat[here] = right[diagonal] - (both[diagonal] @ neighbours)[..., 0]
        self._done[plane] = padded[1:, 1:]
        if plane == len(self._values) - 1:
            self.result = self._done[::self._way, ::self._way, ::self._way]
        return [padded[1:, -1], padded[-1, 1:]]
