"""States of the lines of several caches."""

from amaranth.lib import enum

__all__ = ["Mesi"]


class Mesi(enum.Enum, shape=2):
    """State of a line: invalid, shared with others, the only copy, the only copy and dirty."""

    I = 0  # noqa: E741
    S = 1
    E = 2
    M = 3
