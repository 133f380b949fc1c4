"""The objects that the awaits of a host program end in."""

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

__all__ = ["EXECUTED", "NOTHING", "Suspension", "check_given"]


class Suspension(tuple[None, ...]):
    """Each await of an item hands control to the runtime once."""

    __slots__ = ()
    if TYPE_CHECKING:
        def __await__(self) -> Generator[Any, Any, None]: ...
    else:
        __await__ = tuple.__iter__


EXECUTED = Suspension((None,))
"""Awaited while a port executes a block."""
NOTHING = Suspension(())
"""Takes no time and no wake-up."""


def check_given(function: Any, result: Any) -> None:
    """Refuse a handler's result that cannot be awaited."""
    if not hasattr(result, "__await__"):
        raise TypeError(f"handler {getattr(function, '__name__', function)!r} returned {result!r}: "
                        "it must be a coroutine function or return None")
