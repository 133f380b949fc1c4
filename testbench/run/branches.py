"""Runs that begin alike: the beginning is simulated once, and each run goes on in a fork.

Two runs from reset are the same, cycle for cycle, until their programs do different things. So runs
that open a layer, connect and fill their buffers in the same way need not each do so again: where
the first program asks what its run is to do, the process forks, and each run goes on from there.
Its result is that of a run from reset.
"""

import os
import pickle
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from ..backends.forked import fork
from .sent_again import Account
from .watchdog import unwatched

__all__ = ["branches"]

Choice = TypeVar("Choice")
Result = TypeVar("Result")


async def branches(lab: Any, choices: Sequence[Choice],
                   run: Callable[[Callable[[], Choice]], Awaitable[Result]],
                   begins: Callable[[int], None] = lambda _: None) -> list[Result]:
    """The results of ``await run(choose)`` for each of ``choices``.

    The programs of the run learn by ``choose()`` which of them it is. What any of them does before
    the first call must not depend on the choice. Where ``lab`` cannot fork (``lab.forks``) each run
    is one from reset. Results must be such that they can be pickled.

    Parameters
    ----------
    begins
        Called with the index of a choice before its run goes on.

    Raises
    ------
    RuntimeError
        No program called ``choose``.
    Exception
        What a run raises.
    """
    if not lab.forks or len(choices) == 1:
        found = []
        for index, choice in enumerate(choices):
            begins(index)
            found.append(await run(lambda choice=choice: choice))
        return found
    split = _Split(lab, len(choices), begins)
    try:
        last = await run(lambda: choices[split.choose()])
    except BaseException:
        split.leave()
        raise
    split.leave(last)
    if split.index is None:
        raise RuntimeError("no program of the run has asked for its choice")
    results: list[Result] = []
    for index, data in enumerate(split.answers):
        if data:
            result, account = pickle.loads(data)
            lab.account.join(account)
        else:  # it failed, and fails again, here
            result = await run(lambda index=index: choices[index])
        results.append(result)
    return [*results, last]


class _Split:
    """Splits this process into one for each of ``count`` runs. The last is this one, which waits
    for the others before it goes on.

    Attributes
    ----------
    index
        The run that this process goes on with; None before the split.
    answers
        What the other processes have sent: result and account, pickled; nothing if the run failed.
    """

    def __init__(self, lab: Any, count: int, begins: Callable[[int], None]) -> None:
        self.index: int | None = None
        self.answers: list[bytes] = []
        self._lab, self._count, self._begins = lab, count, begins
        self._pipe: int | None = None
        """In a process that ends with its run: where it sends its answer."""

    def choose(self) -> int:
        """The run that this process goes on with. The first call splits the process."""
        if self.index is None:
            last = self._count - 1
            for index in range(last):
                self._begins(index)
                if self._fork():
                    self.index = index
                    return index
            self._begins(last)
            self.index = last
        return self.index

    def _fork(self) -> bool:
        """Fork, and wait for the new process. Return whether this is the new one."""
        reading, writing = os.pipe()
        with unwatched():
            child = fork()
            if child == 0:
                os.close(reading)
                self._pipe = writing
                self._lab.account = Account()
                return True
            os.close(writing)
            with os.fdopen(reading, "rb") as pipe:
                self.answers.append(pipe.read())
            os.waitpid(child, 0)
            return False

    def leave(self, *results: Any) -> None:
        """End a process that ends with its run, which has ended with the one of ``results``, or
        failed if there is none."""
        if self._pipe is None:
            return
        try:
            with os.fdopen(self._pipe, "wb") as pipe:
                for result in results:
                    pipe.write(pickle.dumps((result, self._lab.account)))
            sys.stdout.flush()
        finally:
            os._exit(0)
