"""A call of the library as methods of a communicator: one that waits, one that begins, and one that
is kept to be begun later.

``described(comm, ...)`` makes of a program's arguments those of the library's call, and raises what
mpi4py raises where they describe nothing.
"""

from collections.abc import Callable
from typing import Any

from ..requests import Operation, Prequest, Request

__all__ = ["all_ways", "begun", "persistent", "waits"]

Described = Callable[..., tuple[Any, ...]]


def waits(call: str, described: Described) -> Callable[..., None]:
    """The method that waits for ``call``."""
    def method(self: Any, *arguments: Any, **named: Any) -> None:
        self._wait(getattr(self.inner, call)(*described(self, *arguments, **named)))
    return _called(method, call, described)


def begun(call: str, described: Described) -> Callable[..., Request]:
    """The method that begins ``call``, which is one of the library's that do not wait."""
    def method(self: Any, *arguments: Any, **named: Any) -> Request:
        asked = described(self, *arguments, **named)
        return Request.standing_for(Operation(self._wait(getattr(self.inner, call)(*asked)),
                                          kept=asked))
    return _called(method, call, described)


def persistent(call: str, described: Described) -> Callable[..., Prequest]:
    """The method that keeps ``call`` for Start."""
    def method(self: Any, *arguments: Any, **named: Any) -> Prequest:
        inner, asked = self.inner, described(self, *arguments, **named)
        return Prequest.standing_for(Operation(
            None, again=lambda: getattr(inner, call)(*asked), comm=inner))
    return _called(method, f"{call[1:].capitalize()}_init", described)


def all_ways(call: str, described: Described
             ) -> tuple[Callable[..., None], Callable[..., Request], Callable[..., Prequest]]:
    """The three methods of ``call``."""
    name = f"I{call.lower()}"
    return waits(call, described), begun(name, described), persistent(name, described)


def _called(method: Any, name: str, described: Described) -> Any:
    method.__name__ = method.__qualname__ = name
    method.__doc__ = described.__doc__
    return method
