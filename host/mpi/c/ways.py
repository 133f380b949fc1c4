"""A collective call of the library as two of mpi.h: one that waits, and one that only begins.

``described(arguments, ...)`` makes of a call's arguments those of the library's. Its communicator
is its last argument.
"""

from collections.abc import Callable
from typing import Any

from .memory import put_int
from .request import CRequest

__all__ = ["both"]

Described = Callable[..., tuple[Any, ...]]


def both(call: str, described: Described) -> tuple[Callable[..., None], Callable[..., None]]:
    """The methods of a class that has ``state`` and ``arguments``."""
    def waits(self: Any, *arguments: Any) -> None:
        asked = described(self.arguments, *arguments)
        self.state.wait(getattr(arguments[-1], call)(*asked))

    def begins(self: Any, *arguments: Any) -> None:
        *given, place = arguments
        asked = described(self.arguments, *given)
        request = self.state.wait(getattr(given[-1], f"I{call.lower()}")(*asked))
        put_int(place, self.state.handles.requests.add(CRequest(request)))

    waits.__annotations__ = begins.__annotations__ = described.__annotations__
    return waits, begins
