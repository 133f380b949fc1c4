"""Requests that a program completes."""

from collections.abc import Callable
from typing import Any, TypeVar

from ..point_to_point import status as statuses_
from ..point_to_point.generalised_request import GeneralisedRequest
from ..sync import current
from .errors import CLASSES, Exception
from .requests import Operation, Request
from .status import Status

__all__ = ["Grequest"]

Own = TypeVar("Own", bound="Grequest")


class Grequest(Request):
    """A request that a program completes."""

    def __new__(cls: type[Own], other: Request | None = None) -> Own:
        if other and not isinstance(other._of.inner, GeneralisedRequest):
            raise TypeError(f"Grequest of {type(other).__name__}")
        return super().__new__(cls, other)

    @classmethod
    def Start(cls: type[Own], query_fn: Callable[..., None] | None = None,
              free_fn: Callable[..., None] | None = None,
              cancel_fn: Callable[..., None] | None = None, args: Any = None,
              kargs: Any = None) -> Own:
        """A request of which ``query_fn(status)`` tells the status when it has ended, ``free_fn()``
        learns that it is gone, and ``cancel_fn(ended)`` that it is to be cancelled; each is given
        ``args`` and ``kargs``, too."""
        given, named = tuple(args or ()), dict(kargs or {})

        def query(found: statuses_.Status) -> None:
            if query_fn is not None:
                status = Status()
                query_fn(status, *given, **named)
                told = status._found()
                found.source, found.tag, found.count = told.source, told.tag, told.count
                found.error, found.cancelled = told.error, told.cancelled

        def free() -> None:
            if free_fn is not None:
                free_fn(*given, **named)

        def cancel(ended: bool) -> None:
            if cancel_fn is not None:
                cancel_fn(ended, *given, **named)

        return cls.standing_for(Operation(GeneralisedRequest(current().mpi, query, free, cancel)))

    def Complete(self) -> None:
        """It has ended."""
        if not self:
            raise Exception(CLASSES["ERR_REQUEST"])
        self._of.inner.complete()

    complete = Complete

    def Free(self) -> None:
        if self:
            self._of.inner.leave()
        super().Free()
