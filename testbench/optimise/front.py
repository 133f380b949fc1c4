"""The points that no other point beats, and the columns that mark them."""

from collections.abc import Sequence

__all__ = ["FRONT", "HOLDS", "unbeaten"]

HOLDS, FRONT = "holds", "front"
"""Columns: whether a trial's figures fulfil the conditions; whether it is on the front."""


def unbeaten(costs: Sequence[Sequence[float]]) -> list[bool]:
    """Of each of ``costs``, of which less is better: whether no other one is as good everywhere
    and better somewhere."""
    return [not any(_beats(other, one) for other in costs) for one in costs]


def _beats(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True)) and tuple(one) != tuple(other)
