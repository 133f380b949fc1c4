"""Sequence numbers, modulo 2^32 (RFC 793, 3.3): comparisons hold within half of the circle."""

__all__ = ["HALF", "MASK", "after", "distance", "plus"]

MASK = 0xFFFF_FFFF
"""``number - other & MASK``: how far ``other`` is before ``number``; from HALF on it is behind
it."""
HALF = 1 << 31


def plus(number: int, count: int) -> int:
    """The number ``count`` beyond ``number``."""
    return number + count & MASK


def distance(first: int, last: int) -> int:
    """From ``first`` to ``last``, negative if ``last`` comes before."""
    found = last - first & MASK
    return found - (1 << 32) if found >= HALF else found


def after(number: int, other: int) -> bool:
    """Tells whether ``number`` comes after ``other``."""
    return 0 < (number - other & MASK) < HALF
