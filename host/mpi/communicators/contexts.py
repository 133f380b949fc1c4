"""Contexts: the numbers by which the messages of communicators are told apart.

A communicator has two: one for messages, the next one for collective calls. Communicators that all
processes of another one make together take the highest number that one of them proposes. Where not
all processes can agree at once, a single one gives a number of its own.
"""

from collections import deque

from ..errors import ErrorClass, MpiError

__all__ = ["Contexts"]

OWN = 1 << 15
"""Contexts from here on are those that a process gives, a part of them each."""
END = 1 << 16
NONE = -1
"""In place of a context: there is none left."""


class Contexts:
    """The contexts of process ``rank`` of ``size``.

    Attributes
    ----------
    next
        What it proposes: above it no context is in use, but for those that a process has given.
    """

    def __init__(self, rank: int, size: int) -> None:
        self.next = 0
        self._used: set[int] = set()
        room = (END - OWN) // size & ~1
        first = OWN + rank * room
        self._own = deque(range(first, first + room, 2))
        self._mine = range(first, first + room)

    def agreed(self, context: int) -> int:
        """``context``, which all have agreed on, or some of them.

        Raises
        ------
        MpiError
            There are no more.
        """
        if context + 2 > OWN:
            raise MpiError(ErrorClass.ERR_INTERN, f"no more than {OWN // 2} communicators may be "
                           "in use")
        self.next = context + 2
        return context

    def give(self) -> int:
        """A context for a communicator of which this process is a member, given by it alone. Those
        that were freed are given again as late as can be. If it has given all, NONE, which it tells
        the others as if it were one: :meth:`use` refuses it everywhere."""
        return self._own.popleft() if self._own else NONE

    def chosen(self, mine: int, other: int, own: bool) -> int:
        """``mine``, which this process has given, if it is to be its ``own``; else ``other``, and
        ``mine`` was not needed."""
        if own:
            return mine
        if mine != NONE:
            self._own.appendleft(mine)
        return other

    def use(self, context: int) -> None:
        """A communicator of this process has it.

        Raises
        ------
        MpiError
            It is NONE.
        """
        if context == NONE:
            raise MpiError(ErrorClass.ERR_INTERN, f"no more than {len(self._mine) // 2} "
                           "communicators may be in use whose context one rank has given")
        if context < OWN:
            self._used.add(context)
            self.next = max(self.next, context + 2)

    def free(self, context: int) -> None:
        """The communicator is gone."""
        if context in self._mine:
            self._own.append(context)
        elif context < OWN:
            self._used.discard(context)
            self.next = max(self._used, default=-2) + 2
