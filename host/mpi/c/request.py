"""A request of a program."""

from collections.abc import Callable, Coroutine
from typing import Any

from ..point_to_point.requests import Request

__all__ = ["CRequest"]


class CRequest:
    """A request; a persistent one begins anew by ``again``, on ``comm``, and is inactive between
    its messages.

    Attributes
    ----------
    inner
        What has begun; None while nothing has.
    comm
        The communicator with which it was made; None if it is of nobody.
    """

    __slots__ = ("inner", "again", "comm")

    def __init__(self, inner: Request | None,
                 again: Callable[[], Coroutine[Any, Any, Request]] | None = None,
                 comm: Any = None) -> None:
        self.inner = inner
        self.again = again
        self.comm = comm if inner is None else inner.comm
