"""Calls about windows, and operations on them."""

import ctypes
from collections.abc import Callable
from typing import Any

from ..communicators.groups import Group
from ..constants import PROC_NULL
from ..data.memory import Memory
from ..data.operators import NO_OP, Op
from ..errors import ErrorClass, MpiError
from ..point_to_point.requests import Request
from ..windows import Win
from .calls import State
from .handles import value
from .memory import Pointer, array, integers, put_int, put_long, put_text, text
from .request import CRequest

__all__ = ["Windows"]


def _of_handles(method: Callable[..., None]) -> Callable[..., None]:
    """``method`` gets datatypes as handles: they do not count where the target is nobody."""
    method.__annotations__.update(dict.fromkeys(
        ("origin_datatype", "result_datatype", "target_datatype"), int))
    return method


class Windows:
    """Windows, epochs, and the operations of origins."""

    def __init__(self, state: State) -> None:
        self._wait = state.wait
        self._handles = state.handles
        self._windows = state.handles.windows
        self._requests = state.handles.requests
        self._keys = state.attached.windows
        self._given: dict[Any, dict[int, Any]] = {}
        """By window, attributes that MPI defines; the program gets their addresses."""

    # Windows

    def _made(self, place: Pointer, window: Win) -> Win:
        window.handle = self._windows.add(window)
        self._given[window] = {
            value("WIN_SIZE"): ctypes.c_long(window.length),
            value("WIN_DISP_UNIT"): ctypes.c_int(window.unit),
            value("WIN_CREATE_FLAVOR"): ctypes.c_int(window.flavor),
            value("WIN_MODEL"): ctypes.c_int(window.model)}
        put_int(place, window.handle)
        return window

    def MPI_Win_create(self, base: Pointer, size: int, disp_unit: int, info: int, comm: Any,
                       win: Pointer) -> None:
        if size < 0:
            raise MpiError(ErrorClass.ERR_SIZE, f"Win_create: size {size}")
        self._made(win, self._wait(Win.Create(array(base, size), disp_unit, comm)))

    def MPI_Win_allocate(self, size: int, disp_unit: int, info: int, comm: Any, baseptr: Pointer,
                         win: Pointer) -> None:
        window = self._made(win, self._wait(Win.Allocate(size, disp_unit, comm)))
        put_long(baseptr, window.base)

    def MPI_Win_allocate_shared(self, size: int, disp_unit: int, info: int, comm: Any,
                                baseptr: Pointer, win: Pointer) -> None:
        window = self._made(win, self._wait(Win.Allocate_shared(size, disp_unit, comm)))
        put_long(baseptr, window.base)

    def MPI_Win_shared_query(self, win: Win, rank: int, size: Pointer, disp_unit: Pointer,
                             baseptr: Pointer) -> None:
        memory, unit = win.Shared_query(rank)
        put_long(size, len(memory))
        put_int(disp_unit, unit)
        put_long(baseptr, memory.ctypes.data)

    def MPI_Win_create_dynamic(self, info: int, comm: Any, win: Pointer) -> None:
        self._made(win, self._wait(Win.Create_dynamic(comm)))

    def MPI_Win_attach(self, win: Win, base: Pointer, size: int) -> None:
        if size < 0:
            raise MpiError(ErrorClass.ERR_SIZE, f"Win_attach: size {size}")
        self._wait(win.Attach(array(base, size), base))

    def MPI_Win_detach(self, win: Win, base: Pointer) -> None:
        self._wait(win.Detach(base))

    def MPI_Win_free(self, win: Pointer) -> None:
        [handle] = integers(win, 1)
        window = self._windows[handle]
        self._keys.delete_all(handle, window.attributes)
        self._wait(window.Free())
        self._windows.remove(handle)
        del self._given[window]
        put_int(win, value("WIN_NULL"))

    def MPI_Win_get_group(self, win: Win, group: Pointer) -> None:
        put_int(group, self._handles.groups.add(win.group))

    def MPI_Win_set_name(self, win: Win, win_name: Pointer) -> None:
        win.Set_name(text(win_name))

    def MPI_Win_get_name(self, win: Win, win_name: Pointer, resultlen: Pointer) -> None:
        put_int(resultlen, put_text(win_name, win.label, value("MAX_OBJECT_NAME")))

    def MPI_Win_get_attr(self, win: Win, win_keyval: int, attribute_val: Pointer, flag: Pointer
                         ) -> None:
        if win_keyval == value("WIN_BASE"):
            address: int | None = win.base
        elif win_keyval in self._given[win]:
            address = ctypes.addressof(self._given[win][win_keyval])
        else:
            address = self._keys.get(win.attributes, win_keyval)
        put_int(flag, address is not None)
        if address is not None:
            put_long(attribute_val, address)

    def MPI_Win_set_attr(self, win: Win, win_keyval: int, attribute_val: Pointer) -> None:
        self._changeable(win, win_keyval)
        self._keys.set(win.handle, win.attributes, win_keyval, attribute_val)

    def MPI_Win_delete_attr(self, win: Win, win_keyval: int) -> None:
        self._changeable(win, win_keyval)
        self._keys.delete(win.handle, win.attributes, win_keyval)

    def _changeable(self, win: Win, keyval: int) -> None:
        """Refuse a key whose attributes are MPI's."""
        if keyval == value("WIN_BASE") or keyval in self._given[win]:
            raise MpiError(ErrorClass.ERR_KEYVAL, f"the attributes of key {keyval} are MPI's own")

    # Epochs

    def MPI_Win_fence(self, assertion: int, win: Win) -> None:
        self._wait(win.Fence(assertion))

    def MPI_Win_start(self, group: Group, assertion: int, win: Win) -> None:
        self._wait(win.Start(group, assertion))

    def MPI_Win_complete(self, win: Win) -> None:
        self._wait(win.Complete())

    def MPI_Win_post(self, group: Group, assertion: int, win: Win) -> None:
        self._wait(win.Post(group, assertion))

    def MPI_Win_wait(self, win: Win) -> None:
        self._wait(win.Wait())

    def MPI_Win_test(self, win: Win, flag: Pointer) -> None:
        put_int(flag, self._wait(win.Test()))

    def MPI_Win_lock(self, lock_type: int, rank: int, assertion: int, win: Win) -> None:
        self._wait(win.Lock(rank, lock_type, assertion))

    def MPI_Win_unlock(self, rank: int, win: Win) -> None:
        self._wait(win.Unlock(rank))

    def MPI_Win_lock_all(self, assertion: int, win: Win) -> None:
        self._wait(win.Lock_all(assertion))

    def MPI_Win_unlock_all(self, win: Win) -> None:
        self._wait(win.Unlock_all())

    def MPI_Win_flush(self, rank: int, win: Win) -> None:
        self._wait(win.Flush(rank))

    def MPI_Win_flush_all(self, win: Win) -> None:
        self._wait(win.Flush_all())

    def MPI_Win_flush_local(self, rank: int, win: Win) -> None:
        self._wait(win.Flush_local(rank))

    def MPI_Win_flush_local_all(self, win: Win) -> None:
        self._wait(win.Flush_local_all())

    def MPI_Win_sync(self, win: Win) -> None:
        self._wait(win.Sync())

    # Operations

    def _moves(self, how: str, origin: Pointer, count: int, datatype: int, rank: int, disp: int,
               target_count: int, target_type: int, win: Win, *op: Op) -> Any:
        out = self._data(rank, origin, count, datatype, how)
        where = self._where(rank, disp, target_count, target_type)
        return self._wait(getattr(win, how)(out, rank, where, *op))

    def _begun(self, place: Pointer, request: Request) -> None:
        put_int(place, self._requests.add(CRequest(request)))

    @_of_handles
    def MPI_Put(self, *arguments: Any) -> None:
        self._moves("Put", *arguments)

    @_of_handles
    def MPI_Get(self, *arguments: Any) -> None:
        self._moves("Get", *arguments)

    @_of_handles
    def MPI_Rput(self, *arguments: Any) -> None:
        self._begun(arguments[-1], self._moves("Rput", *arguments[:-1]))

    @_of_handles
    def MPI_Rget(self, *arguments: Any) -> None:
        self._begun(arguments[-1], self._moves("Rget", *arguments[:-1]))

    @_of_handles
    def MPI_Accumulate(self, *arguments: Any) -> None:
        *others, op, win = arguments
        self._moves("Accumulate", *others, win, op)

    @_of_handles
    def MPI_Raccumulate(self, *arguments: Any) -> None:
        *others, op, win, request = arguments
        self._begun(request, self._moves("Raccumulate", *others, win, op))

    def _fetches(self, how: str, origin: Pointer, count: int, datatype: int, result: Pointer,
                 result_count: int, result_type: int, rank: int, disp: int, target_count: int,
                 target_type: int, op: Op, win: Win) -> Any:
        out = None if op is NO_OP else self._data(rank, origin, count, datatype, how)
        into = self._data(rank, result, result_count, result_type, how)
        where = self._where(rank, disp, target_count, target_type)
        return self._wait(getattr(win, how)(out, into, rank, where, op))

    @_of_handles
    def MPI_Get_accumulate(self, *arguments: Any) -> None:
        self._fetches("Get_accumulate", *arguments)

    @_of_handles
    def MPI_Rget_accumulate(self, *arguments: Any) -> None:
        *others, request = arguments
        self._begun(request, self._fetches("Rget_accumulate", *others))

    def MPI_Fetch_and_op(self, origin_addr: Pointer, result_addr: Pointer, datatype: int,
                         target_rank: int, target_disp: int, op: Op, win: Win) -> None:
        out, into = (self._data(target_rank, one, 1, datatype, "Fetch_and_op")
                     for one in (origin_addr, result_addr))
        self._wait(win.Fetch_and_op(None if op is NO_OP else out, into, target_rank, target_disp,
                                    op))

    def MPI_Compare_and_swap(self, origin_addr: Pointer, compare_addr: Pointer,
                             result_addr: Pointer, datatype: int, target_rank: int,
                             target_disp: int, win: Win) -> None:
        self._wait(win.Compare_and_swap(
            *[self._data(target_rank, one, 1, datatype, "Compare_and_swap")
              for one in (origin_addr, compare_addr, result_addr)], target_rank, target_disp))

    def _data(self, rank: int, address: Pointer, count: int, datatype: int, call: str) -> Any:
        """A buffer of the origin, for ``rank``, which may be nobody."""
        if rank == PROC_NULL:
            return None
        if count < 0:
            raise MpiError(ErrorClass.ERR_COUNT, f"{call}: count {count}: must not be negative")
        return [Memory(address), count, self._handles.types[datatype]]

    def _where(self, rank: int, disp: int, count: int, datatype: int) -> Any:
        """Where in the window."""
        return None if rank == PROC_NULL else (disp, count, self._handles.types[datatype])
