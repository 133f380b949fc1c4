"""Calls of the library: their names, their marks in the trace, and counts of what they sent."""

from collections import Counter
from collections.abc import Callable, Coroutine
from enum import IntEnum, auto
from functools import wraps
from typing import Any, NamedTuple, TypeVar

from ...layouts.trace import BEGIN, END, Activity
from ..port.port import Port

__all__ = ["Call", "Calls", "Sent", "called"]

COMMUNICATE = int(Activity.COMMUNICATE)
Result = TypeVar("Result")
_new = tuple.__new__
"""Makes a named tuple of a tuple as it is: a message has no time for more."""


class Call(IntEnum):
    """Calls that may communicate. The number is that of the call's marks, Activity.COMMUNICATE."""

    Init = auto()
    Finalize = auto()
    Send = auto()
    Bsend = auto()
    Ssend = auto()
    Rsend = auto()
    Isend = auto()
    Ibsend = auto()
    Issend = auto()
    Irsend = auto()
    Recv = auto()
    Irecv = auto()
    Sendrecv = auto()
    Probe = auto()
    Iprobe = auto()
    Wait = auto()
    Waitall = auto()
    Waitany = auto()
    Test = auto()
    Barrier = auto()
    Bcast = auto()
    Reduce = auto()
    Allreduce = auto()
    Alltoall = auto()
    Alltoallv = auto()
    Allgather = auto()
    Allgatherv = auto()
    Gather = auto()
    Gatherv = auto()
    Scatter = auto()
    Scatterv = auto()
    Scan = auto()
    Exscan = auto()
    Reduce_scatter = auto()
    Dup = auto()
    Split = auto()
    Create = auto()
    Detach_buffer = auto()
    Sendrecv_replace = auto()
    Mprobe = auto()
    Mrecv = auto()
    Improbe = auto()
    Imrecv = auto()
    Testall = auto()
    Testany = auto()
    Waitsome = auto()
    Testsome = auto()
    Cancel = auto()
    Alltoallw = auto()
    Ibarrier = auto()
    Ibcast = auto()
    Ireduce = auto()
    Iallreduce = auto()
    Ialltoall = auto()
    Ialltoallv = auto()
    Ialltoallw = auto()
    Iallgather = auto()
    Iallgatherv = auto()
    Igather = auto()
    Igatherv = auto()
    Iscatter = auto()
    Iscatterv = auto()
    Iscan = auto()
    Iexscan = auto()
    Ireduce_scatter = auto()
    Isendrecv = auto()
    Isendrecv_replace = auto()
    Idup = auto()
    Create_group = auto()
    Create_cart = auto()
    Cart_sub = auto()
    Create_graph = auto()
    Create_dist_graph = auto()
    Create_dist_graph_adjacent = auto()
    Create_intercomm = auto()
    Merge = auto()
    Neighbor_allgather = auto()
    Neighbor_allgatherv = auto()
    Neighbor_alltoall = auto()
    Neighbor_alltoallv = auto()
    Neighbor_alltoallw = auto()
    Ineighbor_allgather = auto()
    Ineighbor_allgatherv = auto()
    Ineighbor_alltoall = auto()
    Ineighbor_alltoallv = auto()
    Ineighbor_alltoallw = auto()
    Win_create = auto()
    Win_free = auto()
    Win_attach = auto()
    Win_detach = auto()
    Win_fence = auto()
    Win_lock = auto()
    Win_unlock = auto()
    Win_lock_all = auto()
    Win_unlock_all = auto()
    Win_flush = auto()
    Win_flush_all = auto()
    Win_flush_local = auto()
    Win_flush_local_all = auto()
    Win_sync = auto()
    Win_start = auto()
    Win_complete = auto()
    Win_post = auto()
    Win_wait = auto()
    Win_test = auto()
    Put = auto()
    Get = auto()
    Accumulate = auto()
    Get_accumulate = auto()
    Fetch_and_op = auto()
    Compare_and_swap = auto()
    Rput = auto()
    Rget = auto()
    Raccumulate = auto()
    Rget_accumulate = auto()


class Sent(NamedTuple):
    """A kind of message: the outermost call that sent it, the rank among all to which it went, and
    its bytes."""

    call: Call
    rank: int
    length: int


class Calls:
    """The calls of one process. Calls may be made by others; the outermost has the marks.

    Attributes
    ----------
    count
        How often the program made each call.
    sent
        How many messages of each kind were sent.
    current
        The outermost call, in which the program is.
    before
        What is called at the beginning of each outermost call but Win_free: programs free the
        memory of a window before it, which MPI does not allow, and get away with it elsewhere.
    """

    __slots__ = ("before", "count", "sent", "current", "port")

    def __init__(self, port: Port) -> None:
        self.count: Counter[Call] = Counter()
        self.sent: Counter[Sent] = Counter()
        self.current: Call | None = None
        self.before: list[Callable[[], None]] = []
        self.port = port

    def note(self, rank: int, length: int) -> None:
        """A message of ``length`` bytes goes to ``rank``."""
        assert self.current is not None
        self.sent[_new(Sent, (self.current, rank, length))] += 1


def called(call: Call) -> Callable[[Callable[..., Coroutine[Any, Any, Result]]],
                                   Callable[..., Coroutine[Any, Any, Result]]]:
    """Makes a method of an object with ``calls`` the call ``call``."""
    number, looks = int(call), call is not Call.Win_free

    def made(function: Callable[..., Coroutine[Any, Any, Result]]
             ) -> Callable[..., Coroutine[Any, Any, Result]]:
        @wraps(function)
        async def counted(self: Any, *arguments: Any, **named: Any) -> Result:
            calls: Calls = self.calls
            if calls.current is not None:
                return await function(self, *arguments, **named)
            calls.current = call
            calls.count[call] += 1
            calls.port.mark(COMMUNICATE, BEGIN, number)
            if looks:
                for one in calls.before:
                    one()
            try:
                return await function(self, *arguments, **named)
            finally:
                calls.port.mark(COMMUNICATE, END, number)
                calls.current = None
        return counted
    return made
