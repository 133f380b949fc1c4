"""Refuses calls of MPI from places where no rank may make them: another thread, or a child of a
fork.

A rank is one thread of one process. A thread of its program that computes, and a child process that
does, are the program's own affair.
"""

import threading
from typing import Any
from weakref import WeakKeyDictionary

__all__ = ["CHILD", "belongs", "refuse_child", "refuse_thread"]

CHILD: list[int] = []
"""In a child of a fork, the rank whose program has made it. Else empty."""

_owners: WeakKeyDictionary[threading.Thread, Any] = WeakKeyDictionary()


def belongs(thread: threading.Thread, rank: Any) -> None:
    """``thread`` is one of the program of ``rank``."""
    _owners[thread] = rank


def refuse_thread() -> None:
    """A call of MPI has come from no rank's thread. If it is a thread of a rank's program, that
    rank ends the run by its next call, or with its program (:meth:`.rank.Rank.misused`).

    Raises
    ------
    SystemExit
        It is one: the thread ends.
    """
    thread = threading.current_thread()
    rank = _owners.get(thread)
    if rank is not None:
        rank.misused(f"rank {rank.number}: thread {thread.name} calls MPI, which only the "
                     "program's first thread may")
        raise SystemExit


def refuse_child() -> None:
    """A call of MPI has come from a child of a fork.

    Raises
    ------
    RuntimeError
        Always.
    """
    raise RuntimeError(f"a child process of rank {CHILD[0]} calls MPI, which only the rank itself "
                       "may")
