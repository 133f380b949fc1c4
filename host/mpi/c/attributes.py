"""Calls about attributes of communicators, datatypes and windows."""

import ctypes
from typing import Any

from ..communicators.attributes import Keyvals
from ..constants import ANY_SOURCE, MAX_TAG, PROC_NULL
from ..errors import ErrorClass, MpiError
from .calls import State
from .handles import value
from .memory import Pointer, integers, put_int, put_long

__all__ = ["Attributes"]

INVALID = value("KEYVAL_INVALID")


class Attributes:
    """Attributes, and their keys."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._attached = state.attached
        self._given = {value(name): ctypes.c_int(number) for name, number in {
            "TAG_UB": MAX_TAG, "WTIME_IS_GLOBAL": 1, "HOST": PROC_NULL, "IO": ANY_SOURCE,
            "UNIVERSE_SIZE": state.mpi.size, "APPNUM": 0, "LASTUSEDCODE": 0}.items()}

    # Keys

    def MPI_Comm_create_keyval(self, copy_fn: Pointer, delete_fn: Pointer, keyval: Pointer,
                               extra: Pointer) -> None:
        put_int(keyval, self._attached.key(self._attached.comms, copy_fn, delete_fn, extra))

    def MPI_Type_create_keyval(self, copy_fn: Pointer, delete_fn: Pointer, keyval: Pointer,
                               extra: Pointer) -> None:
        put_int(keyval, self._attached.key(self._attached.types, copy_fn, delete_fn, extra))

    def MPI_Win_create_keyval(self, copy_fn: Pointer, delete_fn: Pointer, keyval: Pointer,
                              extra: Pointer) -> None:
        put_int(keyval, self._attached.key(self._attached.windows, copy_fn, delete_fn, extra))

    def _free(self, keyvals: Keyvals, place: Pointer) -> None:
        [keyval] = integers(place, 1)
        self._changeable(keyval)
        keyvals.free(keyval)
        put_int(place, INVALID)

    def MPI_Comm_free_keyval(self, keyval: Pointer) -> None:
        self._free(self._attached.comms, keyval)

    def MPI_Type_free_keyval(self, keyval: Pointer) -> None:
        self._free(self._attached.types, keyval)

    def MPI_Win_free_keyval(self, keyval: Pointer) -> None:
        self._free(self._attached.windows, keyval)

    MPI_Keyval_create = MPI_Comm_create_keyval
    MPI_Keyval_free = MPI_Comm_free_keyval

    def _changeable(self, keyval: int) -> None:
        """Refuse a key whose attributes are MPI's."""
        if keyval in self._given:
            raise MpiError(ErrorClass.ERR_KEYVAL, f"the attributes of key {keyval} are MPI's own")

    # Communicators

    def MPI_Comm_get_attr(self, comm: Any, keyval: int, place: Pointer, flag: Pointer) -> None:
        found = self._given.get(keyval)
        if found is None:
            self._got(self._attached.comms.get(comm.attributes, keyval), place, flag)
            return
        if keyval == value("LASTUSEDCODE"):
            found.value = self._state.codes.last
        self._got(ctypes.addressof(found), place, flag)

    @staticmethod
    def _got(found: int | None, place: Pointer, flag: Pointer) -> None:
        put_int(flag, found is not None)
        if found is not None:
            put_long(place, found)

    def MPI_Comm_set_attr(self, comm: Any, keyval: int, attribute: Pointer) -> None:
        self._changeable(keyval)
        self._attached.comms.set(comm.handle, comm.attributes, keyval, attribute)

    def MPI_Comm_delete_attr(self, comm: Any, keyval: int) -> None:
        self._changeable(keyval)
        self._attached.comms.delete(comm.handle, comm.attributes, keyval)

    MPI_Attr_get = MPI_Comm_get_attr
    MPI_Attr_put = MPI_Comm_set_attr
    MPI_Attr_delete = MPI_Comm_delete_attr

    # Datatypes, by their handles: several may stand for one

    def _of_type(self, handle: int) -> dict[int, int]:
        self._state.handles.types[handle]  # refuses one that there is not
        return self._attached.of_type(handle)

    def MPI_Type_get_attr(self, datatype: int, keyval: int, place: Pointer, flag: Pointer) -> None:
        self._got(self._attached.types.get(self._of_type(datatype), keyval), place, flag)

    def MPI_Type_set_attr(self, datatype: int, keyval: int, attribute: Pointer) -> None:
        self._attached.types.set(datatype, self._of_type(datatype), keyval, attribute)

    def MPI_Type_delete_attr(self, datatype: int, keyval: int) -> None:
        self._attached.types.delete(datatype, self._of_type(datatype), keyval)
