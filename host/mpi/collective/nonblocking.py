"""Nonblocking calls: collective calls and exchanges that have begun.

A call of several messages waits inside for each of them. One that has only begun is put aside where
it would wait, and the engine goes on with it, inside whatever call of the program makes progress,
when what it waits for has come. Nothing goes on outside of calls.
"""

import types
from collections.abc import Awaitable, Callable, Coroutine, Generator
from copy import copy
from typing import Any

from ..calls import Call, called
from ..constants import MAX_TAG
from ..errors import ErrorClass, MpiError, RequestError
from ..point_to_point.requests import Request

__all__ = ["TAGS", "Task", "aside", "begins"]

TAGS = 16
"""Tags of one collective call. Each that has only begun has others than those before it on its
communicator, so that several may be under way."""
SETS = (MAX_TAG + 1) // TAGS - 1
"""Sets of tags for calls that have only begun: all but those of calls that block."""


class Task(Request):
    """``call`` on ``comm``, which has begun: ``coroutine`` is all of it. Where it ``receives``,
    what has come is in its status, be it that the receive has failed."""

    def __init__(self, library: Any, call: Call, comm: Any, coroutine: Coroutine[Any, Any, Any],
                 *, receives: bool) -> None:
        super().__init__(library, comm)
        self.call = call
        self._coroutine = coroutine
        self._receives = receives
        self._condition: Callable[[], Any] | None = None
        self._what: Callable[[], str] | None = None

    def describe(self) -> str:
        what = f": {self._what()}" if self._what is not None else ""
        return f"rank {self.comm.rank}: {self.call.name}, {self.comm.name}{what}"

    @property
    def ready(self) -> bool:
        """Tells whether it could go on."""
        return self._condition is None or bool(self._condition())

    @types.coroutine
    def step(self) -> Generator[None, None, None]:
        """Go on until it waits again, or has ended. What a program's own function raises in it is
        raised here, once; the request has failed by it."""
        try:
            while True:
                waits = self._coroutine.send(None)
                if waits is not None:
                    self._condition, self._what = waits
                    return
                yield
        except StopIteration as end:
            if self._receives:
                self.status = end.value
        except MpiError as error:
            if self._receives and isinstance(error, RequestError):
                self.status = error.found
            self.fail(error)
        except BaseException as error:
            self.fail(MpiError(ErrorClass.ERR_OTHER, f"rank {self.comm.rank}: {self.call.name}, "
                               f"{self.comm.name}, ended by {type(error).__name__}: {error}"))
            self.done = True
            raise
        self.done = True


@types.coroutine
def aside(condition: Callable[[], Any], what: Callable[[], str]) -> Generator[Any, None, None]:
    """Inside a task: it cannot go on until ``condition()`` holds."""
    yield condition, what


def begins(call: Call, function: Callable[..., Coroutine[Any, Any, Any]], *,
           collective: bool = True) -> Callable[..., Awaitable[Request]]:
    """The method of a communicator that begins ``function``, another one: ``call``, which gives a
    request. A ``collective`` one has tags of its own, which all ranks count alike. Of a kind of
    communicator that has a function of its own under this name, that is begun. It raises what fails
    before a message; later, its request fails."""
    @called(call)
    async def begin(self: Any, *arguments: Any, **named: Any) -> Request:
        comm = copy(self)
        if collective:
            comm.tags = TAGS * (1 + self.nonblocking % SETS)
            self.nonblocking += 1
        comm.talks = False
        own = getattr(type(comm), function.__name__, function)
        task = Task(self.library, call, self, own(comm, *arguments, **named),
                    receives=not collective)
        try:
            await self.library.engine.start(task)
            if task.error is not None and not comm.talks:
                task.taken = True
                raise task.error
        except BaseException:
            if collective and not comm.talks:  # for the other ranks it never was
                self.nonblocking -= 1
            raise
        return task
    begin.__name__ = begin.__qualname__ = call.name
    begin.__doc__ = f"Begin {function.__name__}."
    return begin
