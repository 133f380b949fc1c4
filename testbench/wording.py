"""Puts numbers of things into words."""

__all__ = ["counted"]


def counted(count: int, one: str, more: str = "") -> str:
    """``counted(1, "point")`` is "1 point", ``counted(1200, "point")`` "1,200 points"; ``more`` is
    the plural if an s does not make it: ``counted(2, "point is left", "points are left")``."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"
