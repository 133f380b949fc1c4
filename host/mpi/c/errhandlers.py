"""Error handlers: which calls make them, and what they do about an error."""

import ctypes
from collections.abc import Sequence
from typing import Any

from ..errors import ErrorClass, MpiError
from ..sync import RankError
from .calls import State
from .handles import Table, value
from .memory import Pointer, integers, put_int, put_text, text

__all__ = ["Errhandlers"]

FATAL, RETURN = value("ERRORS_ARE_FATAL"), value("ERRORS_RETURN")


class Own:
    """A handler of the program's own. ``users``: how often the program may free its ``handle``."""

    def __init__(self, function: Pointer) -> None:
        self.function = function
        self.users = 0
        self.handle = 0


class Errhandlers:
    """Error handlers, error classes and codes. An owner is a communicator or a window: it has
    ``errhandler`` (None where the program has said nothing) and ``handle``."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._rank = state.rank
        self._codes = state.codes
        self._handlers: Table[Any] = Table("error handler", ErrorClass.ERR_ARG,
                                           {FATAL: FATAL, RETURN: RETURN})

    def handle(self, error: MpiError, owners: Sequence[Any]) -> int:
        """Returns what the handlers of all ``owners`` make of ``error``: the code that the call
        returns.

        Raises
        ------
        RankError
            The run ends by it.
        """
        if any(one.errhandler in (None, FATAL) for one in owners):
            told = str(error)
            number = self._rank.number
            raise RankError(told if f"rank {number}:" in told else f"rank {number}: {told}")
        for one in owners:
            if isinstance(one.errhandler, Own):
                self._call(one, error.code)
        return error.code

    def _call(self, owner: Any, code: int) -> None:
        handle, given = ctypes.c_int(owner.handle), ctypes.c_int(code)
        self._state.callbacks(owner.errhandler.function, ctypes.addressof(handle),
                              ctypes.addressof(given))

    # Handlers

    def MPI_Comm_create_errhandler(self, function: Pointer, errhandler: Pointer) -> None:
        self._give(errhandler, Own(function))

    def _give(self, place: Pointer, own: Own) -> None:
        """The program gets a handle, which it may free."""
        if not own.users:
            own.handle = self._handlers.add(own)
        own.users += 1
        put_int(place, own.handle)

    def MPI_Comm_set_errhandler(self, comm: Any, errhandler: int) -> None:
        comm.errhandler = self._handlers[errhandler]

    def MPI_Comm_get_errhandler(self, comm: Any, errhandler: Pointer) -> None:
        if isinstance(comm.errhandler, Own):
            self._give(errhandler, comm.errhandler)
        else:
            put_int(errhandler, comm.errhandler or FATAL)

    def MPI_Errhandler_free(self, errhandler: Pointer) -> None:
        [handle] = integers(errhandler, 1)
        own = self._handlers[handle]
        if isinstance(own, Own):
            own.users -= 1
            if not own.users:
                self._handlers.remove(handle)
        put_int(errhandler, value("ERRHANDLER_NULL"))

    def MPI_Comm_call_errhandler(self, comm: Any, errorcode: int) -> None:
        if isinstance(comm.errhandler, Own):
            self._call(comm, errorcode)
        elif comm.errhandler != RETURN:
            raise RankError(f"rank {self._rank.number}: {self._codes.text(errorcode)}, "
                            f"{comm.name}, by MPI_Comm_call_errhandler")

    MPI_Win_create_errhandler = MPI_Comm_create_errhandler
    MPI_Win_set_errhandler = MPI_Comm_set_errhandler
    MPI_Win_get_errhandler = MPI_Comm_get_errhandler
    MPI_Win_call_errhandler = MPI_Comm_call_errhandler
    MPI_Errhandler_create = MPI_Comm_create_errhandler
    MPI_Errhandler_set = MPI_Comm_set_errhandler
    MPI_Errhandler_get = MPI_Comm_get_errhandler

    # Codes

    def MPI_Error_class(self, errorcode: int, errorclass: Pointer) -> None:
        put_int(errorclass, self._codes.class_of(errorcode))

    def MPI_Error_string(self, errorcode: int, string: Pointer, resultlen: Pointer) -> None:
        put_int(resultlen, put_text(string, self._codes.text(errorcode),
                                    value("MAX_ERROR_STRING")))

    def MPI_Add_error_class(self, errorclass: Pointer) -> None:
        put_int(errorclass, self._codes.add())

    def MPI_Add_error_code(self, errorclass: int, errorcode: Pointer) -> None:
        put_int(errorcode, self._codes.add(errorclass))

    def MPI_Add_error_string(self, errorcode: int, string: Pointer) -> None:
        self._codes.name(errorcode, text(string))
