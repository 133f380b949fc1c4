"""Windows: one-sided communication."""

from collections.abc import Callable, Coroutine, Sequence
from operator import index
from typing import Any, SupportsIndex, TypeVar

import numpy as np

from .. import windows
from ..communicators.groups import Group as Ranks
from ..constants import PROC_NULL
from ..data.operators import NO_OP
from ..point_to_point import requests
from ..sync import RankError, current
from .attributes import Attributed
from .communicators import COMM_SELF, Intracomm
from .constants import BOTTOM
from .errors import CLASSES, RETURN, Errhandler, Exception, blocking
from .groups import Group
from .handles import given
from .info import INFO_NULL, Info
from .memory import buffer, view
from .messages import datatype_of, simple
from .operators import Op
from .requests import Operation, Request

__all__ = ["CONSTANTS", "WIN_NULL", "Win"]

Own = TypeVar("Own", bound="Win")
Result = TypeVar("Result")

BASE, SIZE, DISP_UNIT, FLAVOR, MODEL = range(8, 13)
CONSTANTS = {
    "WIN_BASE": BASE, "WIN_SIZE": SIZE, "WIN_DISP_UNIT": DISP_UNIT, "WIN_CREATE_FLAVOR": FLAVOR,
    "WIN_MODEL": MODEL, "WIN_FLAVOR_CREATE": 1, "WIN_FLAVOR_ALLOCATE": 2, "WIN_FLAVOR_DYNAMIC": 3,
    "WIN_FLAVOR_SHARED": 4, "WIN_SEPARATE": 1, "WIN_UNIFIED": 2,
    **{name: getattr(windows, name) for name in (
        "LOCK_EXCLUSIVE", "LOCK_SHARED", "MODE_NOCHECK", "MODE_NOSTORE", "MODE_NOPUT",
        "MODE_NOPRECEDE", "MODE_NOSUCCEED")}}


class State:
    """A window of one rank; ``inner`` is the library's."""

    def __init__(self, inner: windows.Win, info: Info | None) -> None:
        self.inner = inner
        self.name = ""
        self.attributes: dict[int, Any] = {}
        self.info: dict[str, str] = dict(info.items()) if info else {}
        self.given: dict[int, int] = {
            BASE: inner.base, SIZE: inner.length, DISP_UNIT: inner.unit, FLAVOR: inner.flavor,
            MODEL: inner.model}
        """Attributes that MPI defines."""


