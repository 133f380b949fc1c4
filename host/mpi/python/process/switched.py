"""Switches state with the rank, from the moment at which a program uses it.

Most programs use nothing of it, and for them a switch costs a look at an empty list. Whose state is
in place does not matter while no program runs, so a state moves only when another rank goes on.
"""

import locale
import logging
import random
import sys
import warnings
from collections.abc import Callable
from typing import Any, Protocol

import numpy.random

from ...sync import Rank, running
from .first_use import FirstUse
from .functions import Functions
from .generators import NumpyRandom, PythonRandom
from .modules import Locale, Logging, Warnings
from .variables import Variables

__all__ = ["Item", "Process"]


class Item(Protocol):
    """A part of the process that is switched with the rank. It alone knows what its states are."""

    def fresh(self, rank: int) -> Any:
        """The state with which ``rank`` begins: the same in each run. Called while the state in
        place is the one that the process had before the run."""
        ...

    def take(self) -> Any:
        """The state in place."""
        ...

    def put(self, state: Any) -> None:
        """Put ``state`` in place."""
        ...


class Process:
    """The process, as each rank of a run has it. One for a run; see :meth:`Node.run_service`.

    Attributes
    ----------
    active
        What is switched: what a program has used.
    """

    def __init__(self) -> None:
        self.active: list[Item] = []
        self._states: dict[int, list[Any]] = {}
        self._before: list[Any] = []
        self._holder = -1
        self._size = 0
        self._ranks = 0
        self._watched: list[FirstUse] = []
        self._functions = Functions(sys.stderr)
        self._variables = Variables(self.activate)

    def begin(self, size: int) -> None:
        """One of ``size`` ranks begins."""
        self._ranks += 1
        if self._ranks > 1:
            return
        self._size = size
        self._functions.begin()
        self._variables.begin()
        for module, names, item in ((random, None, PythonRandom), (numpy.random, None, NumpyRandom),
                                    (logging, None, Logging), (warnings, None, Warnings),
                                    (locale, ("setlocale", "resetlocale"), Locale)):
            self._watched.append(FirstUse(module, names, self._using(item)))

    def _using(self, make: Callable[[], Item]) -> Callable[[], None]:
        return lambda: self.activate(make())

    def activate(self, item: Item) -> None:
        """A rank's program, which runs, is about to use ``item`` for the first time in this run."""
        rank = running()
        assert rank is not None
        self._holder = rank.number
        fresh = [item.fresh(number) for number in range(self._size)]
        self._before.append(item.take())
        self.active.append(item)
        for number, state in enumerate(fresh):
            self._states.setdefault(number, []).append(state)
        item.put(fresh[rank.number])

    def give(self, rank: int) -> None:
        """The program of ``rank`` goes on."""
        if rank != self._holder:
            self._exchange(self._states[self._holder], self._states[rank])
            self._holder = rank

    def _exchange(self, old: list[Any], new: list[Any]) -> None:
        for index, item in enumerate(self.active):
            old[index] = item.take()
            item.put(new[index])

    def finish(self, rank: Rank) -> None:
        """The program of ``rank``, in whose place this is called, has ended: what it wanted to
        have called at the process's end is called."""
        self._functions.finish(rank)
        if any(isinstance(item, Logging) for item in self.active):
            logging.shutdown(vars(logging)["_handlerList"])

    def end(self) -> None:
        """A rank has ended. With the last one the process is as it was before the run."""
        self._ranks -= 1
        if self._ranks:
            return
        for watch in self._watched:
            watch.end()
        for item, state in zip(self.active, self._before, strict=True):
            item.put(state)
        self._variables.end()
        self._functions.end()
        self.active.clear()
        self._watched.clear()
        self._states.clear()
        self._before.clear()
