"""Keeps what a program has attached to its communicators, datatypes and windows, by keys whose
functions are its own."""

import ctypes
from typing import Any

from ..communicators.attributes import Keyvals
from ..errors import ErrorClass, MpiError
from .callbacks import Callbacks
from .header import constants
from .memory import Pointer

__all__ = ["Attached"]

DUPLICATE = constants()["MPI_COMM_DUP_FN"][1]


class Attached:
    """The keys of one rank, by kind of object, and the attributes of datatypes by handle; those of
    a communicator or window are its own. Functions know objects by their handles."""

    def __init__(self, callbacks: Callbacks) -> None:
        self._call = callbacks
        self.comms = Keyvals(1 << 10, stays=True)
        self.types = Keyvals(1 << 20, stays=True)
        self.windows = Keyvals(1 << 25, stays=True)
        self._of_types: dict[int, dict[int, int]] = {}

    def key(self, keyvals: Keyvals, copy: Pointer, delete: Pointer, extra: Pointer) -> int:
        """A new key of functions of the program; a function may be one of MPI's constants."""
        def copied(owner: int, keyval: int, value: int) -> Any:
            out, flag = ctypes.c_ssize_t(), ctypes.c_int()
            code = self._call(copy, owner, keyval, extra, value, ctypes.addressof(out),
                              ctypes.addressof(flag))
            _check(code, "copies", keyval)
            return out.value if flag.value else NotImplemented

        def deleted(owner: int, keyval: int, value: int) -> None:
            _check(self._call(delete, owner, keyval, value, extra), "deletes", keyval)

        how = (lambda _owner, _keyval, value: value) if copy == DUPLICATE else copied
        return keyvals.create(how if copy else None, deleted if delete else None)

    def of_type(self, handle: int) -> dict[int, int]:
        """The attributes of the datatype with ``handle``."""
        return self._of_types.setdefault(handle, {})

    def type_copied(self, handle: int) -> dict[int, int]:
        """Those that a duplicate of it gets."""
        return self.types.copied(handle, self.of_type(handle))

    def type_made(self, handle: int, attributes: dict[int, int]) -> None:
        """A duplicate has ``handle`` and ``attributes``."""
        self._of_types[handle] = attributes

    def type_freed(self, handle: int) -> None:
        """The datatype with ``handle`` goes, and its attributes with it."""
        self.types.delete_all(handle, self.of_type(handle))
        del self._of_types[handle]


def _check(code: int, what: str, keyval: int) -> None:
    if code:
        raise MpiError(ErrorClass.ERR_OTHER, f"the function that {what} attributes of key {keyval} "
                       f"gave error {code}", code=code)
