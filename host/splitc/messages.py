"""The Active Messages over which Split-C runs."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

__all__ = ["Messages"]


class Messages(Protocol):
    """The calls of Generic Active Messages that Split-C uses. Processes have numbers from 0 on;
    handlers are ``h(am, source, *words)``, those of bulk transfers ``h(am, source, address, bytes,
    argument)``."""

    def register(self, handler: Any) -> int:
        """Append ``handler`` to the handler table, which has the same order at all processes;
        return its index."""
        ...

    async def enable(self) -> None:
        """Start. This is the first call."""
        ...

    async def disable(self) -> None:
        """Finish: serve the others until all have called this."""
        ...

    async def poll(self) -> None:
        """Handle all messages that have arrived."""
        ...

    async def wait(self, condition: Callable[[], Any]) -> None:
        """Poll until ``condition()`` is true."""
        ...

    async def request(self, dest: int, handler: int, *words: int) -> None:
        """Run ``handler`` at process ``dest`` with up to four words of 32 bits."""
        ...

    def reply(self, handler: int, *words: int) -> Awaitable[None]:
        """In a request's handler, once: run ``handler`` at the requester."""
        ...

    async def store_async(self, dest: int, local: int, remote: int, length: int,
                          handler: int | None = None, arg: int = 0,
                          end: Callable[..., Any] | None = None) -> None:
        """Copy ``length`` bytes to ``remote`` at ``dest``, where ``handler`` then runs. When the
        source may be reused, ``end(am, None)`` runs here."""
        ...

    async def get(self, dest: int, remote: int, local: int, length: int,
                  handler: int | None = None, arg: int = 0) -> None:
        """Copy ``length`` bytes from ``remote`` at ``dest``; ``handler`` then runs here."""
        ...
