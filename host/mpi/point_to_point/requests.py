"""Requests: sends and receives that have begun."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..constants import ANY_SOURCE, ANY_TAG
from ..data.message_data import Data
from ..errors import MpiError, RequestError
from ..progress.packets import Packet
from .status import Status

__all__ = ["Receive", "Request", "Send", "given"]

Result = TypeVar("Result")


def _text_of(call: str, rank: int, other: str, tag: int, comm: str) -> str:
    """A call in words: rank 0: Send to rank 1, tag 5, COMM_WORLD."""
    return f"rank {rank}: {call} {other}, tag {'any' if tag == ANY_TAG else tag}, {comm}"


class Request:
    """Something that has begun. ``done`` says whether it has ended.

    Attributes
    ----------
    library
        The :class:`~..library.Mpi` whose request it is.
    comm
        The communicator with which it was made; None if it is of nobody.
    error
        What it ended with, if it failed; raised by the call that completes it.
    taken
        Whether a call has completed it.
    """

    # What few have is their class's, and their own when it changes. What every request is asked is
    # its own, as to look it up at the class takes longer.
    _status: Status | None = None

    def __init__(self, library: Any, comm: Any = None, number: int = 0) -> None:
        self.done = self.taken = False
        self.error: MpiError | None = None
        self.library = library
        self.comm = comm
        self.number = number

    @property
    def status(self) -> Status:
        """Of a receive that has ended; of a send it is empty."""
        if self._status is None:
            self._status = Status()
        return self._status

    @status.setter
    def status(self, status: Status) -> None:
        self._status = status

    def fail(self, error: MpiError) -> None:
        """It fails by ``error``, when it ends."""
        self.error = error
        self.status.error = error.code

    async def Wait(self) -> Status:
        """Wait for the end; its status."""
        return await self.library.wait(self)

    async def Test(self) -> bool:
        """Look for progress; whether it has ended."""
        return await self.library.test(self)

    @staticmethod
    async def Waitall(requests: Sequence["Request"]) -> list[Status]:
        """Wait for all of them; their statuses.

        Raises
        ------
        RequestError
            Some have failed. All have ended.
        """
        requests = list(requests)
        return await requests[0].library.wait_all(requests) if requests else []

    @staticmethod
    async def Waitany(requests: Sequence["Request"]) -> tuple[int, Status]:
        """Wait until one has ended: the first of those that have, and its status. Requests that
        were completed before do not count; if there are no others, the index is UNDEFINED."""
        requests = list(requests)
        return await requests[0].library.wait_any(requests)

    @staticmethod
    async def Testall(requests: Sequence["Request"]) -> list[Status] | None:
        """Look for progress; the statuses if all have ended."""
        requests = list(requests)
        return await requests[0].library.test_all(requests) if requests else []

    @staticmethod
    async def Testany(requests: Sequence["Request"]) -> tuple[int, Status] | None:
        """Look for progress; as Waitany, or None if none has ended."""
        requests = list(requests)
        return await requests[0].library.test_any(requests)

    @staticmethod
    async def Waitsome(requests: Sequence["Request"]) -> list[tuple[int, Status]] | None:
        """Wait until one has ended; all that have, and their statuses. None if all were completed
        before."""
        requests = list(requests)
        return await requests[0].library.wait_some(requests)

    @staticmethod
    async def Testsome(requests: Sequence["Request"]) -> list[tuple[int, Status]] | None:
        """Look for progress; as Waitsome, and empty if none has ended."""
        requests = list(requests)
        return await requests[0].library.test_some(requests)

    async def Cancel(self) -> None:
        """Withdraw a receive that has not been matched; it ends, and its status says that it was
        cancelled. Anything else goes on: a send cannot be called back."""
        await self.library.cancel(self)

    def describe(self) -> str:
        """It in words."""
        raise NotImplementedError


class Send(Request):
    """A send of ``data`` to ``rank`` of the communicator, ``world_rank`` among all.

    Attributes
    ----------
    call
        The call's name.
    kind
        Of the packet with all of it: EAGER_SYNC if it ends when it is matched, EAGER_READY if its
        receive has been posted, as the program says, or EAGER.
    """

    temporary: Any = None
    regions: Sequence[Any] = ()
    after: Callable[[], Any] | None = None

    def __init__(self, library: Any, number: int, call: str, comm: Any, rank: int, context: int,
                 tag: int, data: Data, kind: Packet) -> None:
        self.done = self.taken = False
        self.error = None
        self.library = library
        self.comm = comm
        self.number = number
        self.call = call
        self.rank = rank
        self.world_rank = comm.peers.world_ranks[rank]
        self.context = context
        self.tag = tag
        self.data = data
        self.kind = kind

    def describe(self) -> str:
        return _text_of(self.call, self.comm.rank, f"to rank {self.rank}", self.tag, self.comm.name)

    def ended(self) -> None:
        """The data have left, and the match is known where it must be."""
        if not self.done:
            self.done = True
            self.data.free()
            if self.after is not None:
                self.after()


class Receive(Request):
    """A receive into ``data`` from ``rank`` of the communicator, or from any.

    Attributes
    ----------
    arrived
        Bytes that have come of a message in parts.
    """

    length = 0
    arrived = 0
    temporary: Any = None
    regions: Sequence[Any] = ()

    def __init__(self, library: Any, number: int, call: str, comm: Any, rank: int, context: int,
                 tag: int, data: Data) -> None:
        self.done = self.taken = False
        self.error = None
        self.library = library
        self.comm = comm
        self.number = number
        self.call = call
        self.rank = rank
        self.context = context
        self.tag = tag
        self.data = data

    def describe(self) -> str:
        other = "from any rank" if self.rank == ANY_SOURCE else f"from rank {self.rank}"
        return _text_of(self.call, self.comm.rank, other, self.tag, self.comm.name)

    def takes(self, source: int, tag: int) -> bool:
        """Tells whether it may receive a message of ``source`` with ``tag``."""
        return self.rank in (ANY_SOURCE, source) and self.tag in (ANY_TAG, tag)

    def matched(self, source: int, tag: int, length: int) -> None:
        """It has got a message, of which not all need be there yet."""
        self.length = length
        self._status = Status(source, tag, length)

    def ended(self) -> None:
        """All data are in memory."""
        self.done = True
        self.data.fill(self.length)
        self.data.free()


def given(found: Result, completed: Sequence[Request], *, several: bool = False) -> Result:
    """``found``, what a call gives that completes the requests ``completed``; ``several``: one that
    completes any number.

    Raises
    ------
    RequestError
        Some of them have failed.
    """
    for one in completed:
        one.taken = True
    failed = [one for one in completed if one.error is not None]
    if failed:
        raise RequestError([one.error for one in failed if one.error is not None], several,
                           [one.comm for one in failed], found)
    return found