class Win(Attributed):
    """A window."""

    @property
    def _state(self) -> State:
        if self._of is None:
            raise Exception(CLASSES["ERR_WIN"])
        return self._of

    @property
    def inner(self) -> windows.Win:
        """The library's window."""
        return self._state.inner

    def _wait(self, call: Coroutine[Any, Any, Result]) -> Result:
        owner: Any = self.inner  # a window has an error handler as a communicator has
        return blocking(call, owner)

    # Windows are made

    @classmethod
    def _made(cls: type[Own], call: Coroutine[Any, Any, windows.Win], comm: Intracomm,
              info: Info | None) -> Own:
        made = cls.standing_for(State(blocking(call, comm.inner), info))
        made.inner.handle = made
        return made

    @classmethod
    def Create(cls: type[Own], memory: Any, disp_unit: int = 1, info: Info = INFO_NULL,
               comm: Intracomm = COMM_SELF) -> Own:
        flat = np.empty(0, np.uint8)
        if memory is not None and memory is not BOTTOM:
            flat, _ = view(memory, False)
        return cls._made(windows.Win.Create(flat, disp_unit, comm.inner), comm, info)

    @classmethod
    def Allocate(cls: type[Own], size: int, disp_unit: int = 1, info: Info = INFO_NULL,
                 comm: Intracomm = COMM_SELF) -> Own:
        return cls._made(windows.Win.Allocate(size, disp_unit, comm.inner), comm, info)

    @classmethod
    def Allocate_shared(cls: type[Own], size: int, disp_unit: int = 1, info: Info = INFO_NULL,
                        comm: Intracomm = COMM_SELF) -> Own:
        return cls._made(windows.Win.Allocate_shared(size, disp_unit, comm.inner), comm, info)

    @classmethod
    def Create_dynamic(cls: type[Own], info: Info = INFO_NULL, comm: Intracomm = COMM_SELF
                       ) -> Own:
        return cls._made(windows.Win.Create_dynamic(comm.inner), comm, info)

    def Shared_query(self, rank: int) -> tuple[buffer, int]:
        memory, unit = self._wait(_at_once(lambda: self.inner.Shared_query(rank)))
        return buffer(memory), unit

    def Attach(self, memory: Any) -> None:
        self._wait(self.inner.Attach(view(memory, False)[0]))

    def Detach(self, memory: Any) -> None:
        self._wait(self.inner.Detach(view(memory, False)[0]))

    def Free(self) -> None:
        inner = self.inner
        self._drop_all()
        self._wait(inner.Free())
        self._of = None

    # What it is

    def tomemory(self) -> buffer:
        array = self.inner.array
        return buffer(b"" if array is None else view(array, True)[0])

    @property
    def attrs(self) -> tuple[int, int, int]:
        given_ = self._state.given
        return given_[BASE], given_[SIZE], given_[DISP_UNIT]

    @property
    def flavor(self) -> int:
        return self._state.given[FLAVOR]

    @property
    def model(self) -> int:
        return self._state.given[MODEL]

    def Get_group(self) -> Group:
        inner = self.inner.group
        return Group.standing_for(Ranks(inner.world_ranks, inner.me))

    group = property(Get_group)

    @property
    def group_size(self) -> int:
        return self.inner.size

    @property
    def group_rank(self) -> int:
        return self.inner.rank

    def Get_name(self) -> str:
        return self._state.name if self else "MPI_WIN_NULL"

    def Set_name(self, name: str) -> None:
        self._state.name = name
        self.inner.Set_name(name)

    name = property(Get_name, Set_name)

    @property
    def _attributes(self) -> dict[int, Any]:
        return self._state.attributes

    def Get_attr(self, keyval: int) -> Any:
        given_ = self._state.given
        return given_[keyval] if keyval in given_ else super().Get_attr(keyval)

    def Set_info(self, info: Info) -> None:
        self._state.info = dict(info.items())

    def Get_info(self) -> Info:
        return Info.Create(dict(self._state.info))

    info = property(Get_info, Set_info)

    @classmethod
    def Create_errhandler(cls, errhandler_fn: Callable[["Win", int], None]) -> Errhandler:
        return Errhandler.standing_for(errhandler_fn)

    def Get_errhandler(self) -> Errhandler:
        return Errhandler.standing_for(self.inner.errhandler or RETURN)

    def Set_errhandler(self, errhandler: Errhandler) -> None:
        inner = self.inner
        if not errhandler:
            raise Exception(CLASSES["ERR_ARG"])
        inner.errhandler = errhandler._of

    def Call_errhandler(self, errorcode: int) -> None:
        handler = self.inner.errhandler or RETURN
        if callable(handler):
            handler(self, errorcode)
        elif handler != RETURN:
            raise RankError(f"rank {current().number}: {Exception(errorcode)}")

    # Epochs

    def Fence(self, assertion: int = 0) -> None:
        self._wait(self.inner.Fence(assertion))

    def Start(self, group: Group, assertion: int = 0) -> None:
        self._wait(self.inner.Start(group.inner, assertion))

    def Complete(self) -> None:
        self._wait(self.inner.Complete())

    def Post(self, group: Group, assertion: int = 0) -> None:
        self._wait(self.inner.Post(group.inner, assertion))

    def Wait(self) -> bool:
        self._wait(self.inner.Wait())
        return True

    def Test(self) -> bool:
        return self._wait(self.inner.Test())

    def Lock(self, rank: int, lock_type: int = windows.LOCK_EXCLUSIVE, assertion: int = 0) -> None:
        self._wait(self.inner.Lock(rank, lock_type, assertion))

    def Unlock(self, rank: int) -> None:
        self._wait(self.inner.Unlock(rank))

    def Lock_all(self, assertion: int = 0) -> None:
        self._wait(self.inner.Lock_all(assertion))

    def Unlock_all(self) -> None:
        self._wait(self.inner.Unlock_all())

    def Flush(self, rank: int) -> None:
        self._wait(self.inner.Flush(rank))

    def Flush_all(self) -> None:
        self._wait(self.inner.Flush_all())

    def Flush_local(self, rank: int) -> None:
        self._wait(self.inner.Flush_local(rank))

    def Flush_local_all(self) -> None:
        self._wait(self.inner.Flush_local_all())

    def Sync(self) -> None:
        self._wait(self.inner.Sync())

    # Operations

    def Put(self, origin: Any, target_rank: int, target: Any = None) -> None:
        self._wait(self.inner.Put(*_moved(origin, target_rank, target, True)))

    def Get(self, origin: Any, target_rank: int, target: Any = None) -> None:
        self._wait(self.inner.Get(*_moved(origin, target_rank, target, False)))

    def Accumulate(self, origin: Any, target_rank: int, target: Any = None,
                   op: Op | None = None) -> None:
        self._wait(self.inner.Accumulate(*_moved(origin, target_rank, target, True), _op(op)))

    def Get_accumulate(self, origin: Any, result: Any, target_rank: int, target: Any = None,
                       op: Op | None = None) -> None:
        self._wait(self.inner.Get_accumulate(*_fetched(origin, result, target_rank, target, op)))

    def Fetch_and_op(self, origin: Any, result: Any, target_rank: int, target_disp: int = 0,
                     op: Op | None = None) -> None:
        out, into = _singles(target_rank, origin=(origin, True), result=(result, False))
        self._wait(self.inner.Fetch_and_op(out, into, target_rank, target_disp, _op(op)))

    def Compare_and_swap(self, origin: Any, compare: Any, result: Any, target_rank: int,
                         target_disp: int = 0) -> None:
        self._wait(self.inner.Compare_and_swap(
            *_singles(target_rank, origin=(origin, True), compare=(compare, True),
                      result=(result, False)), target_rank, target_disp))

    def _begun(self, call: Coroutine[Any, Any, requests.Request], *kept: Any) -> Request:
        return Request.standing_for(Operation(self._wait(call), kept=kept))

    def Rput(self, origin: Any, target_rank: int, target: Any = None) -> Request:
        return self._begun(self.inner.Rput(*_moved(origin, target_rank, target, True)), origin)

    def Rget(self, origin: Any, target_rank: int, target: Any = None) -> Request:
        return self._begun(self.inner.Rget(*_moved(origin, target_rank, target, False)), origin)

    def Raccumulate(self, origin: Any, target_rank: int, target: Any = None,
                    op: Op | None = None) -> Request:
        return self._begun(self.inner.Raccumulate(*_moved(origin, target_rank, target, True),
                                                  _op(op)), origin)

    def Rget_accumulate(self, origin: Any, result: Any, target_rank: int, target: Any = None,
                        op: Op | None = None) -> Request:
        return self._begun(self.inner.Rget_accumulate(
            *_fetched(origin, result, target_rank, target, op)), origin, result)


