"""A request of a program."""

from collections.abc import Callable, Coroutine
from typing import Any

from ..requests import Request

__all__ = ["CRequest"]


class CRequest:
    """A request; a persistent one begins anew by ``again`` and is inactive between its messages.

    Attributes
    ----------
    inner
        What has begun; None while nothing has.
    """

    __slots__ = ("inner", "again")

    def __init__(self, inner: Request | None,
                 again: Callable[[], Coroutine[Any, Any, Request]] | None = None) -> None:
        self.inner = inner
        self.again = again
