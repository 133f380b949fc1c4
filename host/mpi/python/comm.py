"""Communicators."""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

from .. import collectives, communicator, operators
from .. import status as statuses_
from ..constants import ANY_SOURCE, ANY_TAG, MAX_TAG, PROC_NULL
from ..sync import RankError, current
from . import objects
from .attributes import Attributed, Keyvals
from .errors import CLASSES, Errhandler, Exception, blocking, told
from .groups import Group
from .info import Info
from .memory import view
from .messages import simple, vector
from .operators import Op
from .places import BUFFER_AUTOMATIC, IN_PLACE
from .refused import refuses
from .requests import Begun, Prequest, Probing, Request
from .status import Status

__all__ = ["COMM_NULL", "COMM_SELF", "COMM_WORLD", "Comm", "Intracomm", "Message"]

Own = TypeVar("Own", bound="Comm")
Result = TypeVar("Result")

TAG_UB, IO, WTIME_IS_GLOBAL, UNIVERSE_SIZE, APPNUM, LASTUSEDCODE = range(1, 7)
AUTOMATIC_BYTES = 1 << 16
"""Room for buffered sends, where a program does not say how much."""
IRECV_BYTES = 1 << 15
"""Longest object that irecv without a buffer receives, as mpi4py has it."""
_GIVEN = {TAG_UB: MAX_TAG, WTIME_IS_GLOBAL: 1, IO: PROC_NULL, UNIVERSE_SIZE: None, APPNUM: 0,
          LASTUSEDCODE: CLASSES["ERR_LASTCODE"]}


class State:
    """What a communicator's handles stand for.

    Attributes
    ----------
    comm
        The library's.
    handler
        What happens to errors: "return", "fatal", "abort", or a function.
    """

    def __init__(self, comm: communicator.Comm, name: str = "") -> None:
        self.comm = comm
        self.name = name
        self.handler: Any = "return"
        self.attributes: dict[int, Any] = {}
        self.info: dict[str, str] = {}
        self.attached: Any = None


