"""A stack of its own for a program: the one place where ranks are switched.

The program's stack, with all that it calls, is a greenlet. What it awaits runs on it, too; only
where an operation of the host port must be executed does it switch to the runtime's stack, and back
when the runtime goes on with it. So whatever touches the program's memory, its stack included, runs
while that stack is in place: a greenlet that is switched out lies elsewhere.
"""

from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

from greenlet import getcurrent, greenlet

from ...port.suspension import EXECUTED
from .elsewhere import CHILD, refuse_child, refuse_thread
from .errors import Ended
from .folders import Folders

__all__ = ["Stack", "Surroundings", "wait"]

Result = TypeVar("Result")

ABANDONED: list["Stack"] = []
"""Stacks of programs that went on after their end."""


class Surroundings:
    """The part of the Python process that belongs to a program while it runs: nothing, if no class
    of a face says more."""

    def enter(self) -> None:
        """The program goes on."""

    def leave(self) -> None:
        """The program waits, or has ended."""

    def end(self) -> None:
        """The program never runs again. Called on another stack."""


class Stack(greenlet):
    """``body()`` on a stack of its own, inside ``surroundings``; ``owner``, of this ``number``, is
    whose it is, and ``folders`` has where it is."""

    def __init__(self, body: Callable[[], Any], owner: Any, number: int,
                 surroundings: Surroundings, folders: Folders) -> None:
        super().__init__(self._inside)
        self.owner = owner
        self._number = number
        self._body = body
        self._surroundings = surroundings
        self._folders = folders
        self._left = False
        self._ended = False
        self._told = False
        self._fate: BaseException | None = None

    def _inside(self) -> Any:
        self._surroundings.enter()
        try:
            return self._body()
        finally:
            self._surroundings.leave()

    async def drive(self) -> Any:
        """Run the program to its end; what ``body`` returns, or raises."""
        self._folders.begin()
        try:
            result = self.switch()
            while not self.dead and not self._left:
                await EXECUTED
                result = self.switch()
            if self._fate is not None:
                raise self._fate
            return result
        finally:
            if not self.dead and not self._left:
                self._ended = True
                with suppress(Ended):
                    self.throw(Ended())
            self._surroundings.end()
            self._folders.end()

    def pause(self) -> None:
        """Let the target execute what has been put to the port. Called on this stack.

        Raises
        ------
        Ended
            The run has ended.
        """
        if self._ended:
            if self._told:
                self.abandon(Ended())
            self._told = True
            raise Ended
        if CHILD:
            refuse_child()
        assert self.parent is not None
        self._surroundings.leave()
        try:
            self.parent.switch()
        finally:
            if self._folders.places:
                self._folders.give(self._number)
            self._surroundings.enter()

    def abandon(self, fate: BaseException | None) -> NoReturn:
        """End the program as it is, without an exception that it could catch: with ``fate``, or, if
        that is None, well. It never runs again. Called on this stack."""
        self._surroundings.leave()
        self._fate = fate
        self._left = True
        # Nobody may throw into it, as greenlet does where a stack is no longer wanted.
        ABANDONED.append(self)
        assert self.parent is not None
        self.parent.switch()
        raise AssertionError("an abandoned program runs")


def wait(call: Coroutine[Any, Any, Result]) -> Result:
    """Returns what ``call`` gives. Called on a :class:`Stack`, which waits for it.

    Raises
    ------
    RuntimeError
        There is no rank here.
    SystemExit
        This is another thread of a rank's program (:func:`.elsewhere.refuse_thread`).
    """
    stack = getcurrent()
    if not isinstance(stack, Stack):
        call.close()
        refuse_thread()
        raise RuntimeError("a blocking call outside of a rank: run the program by `nicbed app`")
    try:
        while True:
            call.send(None)
            stack.pause()
    except StopIteration as end:
        return end.value
    finally:
        call.close()
