"""Awaitables that suspend a host program."""

import types
from collections.abc import Awaitable, Generator
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, cast

__all__ = ["EXECUTED", "NOTHING", "Suspension", "check_given", "to_await"]


class Suspension(tuple[None, ...]):
    """Each await of an item hands control to the runtime once."""

    __slots__ = ()
    if TYPE_CHECKING:
        def __await__(self) -> Generator[Any, Any, None]: ...
    else:
        __await__ = tuple.__iter__


EXECUTED = Suspension((None,))
"""Awaited while a port executes a block."""


@types.coroutine
def _ended() -> Generator[None, None, None]:
    yield


NOTHING: Awaitable[None] = _ended()
"""Takes no time and no wake-up. A generator that has ended can be awaited again and again, and
nothing else is awaited as fast."""
cast(Generator[None, None, None], NOTHING).close()


def to_await(function: Any, result: Any) -> Awaitable[Any]:
    """Returns what handler ``function`` has returned, to be awaited at once.

    Raises
    ------
    TypeError
        It cannot be awaited.
    """
    if result is None:
        return NOTHING
    if result is not NOTHING and result.__class__ is not types.CoroutineType:
        check_given(function, result)
    return result


def check_given(function: Any, result: Any) -> None:
    """Refuse a handler's result that cannot be awaited."""
    if not isawaitable(result):
        raise TypeError(f"handler {getattr(function, '__name__', function)!r} returned {result!r}: "
                        "it must be a coroutine function or return None")
