"""The interrupt line of a CPU, which the layers on several NICs may share."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from .timers import FAR

__all__ = ["Handler", "Interrupts"]


async def _nothing() -> None:
    pass


class Handler(NamedTuple):
    """A layer's answer to interrupts that another layer of its CPU sees: ``serve`` its causes, if
    there are any; ``tick`` when the cycle ``deadline()`` has come."""

    serve: Callable[[], Awaitable[None]]
    deadline: Callable[[], int] = lambda: FAR
    tick: Callable[[], Awaitable[None]] = _nothing


class Interrupts:
    """The handlers of a CPU. If a CPU has several NICs, its line tells that one of them interrupts,
    but not which. So a layer that sees the line has the handlers of the others called, too."""

    __slots__ = ("_handlers",)

    def __init__(self) -> None:
        self._handlers: list[Handler] = []

    def add(self, handler: Handler) -> None:
        """Add a layer's ``handler``."""
        self._handlers.append(handler)

    def others(self, handler: Handler) -> list[Handler]:
        """The handlers of the layers on this CPU but ``handler``."""
        return [other for other in self._handlers if other is not handler]