class _World:
    """A communicator that MPI defines: each rank has its own of this name."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def state(self) -> State:
        rank = current()
        found: State | None = rank.kept.get(self.name)
        if found is None:
            found = rank.kept[self.name] = State(getattr(rank.mpi, self.name), f"MPI_{self.name}")
        return found


@refuses("Iagree Ibarrier Ibcast Igather Igatherv Iscatter Iscatterv Iallgather Iallgatherv "
         "Ialltoall Ialltoallv Ialltoallw Ireduce Iallreduce Ireduce_scatter Ireduce_scatter_block "
         "Barrier_init Bcast_init Gather_init Gatherv_init Scatter_init Scatterv_init "
         "Allgather_init Allgatherv_init Alltoall_init Alltoallv_init Alltoallw_init Reduce_init "
         "Allreduce_init Reduce_scatter_init Reduce_scatter_block_init Psend_init Precv_init "
         "Idup Idup_with_info Alltoallw Split_type Revoke Is_revoked Get_failed Ack_failed Agree "
         "Shrink Ishrink Iflush_buffer Flush_buffer Join Isendrecv Isendrecv_replace")
class Comm(Attributed):
    """A communicator."""

    _keyvals = Keyvals()

    # What it is

    @property
    def _state(self) -> State:
        if self._of is None:
            raise Exception(CLASSES["ERR_COMM"])
        return self._of.state if isinstance(self._of, _World) else self._of

    @property
    def inner(self) -> communicator.Comm:
        """The library's communicator."""
        return self._state.comm

    def _wait(self, call: Coroutine[Any, Any, Result]) -> Result:
        return blocking(call, self._state.handler)

    def Get_rank(self) -> int:
        return self.inner.rank

    def Get_size(self) -> int:
        return self.inner.size

    rank = property(Get_rank)
    size = property(Get_size)

    def Get_group(self) -> Group:
        return Group.standing_for(self.inner.group)

    @property
    def group(self) -> Group:
        return self.Get_group()

    def Is_inter(self) -> bool:
        self.inner  # noqa: B018 — refuses the null handle
        return False

    def Is_intra(self) -> bool:
        self.inner  # noqa: B018 — refuses the null handle
        return True

    is_inter = property(Is_inter)
    is_intra = property(Is_intra)

    def Get_topology(self) -> int:
        self.inner  # noqa: B018 — refuses the null handle
        return -32766

    topology = property(Get_topology)

    @property
    def is_topo(self) -> bool:
        return False

    def Get_name(self) -> str:
        return self._state.name if self else "MPI_COMM_NULL"

    def Set_name(self, name: str) -> None:
        self._state.name = name
        self.inner.Set_name(name)

    name = property(Get_name, Set_name)

    def Compare(self, comm: "Comm") -> int:
        return self.inner.Compare(comm.inner)

    # Others made of it

    def _made(self, comm: communicator.Comm | None, kind: type[Any]) -> Any:
        made = kind()
        if comm is not None:
            state = State(comm)
            state.handler = self._state.handler
            made._of = state
        return made

    def Dup(self: Own, info: Info | None = None) -> Own:
        made = self._made(self._wait(self.inner.Dup()), type(self))
        made._of.attributes = self._keyvals.copied(self, self._state.attributes)
        made._of.info = dict(self._state.info)
        if info is not None:
            made.Set_info(info)
        return made

    def Dup_with_info(self: Own, info: Info) -> Own:
        return self.Dup(info)

    def Clone(self: Own) -> Own:
        return self.Dup()

    def Create(self, group: Group) -> "Intracomm":
        return self._made(self._wait(self.inner.Create(group.inner)), Intracomm)

    def Split(self, color: int = 0, key: int = 0) -> "Intracomm":
        return self._made(self._wait(self.inner.Split(color, key)), Intracomm)

    def Free(self) -> None:
        state = self._state
        if isinstance(self._of, _World):
            raise Exception(CLASSES["ERR_COMM"])
        self._drop_all()
        self._wait(state.comm.Barrier())
        state.comm.Free()
        self._of = None

    def free(self) -> None:
        if self and not isinstance(self._of, _World):
            self.Free()

    Disconnect = Free

    @property
    def is_predefined(self) -> bool:
        return self._of is None or isinstance(self._of, _World)

    @classmethod
    def Get_parent(cls) -> "Comm":
        """None: nobody has spawned this program."""
        return COMM_NULL

    def Abort(self, errorcode: int = 0) -> None:
        current().abort(self.inner.name, errorcode)

    # Attributes, information, errors

    @property
    def _attributes(self) -> dict[int, Any]:
        return self._state.attributes

    def Get_attr(self, keyval: int) -> Any:
        if keyval in _GIVEN:
            return self.inner.library.size if keyval == UNIVERSE_SIZE else _GIVEN[keyval]
        return super().Get_attr(keyval)

    def Set_info(self, info: Info) -> None:
        self._state.info = dict(info.items())

    def Get_info(self) -> Info:
        return Info.Create(dict(self._state.info))

    @property
    def info(self) -> Info:
        return self.Get_info()

    @info.setter
    def info(self, info: Info) -> None:
        self.Set_info(info)

    @classmethod
    def Create_errhandler(cls, errhandler_fn: Callable[["Comm", int], None]) -> Errhandler:
        return Errhandler.standing_for(errhandler_fn)

    def Get_errhandler(self) -> Errhandler:
        handler = self._state.handler
        return Errhandler.standing_for(getattr(handler, "function", handler))

    def Set_errhandler(self, errhandler: Errhandler) -> None:
        if not errhandler:
            raise Exception(CLASSES["ERR_ARG"])
        handler = errhandler._of
        if callable(handler):
            def handle(code: int, function: Callable[..., Any] = handler) -> None:
                function(self, code)
            handle.function = handler  # type: ignore[attr-defined]
            handler = handle
        self._state.handler = handler

    def Call_errhandler(self, errorcode: int) -> None:
        handler = self._state.handler
        if handler == "return":
            return
        if callable(handler):
            handler(errorcode)
            return
        raise RankError(f"rank {current().number}: {Exception(errorcode)}")

    # Messages

    def _out(self, buf: Any, rank: int) -> Any:
        return None if rank == PROC_NULL else simple(buf, True)

    def _into(self, buf: Any, rank: int) -> Any:
        return None if rank == PROC_NULL else simple(buf, False)

    def Send(self, buf: Any, dest: int, tag: int = 0) -> None:
        self._wait(self.inner.Send(self._out(buf, dest), dest, tag))

    def Bsend(self, buf: Any, dest: int, tag: int = 0) -> None:
        self._wait(self.inner.Bsend(self._out(buf, dest), dest, tag))

    def Ssend(self, buf: Any, dest: int, tag: int = 0) -> None:
        self._wait(self.inner.Ssend(self._out(buf, dest), dest, tag))

    def Rsend(self, buf: Any, dest: int, tag: int = 0) -> None:
        self._wait(self.inner.Rsend(self._out(buf, dest), dest, tag))

    def _begun(self, how: str, buf: Any, dest: int, tag: int) -> Request:
        out = self._out(buf, dest)
        return Request.standing_for(Begun(self._wait(getattr(self.inner, how)(out, dest, tag)),
                                          kept=buf))

    def Isend(self, buf: Any, dest: int, tag: int = 0) -> Request:
        return self._begun("Isend", buf, dest, tag)

    def Ibsend(self, buf: Any, dest: int, tag: int = 0) -> Request:
        return self._begun("Ibsend", buf, dest, tag)

    def Issend(self, buf: Any, dest: int, tag: int = 0) -> Request:
        return self._begun("Issend", buf, dest, tag)

    def Irsend(self, buf: Any, dest: int, tag: int = 0) -> Request:
        return self._begun("Irsend", buf, dest, tag)

    def Recv(self, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG,
             status: Status | None = None) -> None:
        _tell(status, self._wait(self.inner.Recv(self._into(buf, source), source, tag)))

    def Irecv(self, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        into = self._into(buf, source)
        return Request.standing_for(Begun(self._wait(self.inner.Irecv(into, source, tag)),
                                          kept=buf))

    def _persistent(self, how: str, spec: Any, rank: int, tag: int) -> Prequest:
        inner = self.inner
        return Prequest.standing_for(Begun(
            None, again=lambda: getattr(inner, how)(spec, rank, tag)))

    def Send_init(self, buf: Any, dest: int, tag: int = 0) -> Prequest:
        return self._persistent("Isend", self._out(buf, dest), dest, tag)

    def Bsend_init(self, buf: Any, dest: int, tag: int = 0) -> Prequest:
        return self._persistent("Ibsend", self._out(buf, dest), dest, tag)

    def Ssend_init(self, buf: Any, dest: int, tag: int = 0) -> Prequest:
        return self._persistent("Issend", self._out(buf, dest), dest, tag)

    def Rsend_init(self, buf: Any, dest: int, tag: int = 0) -> Prequest:
        return self._persistent("Irsend", self._out(buf, dest), dest, tag)

    def Recv_init(self, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Prequest:
        return self._persistent("Irecv", self._into(buf, source), source, tag)

    def Sendrecv(self, sendbuf: Any, dest: int, sendtag: int = 0, recvbuf: Any = None,
                 source: int = ANY_SOURCE, recvtag: int = ANY_TAG, status: Status | None = None
                 ) -> None:
        _tell(status, self._wait(self.inner.Sendrecv(
            self._out(sendbuf, dest), dest, sendtag, self._into(recvbuf, source), source,
            recvtag)))

    def Sendrecv_replace(self, buf: Any, dest: int, sendtag: int = 0, source: int = ANY_SOURCE,
                         recvtag: int = ANY_TAG, status: Status | None = None) -> None:
        rank = PROC_NULL if dest == source == PROC_NULL else 0
        _tell(status, self._wait(self.inner.Sendrecv_replace(
            self._into(buf, rank), dest, sendtag, source, recvtag)))

    def Probe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
              ) -> bool:
        _tell(status, self._wait(self.inner.Probe(source, tag)))
        return True

    def Iprobe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
               ) -> bool:
        found = self._wait(self.inner.Iprobe(source, tag))
        if found is not None:
            _tell(status, found)
        return found is not None

    def Mprobe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
               ) -> "Message":
        if source == PROC_NULL:
            _tell(status, statuses_.Status(PROC_NULL))
            return Message.standing_for(NO_PROC)
        message, found = self._wait(self.inner.Mprobe(source, tag))
        _tell(status, found)
        return Message.standing_for((message, found.count))

    def Improbe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
                ) -> "Message | None":
        if source == PROC_NULL:
            return self.Mprobe(source, tag, status)
        got = self._wait(self.inner.Improbe(source, tag))
        if got is None:
            return None
        message, found = got
        _tell(status, found)
        return Message.standing_for((message, found.count))

    def Attach_buffer(self, buf: Any) -> None:
        Attach_buffer(buf)

    def Detach_buffer(self) -> Any:
        return Detach_buffer()

    # Collective calls

    def Barrier(self) -> None:
        self._wait(self.inner.Barrier())

    def Bcast(self, buf: Any, root: int = 0) -> None:
        self._wait(self.inner.Bcast(simple(buf, self.rank == root), root))

    def Gather(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        into = simple(recvbuf, False, self.size) if self.rank == root else None
        self._wait(self.inner.Gather(_in_place(sendbuf), into, root))

    def Gatherv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        into = vector(recvbuf, False, self.size) if self.rank == root else None
        self._wait(self.inner.Gatherv(_in_place(sendbuf), into, root))

    def Scatter(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        out = simple(sendbuf, True, self.size) if self.rank == root else None
        self._wait(self.inner.Scatter(out, _in_place(recvbuf, False), root))

    def Scatterv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        out = vector(sendbuf, True, self.size) if self.rank == root else None
        self._wait(self.inner.Scatterv(out, _in_place(recvbuf, False), root))

    def Allgather(self, sendbuf: Any, recvbuf: Any) -> None:
        self._wait(self.inner.Allgather(_in_place(sendbuf), simple(recvbuf, False, self.size)))

    def Allgatherv(self, sendbuf: Any, recvbuf: Any) -> None:
        self._wait(self.inner.Allgatherv(_in_place(sendbuf), vector(recvbuf, False, self.size)))

    def Alltoall(self, sendbuf: Any, recvbuf: Any) -> None:
        out = collectives.IN_PLACE if _is_in_place(sendbuf) else simple(sendbuf, True, self.size)
        self._wait(self.inner.Alltoall(out, simple(recvbuf, False, self.size)))

    def Alltoallv(self, sendbuf: Any, recvbuf: Any) -> None:
        into = vector(recvbuf, False, self.size)
        out = ([into[0].copy(), *into[1:]] if _is_in_place(sendbuf)
               else vector(sendbuf, True, self.size))
        self._wait(self.inner.Alltoallv(out, into))

    def Reduce(self, sendbuf: Any, recvbuf: Any, op: Op | None = None, root: int = 0) -> None:
        into = simple(recvbuf, False) if self.rank == root else None
        self._wait(self.inner.Reduce(_in_place(sendbuf), into, _op(op), root))

    def Allreduce(self, sendbuf: Any, recvbuf: Any, op: Op | None = None) -> None:
        self._wait(self.inner.Allreduce(_in_place(sendbuf), simple(recvbuf, False), _op(op)))

    def Reduce_scatter(self, sendbuf: Any, recvbuf: Any, recvcounts: Sequence[int] | None = None,
                       op: Op | None = None) -> None:
        into = simple(recvbuf, False)
        out = into if _is_in_place(sendbuf) else simple(sendbuf, True)
        if recvcounts is not None and len(recvcounts) != self.size:
            raise ValueError(f"expecting {self.size} items, got {len(recvcounts)}")
        if _is_in_place(sendbuf):
            if recvcounts is None:
                raise ValueError("IN_PLACE needs recvcounts")
            into = [into[0], int(recvcounts[self.rank]), into[2]]
        self._wait(self.inner.Reduce_scatter(out, into, recvcounts, _op(op)))

    def Reduce_scatter_block(self, sendbuf: Any, recvbuf: Any, op: Op | None = None) -> None:
        size = self.size
        if _is_in_place(sendbuf):
            into = simple(recvbuf, False, size)
            out = [into[0], into[1] * size, into[2]]
        else:
            into = simple(recvbuf, False)
            out = simple(sendbuf, True, size)
            out[1] *= size
        self._wait(self.inner.Reduce_scatter(out, into, [into[1]] * size, _op(op)))

    # Objects

    def send(self, obj: Any, dest: int, tag: int = 0) -> None:
        self._wait(self.inner.Send(objects.packed(obj), dest, tag))

    def bsend(self, obj: Any, dest: int, tag: int = 0) -> None:
        self._wait(self.inner.Bsend(objects.packed(obj), dest, tag))

    def ssend(self, obj: Any, dest: int, tag: int = 0) -> None:
        self._wait(self.inner.Ssend(objects.packed(obj), dest, tag))

    def isend(self, obj: Any, dest: int, tag: int = 0) -> Request:
        return self._begun("Isend", objects.packed(obj), dest, tag)

    def ibsend(self, obj: Any, dest: int, tag: int = 0) -> Request:
        return self._begun("Ibsend", objects.packed(obj), dest, tag)

    def issend(self, obj: Any, dest: int, tag: int = 0) -> Request:
        return self._begun("Issend", objects.packed(obj), dest, tag)

    def recv(self, buf: Any = None, source: int = ANY_SOURCE, tag: int = ANY_TAG,
             status: Status | None = None) -> Any:
        if source == PROC_NULL:
            self.Recv(bytearray(), source, tag, status)
            return None
        if buf is not None and not isinstance(buf, int):
            return self.irecv(buf, source, tag).wait(status)
        return self.Mprobe(source, tag, status).recv(status)

    def irecv(self, buf: Any = None, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        if source == PROC_NULL:
            return self.Irecv(bytearray(), source, tag)
        if buf is None or isinstance(buf, int):
            buf = bytearray(IRECV_BYTES if buf is None else buf)
        into = simple(buf, False)
        return Request.standing_for(Begun(
            self._wait(self.inner.Irecv(into, source, tag)),
            load=lambda status: objects.loaded(into[0][:status.count])))

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
        return self._wait(objects.bcast(self.inner, obj, root))

    def gather(self, sendobj: Any, root: int = 0) -> list[Any] | None:
        return self._wait(objects.gather(self.inner, sendobj, root))

    def scatter(self, sendobj: Iterable[Any] | None, root: int = 0) -> Any:
        return self._wait(objects.scatter(self.inner, sendobj, root))

    def allgather(self, sendobj: Any) -> list[Any]:
        return self._wait(objects.allgather(self.inner, sendobj))

    def alltoall(self, sendobj: Iterable[Any]) -> list[Any]:
        return self._wait(objects.alltoall(self.inner, sendobj))

    def reduce(self, sendobj: Any, op: Any = None, root: int = 0) -> Any:
        found = self.gather(sendobj, root)
        return None if found is None else objects.fold(found, _on_objects(op))

    def allreduce(self, sendobj: Any, op: Any = None) -> Any:
        return objects.fold(self.allgather(sendobj), _on_objects(op))


@refuses("Create_from_group Create_group Create_cart Create_graph Create_dist_graph_adjacent "
         "Create_dist_graph "
         "Create_intercomm Cart_map Graph_map Iscan Iexscan Scan_init Exscan_init Spawn "
         "Spawn_multiple Accept Connect")
class Intracomm(Comm):
    """A communicator of one group."""

    def Scan(self, sendbuf: Any, recvbuf: Any, op: Op | None = None) -> None:
        self._wait(self.inner.Scan(_in_place(sendbuf), simple(recvbuf, False), _op(op)))

    def Exscan(self, sendbuf: Any, recvbuf: Any, op: Op | None = None) -> None:
        self._wait(self.inner.Exscan(_in_place(sendbuf), simple(recvbuf, False), _op(op)))

    def scan(self, sendobj: Any, op: Any = None) -> Any:
        return objects.fold(self.allgather(sendobj)[:self.rank + 1], _on_objects(op))

    def exscan(self, sendobj: Any, op: Any = None) -> Any:
        before = self.allgather(sendobj)[:self.rank]
        return objects.fold(before, _on_objects(op)) if before else None


NO_PROC = "no process"


class Message(Probing):
    """A message that Mprobe has taken, or that never comes."""

    def _taken(self) -> Any:
        found = self._of
        if found is None:
            raise Exception(CLASSES["ERR_REQUEST"])
        if found is not NO_PROC:
            self._of = None
        return found

    def Recv(self, buf: Any, status: Status | None = None) -> None:
        self.Irecv(buf).Wait(status)

    def Irecv(self, buf: Any) -> Request:
        return self._received(None if self._of is NO_PROC else simple(buf, False), None)

    def _received(self, into: Any, load: Any) -> Request:
        found = self._taken()
        if found is NO_PROC:
            return COMM_SELF.Irecv(None, PROC_NULL)
        message, _ = found
        return Request.standing_for(Begun(blocking(message.comm.Imrecv(into, message)),
                                          load=load, kept=into))

    def recv(self, status: Status | None = None) -> Any:
        return self.irecv().wait(status)

    def irecv(self) -> Request:
        found = self._of
        length = 0 if found in (None, NO_PROC) else found[1]
        into = simple(bytearray(length), False)
        return self._received(into, lambda _: objects.loaded(into[0]))


def _tell(status: Status | None, found: statuses_.Status) -> None:
    if status is not None:
        status._set(found)


def _in_place(buf: Any, readonly: bool = True) -> Any:
    return collectives.IN_PLACE if _is_in_place(buf) else simple(buf, readonly)


def _is_in_place(buf: Any) -> bool:
    """As in mpi4py, None says the same."""
    return buf is IN_PLACE or buf is None


def _op(op: Op | None) -> Any:
    return DEFAULT.inner if op is None else op.inner


def _on_objects(op: Any) -> Callable[[Any, Any], Any]:
    return DEFAULT if op is None else op


def Attach_buffer(buf: Any) -> None:
    """Give buffered sends as many bytes as ``buf`` has."""
    rank = current()
    length = AUTOMATIC_BYTES if buf is None or buf is BUFFER_AUTOMATIC else len(view(buf, False)[0])
    with told():
        rank.mpi.Attach_buffer(length)
    rank.kept["attached"] = buf


def Detach_buffer() -> Any:
    """Take the buffer back when all messages have left it."""
    rank = current()
    blocking(rank.mpi.Detach_buffer())
    return rank.kept.pop("attached", None)


DEFAULT = Op.standing_for(operators.SUM)
COMM_NULL = Comm()
COMM_WORLD = Intracomm.standing_for(_World("COMM_WORLD"))
COMM_SELF = Intracomm.standing_for(_World("COMM_SELF"))