async def _at_once(what: Callable[[], Result]) -> Result:
    return what()


def _op(op: Op | None) -> Any:
    """The library's operation; by default a sum."""
    return (given("SUM") if op is None else op).inner  # type: ignore[attr-defined]


def _target(target: Any) -> Sequence[Any] | None:
    """A target as the library has it."""
    if target is None:
        return None
    if isinstance(target, SupportsIndex):
        return (index(target),)
    if not isinstance(target, list | tuple):
        raise ValueError("target: expecting an integer, a list or a tuple")
    if not 1 <= len(target) <= 3:
        raise ValueError("target: expecting 1 to 3 items")
    disp, count, datatype = [*target, None, None][:3]
    return (index(disp), None if count is None else index(count),
            None if datatype is None else datatype_of(datatype).inner)


def _moved(origin: Any, rank: int, target: Any, readonly: bool) -> tuple[Any, int, Any]:
    """Origin, rank and target, for the library."""
    if rank == PROC_NULL:
        return None, rank, None
    return simple(origin, readonly), rank, _target(target)


def _fetched(origin: Any, result: Any, rank: int, target: Any, op: Op | None
             ) -> tuple[Any, Any, int, Any, Any]:
    """Origin, result, rank, target and operation, for the library."""
    out = None if _op(op) is NO_OP or rank == PROC_NULL else simple(origin, True)
    into, rank, where = _moved(result, rank, target, False)
    return out, into, rank, where, _op(op)


def _singles(rank: int, **messages: tuple[Any, bool]) -> list[Any]:
    """Buffers of one element, all of one datatype, by name: each a message, and whether it is read
    alone."""
    if rank == PROC_NULL:
        return [None] * len(messages)
    found = []
    for what, (message, readonly) in messages.items():
        one = simple(message, readonly)
        if one[1] != 1:
            raise ValueError(f"{what}: expecting a single element, got {one[1]}")
        found.append(one)
        if one[2] is not found[0][2]:
            raise ValueError(f"mismatch in origin and {what} MPI datatypes")
    return found


WIN_NULL = Win()
