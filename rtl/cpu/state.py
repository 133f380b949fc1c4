"""The states in which a host port is with its entry."""

from amaranth.lib import enum

__all__ = ["State"]


class State(enum.Enum, shape=2):
    """FETCH: an entry's first cycle, or none is given; WORK: its work; RUN: the operation itself;
    STOPPED: the program has ended."""

    FETCH = 0
    WORK = 1
    RUN = 2
    STOPPED = 3
