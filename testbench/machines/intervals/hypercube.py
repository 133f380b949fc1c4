"""Points of a Latin hypercube.

Of N points in [0, 1) each dimension has one in each of N equal parts. The points are made here and
not by a library, so that a seed gives the same ones with every version of it.
"""

import hashlib

__all__ = ["hypercube"]

Shares = list[dict[str, float]]
_BYTES = 8


def hypercube(names: list[str], points: int, seed: int) -> Shares:
    """``points`` points, by name of a dimension. A dimension's column depends on its name, the
    number of points and ``seed`` alone, so one dimension more leaves the others as they are."""
    columns = {name: _column(name, points, seed) for name in names}
    return [{name: column[index] for name, column in columns.items()} for index in range(points)]


def _column(name: str, points: int, seed: int) -> list[float]:
    """One share in each of the ``points`` parts, in an order of its own."""
    order = sorted(range(points), key=lambda part: _digest(f"order {name} {points} {seed} {part}"))
    return [(part + _digest(f"share {name} {points} {seed} {part}") / 256 ** _BYTES) / points
            for part in order]


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:_BYTES], "big")
