"""Functions whose meaning changes while ranks run: for a rank's program they are about the rank,
where Python's own are about the process."""

import atexit
import os
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

from ...sync import CHILD, Rank, belongs, running
from .shared import SHARED, told

__all__ = ["Functions"]

_OURS = __name__.partition(".")[0]
ABORTED = 134
"""Exit status after os.abort()."""

Registered = list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]]


class Functions:
    """Replaces functions while ranks run. A program that uses what all ranks share is told so on
    ``errors``, once."""

    def __init__(self, errors: Any) -> None:
        self._errors = errors
        self._before: list[tuple[Any, str, Any]] = []
        self._said: set[str] = set()

    def begin(self) -> None:
        """The first rank begins."""
        self._replace(os, "chdir", self._moving)
        self._replace(os, "fchdir", self._moving)
        self._replace(os, "_exit", lambda real: lambda status: self._exit(real, status))
        self._replace(os, "abort", lambda real: lambda: self._exit(real, ABORTED))
        self._replace(atexit, "register", self._registering)
        self._replace(atexit, "unregister", self._unregistering)
        self._replace(threading.Thread, "start", self._starting)
        for module, names in SHARED.items():
            for name in names:
                if hasattr(sys.modules.get(module), name):
                    self._replace(sys.modules[module], name, self._telling(f"{module}.{name}"))

    def end(self) -> None:
        """The last rank has ended."""
        for place, name, real in self._before:
            setattr(place, name, real)
        self._before.clear()

    def finish(self, rank: Rank) -> None:
        """Call what the program of ``rank`` has registered with atexit, as Python does."""
        registered = _registered(rank)
        while registered:
            function, arguments, named = registered.pop()
            try:
                function(*arguments, **named)
            except Exception as error:
                traceback.print_exception(error)

    def _replace(self, place: Any, name: str, make: Callable[[Any], Any]) -> None:
        real = getattr(place, name)
        self._before.append((place, name, real))
        setattr(place, name, make(real))

    def _moving(self, real: Callable[[Any], None]) -> Any:
        def moves(place: Any) -> None:
            real(place)
            rank = running()
            if rank is not None:
                rank.moved()
        return moves

    def _exit(self, real: Callable[..., None], status: int) -> None:
        rank = running()
        ours = sys._getframe(2).f_globals.get("__name__", "").partition(".")[0] == _OURS
        if rank is not None and not CHILD and not ours:
            rank.leave(status)
        real(*[] if status == ABORTED else [status])

    def _registering(self, real: Callable[..., Any]) -> Any:
        def register(function: Any, /, *arguments: Any, **named: Any) -> Any:
            rank = _caller()
            if rank is None:
                return real(function, *arguments, **named)
            _registered(rank).append((function, arguments, named))
            return function
        return register

    def _unregistering(self, real: Callable[..., Any]) -> Any:
        def unregister(function: Any) -> None:
            rank = _caller()
            if rank is not None:
                _registered(rank)[:] = [one for one in _registered(rank) if one[0] != function]
            real(function)
        return unregister

    def _starting(self, real: Callable[[threading.Thread], None]) -> Any:
        def start(thread: threading.Thread) -> None:
            rank = running()
            if rank is not None:
                belongs(thread, rank)
            real(thread)
        return start

    def _telling(self, name: str) -> Callable[[Any], Any]:
        def make(real: Callable[..., Any]) -> Any:
            def shared(*arguments: Any, **named: Any) -> Any:
                rank = running()
                if rank is not None and name not in self._said:
                    self._said.add(name)
                    self._errors.write(told(name, rank.number, sys._getframe(1)) + "\n")
                return real(*arguments, **named)
            return shared
        return make


def _registered(rank: Rank) -> Registered:
    found: Registered = rank.keep("atexit", list)
    return found


def _caller() -> Rank | None:
    """The rank whose program, or a module from its folder, calls; None for other modules, which
    all ranks share."""
    rank = running()
    if rank is None or sys._getframe(2).f_globals.get("__name__") not in rank.keep("modules", set):
        return None
    return rank
