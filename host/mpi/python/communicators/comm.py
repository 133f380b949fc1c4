"""The classes Comm and Intracomm, with all their calls."""

import warnings
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ...communicators import communicator
from ...constants import ANY_SOURCE, ANY_TAG, COMM_TYPE_SHARED, PROC_NULL, UNDEFINED
from ...point_to_point import status as statuses_
from .. import python_objects
from ..groups import Group
from ..info import Info
from ..requests import Operation, Request
from ..status import Status, tell
from ..unsupported_calls import refuses
from . import collective, point_to_point
from .base import Communicator
from .buffered_sends import Attach_buffer, Detach_buffer
from .matched import NO_PROC, Message
from .state import Predefined, State
from .ways import all_ways, begun, persistent, waits

__all__ = ["COMM_NULL", "COMM_SELF", "COMM_TYPE_SHARED", "COMM_WORLD", "Comm", "Intracomm"]

Own = TypeVar("Own", bound="Comm")
"""Split by which ranks share memory."""


@refuses("Iagree Psend_init Precv_init Revoke Is_revoked Get_failed "
         "Ack_failed Agree Shrink Ishrink Iflush_buffer Flush_buffer Join")
class Comm(Communicator):
    """A communicator."""

    parent: Any = None
    """The null communicator between this program and one that has spawned it."""

    def __new__(cls: type[Own], other: Any = None) -> Own:
        made = super().__new__(cls, other)
        if made._of is not None and not cls._fits(made):
            raise TypeError(f"{cls.__name__} of a communicator of another kind")
        return made

    @classmethod
    def _fits(cls, comm: Any) -> bool:
        """Whether the communicator is of this class."""
        return True

    @classmethod
    def fromint(cls: type[Own], number: int, /) -> Own:
        made, kind = super().fromint(number), cls
        while made and (closer := next((one for one in kind.__subclasses__() if one._fits(made)),
                                       None)):
            kind = closer
        return kind.standing_for(made._of)

    fromhandle = f2py = fromint

    # Others made of it

    def _made(self, comm: communicator.Comm | None, kind: type[Any]) -> Any:
        made = kind()
        if comm is not None:
            made._of = State(comm)
            comm.handle = kind.standing_for(made._of)
        return made

    def Dup(self: Own, info: Info | None = None) -> Own:
        made = self._made(self._wait(self.inner.Dup()), type(self))
        made.inner.attributes = self._copied()
        if info is not None:
            made.Set_info(info)
        return made

    def Dup_with_info(self: Own, info: Info) -> Own:
        return self.Dup(info)

    def Clone(self: Own) -> Own:
        return self.Dup()

    def Create(self, group: Group) -> "Intracomm":
        return self._made(self._wait(self.inner.Create(group.inner)), self._plain())

    def _plain(self) -> type[Any]:
        """The class of others made of it, without a topology."""
        return Intracomm

    def Split(self, color: int = 0, key: int = 0) -> "Intracomm":
        return self._made(self._wait(self.inner.Split(color, key)), self._plain())

    def Split_type(self, split_type: int, key: int = 0, info: Info | None = None) -> "Intracomm":
        """Those on the same node."""
        if split_type not in (COMM_TYPE_SHARED, UNDEFINED):
            raise NotImplementedError("Split_type splits by shared memory alone")
        return self._made(self._wait(self.inner.Split_type(split_type, key)), Intracomm)

    def Idup(self: Own, info: Info | None = None) -> tuple[Own, Request]:
        """The duplicate may be used when the request has ended."""
        duplicate = type(self)()
        attributes = self._copied()
        made: list[communicator.Comm] = []
        idup: Any = self.inner.Idup(made)
        request = self._wait(idup)

        def load(_: Any) -> None:
            duplicate._of = State(made[0])
            made[0].handle, made[0].attributes = type(self).standing_for(duplicate._of), attributes
            if info is not None:
                duplicate.Set_info(info)

        return duplicate, Request.standing_for(Operation(request, load=load))

    def Idup_with_info(self: Own, info: Info) -> tuple[Own, Request]:
        return self.Idup(info)

    @classmethod
    def Get_parent(cls) -> Any:
        """The null communicator: nobody has spawned this program."""
        return cls.parent

    # Messages of buffers

    Send = waits("Send", point_to_point.sent)
    Bsend = waits("Bsend", point_to_point.sent)
    Ssend = waits("Ssend", point_to_point.sent)
    Rsend = waits("Rsend", point_to_point.sent)
    Isend = begun("Isend", point_to_point.sent)
    Ibsend = begun("Ibsend", point_to_point.sent)
    Issend = begun("Issend", point_to_point.sent)
    Irsend = begun("Irsend", point_to_point.sent)
    Irecv = begun("Irecv", point_to_point.received)
    Send_init = persistent("Isend", point_to_point.sent)
    Bsend_init = persistent("Ibsend", point_to_point.sent)
    Ssend_init = persistent("Issend", point_to_point.sent)
    Rsend_init = persistent("Irsend", point_to_point.sent)
    Recv_init = persistent("Irecv", point_to_point.received)

    def Recv(self, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG,
             status: Status | None = None) -> None:
        self._receive(self.inner.Recv(*point_to_point.received(self, buf, source, tag)), status)

    def Sendrecv(self, sendbuf: Any, dest: int, sendtag: int = 0, recvbuf: Any = None,
                 source: int = ANY_SOURCE, recvtag: int = ANY_TAG, status: Status | None = None
                 ) -> None:
        self._receive(self.inner.Sendrecv(*point_to_point.exchanged(
            self, sendbuf, dest, sendtag, recvbuf, source, recvtag)), status)

    def Sendrecv_replace(self, buf: Any, dest: int, sendtag: int = 0, source: int = ANY_SOURCE,
                         recvtag: int = ANY_TAG, status: Status | None = None) -> None:
        self._receive(self.inner.Sendrecv_replace(*point_to_point.replaced(
            self, buf, dest, sendtag, source, recvtag)), status)

    Isendrecv = begun("Isendrecv", point_to_point.exchanged)
    Isendrecv_replace = begun("Isendrecv_replace", point_to_point.replaced)

    def Probe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
              ) -> bool:
        tell(status, self._wait(self.inner.Probe(source, tag)))
        return True

    def Iprobe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
               ) -> bool:
        found = self._wait(self.inner.Iprobe(source, tag))
        if found is not None:
            tell(status, found)
        return found is not None

    def Mprobe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
               ) -> Message:
        if source == PROC_NULL:
            tell(status, statuses_.Status(PROC_NULL))
            return Message.standing_for(NO_PROC)
        message, found = self._wait(self.inner.Mprobe(source, tag))
        tell(status, found)
        return Message.standing_for((message, found.count))

    def Improbe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
                ) -> Message | None:
        if source == PROC_NULL:
            return self.Mprobe(source, tag, status)
        got = self._wait(self.inner.Improbe(source, tag))
        if got is None:
            return None
        message, found = got
        tell(status, found)
        return Message.standing_for((message, found.count))

    def Attach_buffer(self, buf: Any) -> None:
        Attach_buffer(buf)

    def Detach_buffer(self) -> Any:
        return Detach_buffer()

    # Collective calls

    Barrier, Ibarrier, Barrier_init = all_ways("Barrier", collective.barrier)
    Bcast, Ibcast, Bcast_init = all_ways("Bcast", collective.bcast)
    Gather, Igather, Gather_init = all_ways("Gather", collective.gather)
    Gatherv, Igatherv, Gatherv_init = all_ways("Gatherv", collective.gatherv)
    Scatter, Iscatter, Scatter_init = all_ways("Scatter", collective.scatter)
    Scatterv, Iscatterv, Scatterv_init = all_ways("Scatterv", collective.scatterv)
    Allgather, Iallgather, Allgather_init = all_ways("Allgather", collective.allgather)
    Allgatherv, Iallgatherv, Allgatherv_init = all_ways("Allgatherv", collective.allgatherv)
    Alltoall, Ialltoall, Alltoall_init = all_ways("Alltoall", collective.alltoall)
    Alltoallv, Ialltoallv, Alltoallv_init = all_ways("Alltoallv", collective.alltoallv)
    Alltoallw, Ialltoallw, Alltoallw_init = all_ways("Alltoallw", collective.alltoallw)
    Reduce, Ireduce, Reduce_init = all_ways("Reduce", collective.reduce)
    Allreduce, Iallreduce, Allreduce_init = all_ways("Allreduce", collective.reduce_all)
    Reduce_scatter, Ireduce_scatter, Reduce_scatter_init = all_ways(
        "Reduce_scatter", collective.reduce_scatter)
    Reduce_scatter_block, Ireduce_scatter_block, Reduce_scatter_block_init = all_ways(
        "Reduce_scatter", collective.reduce_scatter_block)

    # Objects

    send = waits("Send", point_to_point.pickled)
    bsend = waits("Bsend", point_to_point.pickled)
    ssend = waits("Ssend", point_to_point.pickled)
    isend = begun("Isend", point_to_point.pickled)
    ibsend = begun("Ibsend", point_to_point.pickled)
    issend = begun("Issend", point_to_point.pickled)

    def recv(self, buf: Any = None, source: int = ANY_SOURCE, tag: int = ANY_TAG,
             status: Status | None = None) -> Any:
        if buf is not None:
            warnings.warn("recv: 'buf' is not needed", UserWarning, stacklevel=2)
        if source == PROC_NULL:
            self.Recv(bytearray(), source, tag, status)
            return None
        if buf is not None and not isinstance(buf, int):
            return self.irecv(buf, source, tag).wait(status)
        return self.Mprobe(source, tag, status).recv(status)

    def irecv(self, buf: Any = None, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        if source == PROC_NULL:
            return self.Irecv(bytearray(), source, tag)
        into = point_to_point.room(buf)
        return Request.standing_for(Operation(self._wait(self.inner.Irecv(into, source, tag)),
                                          load=point_to_point.loads(into)))

    def sendrecv(self, sendobj: Any, dest: int, sendtag: int = 0, recvbuf: Any = None,
                 source: int = ANY_SOURCE, recvtag: int = ANY_TAG, status: Status | None = None
                 ) -> Any:
        request = self.isend(sendobj, dest, sendtag)
        found = self.recv(recvbuf, source, recvtag, status)
        request.wait()
        return found

    probe, iprobe = Probe, Iprobe
    mprobe, improbe = Mprobe, Improbe
    barrier = Barrier

    def bcast(self, obj: Any, root: int = 0) -> Any:
        return self._wait(python_objects.bcast(self.inner, obj, root))

    def gather(self, sendobj: Any, root: int = 0) -> list[Any] | None:
        return self._wait(python_objects.gather(self.inner, sendobj, root))

    def scatter(self, sendobj: Iterable[Any] | None, root: int = 0) -> Any:
        return self._wait(python_objects.scatter(self.inner, sendobj, root))

    def allgather(self, sendobj: Any) -> list[Any]:
        return self._wait(python_objects.allgather(self.inner, sendobj))

    def alltoall(self, sendobj: Iterable[Any]) -> list[Any]:
        return self._wait(python_objects.alltoall(self.inner, sendobj))

    def reduce(self, sendobj: Any, op: Any = None, root: int = 0) -> Any:
        found = self.gather(sendobj, root)
        return None if found is None else python_objects.fold(found, _on_objects(op))

    def allreduce(self, sendobj: Any, op: Any = None) -> Any:
        return python_objects.fold(self.allgather(sendobj), _on_objects(op))


@refuses("Create_from_group Spawn Spawn_multiple Accept Connect")
class Intracomm(Comm):
    """A communicator of one group. What has a topology, or two groups, is made by functions of
    those files (:mod:`.topologies`, :mod:`.intercomm`)."""

    @classmethod
    def _fits(cls, comm: Any) -> bool:
        return not comm.Is_inter()

    Create_cart: Any
    Create_graph: Any
    Create_dist_graph: Any
    Create_dist_graph_adjacent: Any
    Cart_map: Any
    Graph_map: Any
    Create_intercomm: Any

    def Create_group(self, group: Group, tag: int = 0) -> "Intracomm":
        return self._made(self._wait(self.inner.Create_group(group.inner)), Intracomm)

    Scan, Iscan, Scan_init = all_ways("Scan", collective.reduce_all)
    Exscan, Iexscan, Exscan_init = all_ways("Exscan", collective.reduce_all)

    def scan(self, sendobj: Any, op: Any = None) -> Any:
        return python_objects.fold(self.allgather(sendobj)[:self.rank + 1], _on_objects(op))

    def exscan(self, sendobj: Any, op: Any = None) -> Any:
        before = self.allgather(sendobj)[:self.rank]
        return python_objects.fold(before, _on_objects(op)) if before else None


def _on_objects(op: Any) -> Callable[[Any, Any], Any]:
    return collective.DEFAULT if op is None else op


COMM_NULL = Comm()
COMM_WORLD = Intracomm.standing_for(Predefined("COMM_WORLD"))
COMM_SELF = Intracomm.standing_for(Predefined("COMM_SELF"))
