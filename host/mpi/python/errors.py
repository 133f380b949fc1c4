"""Errors of MPI as mpi4py has them: an exception with an error code, and handlers of errors."""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from ..codes import LAST, Codes
from ..communicators import communicator
from ..errors import ErrorClass, MpiError
from ..sync import current, running
from .handles import Handle

__all__ = ["Add_error_class", "Add_error_code", "Add_error_string", "CLASSES", "Errhandler",
           "Exception", "Get_error_class", "Get_error_string", "RETURN", "Remove_error_class",
           "Remove_error_code", "Remove_error_string", "blocking", "completing", "last_used_code",
           "told"]

Result = TypeVar("Result")
Other = TypeVar("Other")

RETURN = "return"
"""What happens to errors where a program says nothing: they are raised."""

CLASSES = {"SUCCESS": 0} | {one.name: int(one) for one in ErrorClass}
"""Error classes by name."""
CLASSES["ERR_LASTCODE"] = LAST


def _codes() -> Codes:
    """The rank's own error classes and codes."""
    return current().keep("error codes", Codes)


class Exception(RuntimeError):
    """A call failed with an error code. Its text is one line."""

    def __init__(self, ierr: int = 0, text: str = "", /) -> None:
        if ierr < CLASSES["SUCCESS"]:
            ierr = CLASSES["ERR_UNKNOWN"]
        super().__init__(ierr)
        self.ob_ierr = ierr
        self._text = text

    def __str__(self) -> str:
        return self.Get_error_string()

    def __repr__(self) -> str:
        return f"MPI.Exception({self.ob_ierr})"

    def __int__(self) -> int:
        return self.ob_ierr

    def __bool__(self) -> bool:
        return self.ob_ierr != 0

    def __hash__(self) -> int:
        return hash(self.ob_ierr)

    def __eq__(self, other: object) -> bool:
        return int(other) == self.ob_ierr if isinstance(other, int | Exception) else NotImplemented

    def __lt__(self, other: int) -> bool:
        return self.ob_ierr < int(other)

    def __le__(self, other: int) -> bool:
        return self.ob_ierr <= int(other)

    def __gt__(self, other: int) -> bool:
        return self.ob_ierr > int(other)

    def __ge__(self, other: int) -> bool:
        return self.ob_ierr >= int(other)

    def Get_error_code(self) -> int:
        return self.ob_ierr

    def Get_error_class(self) -> int:
        return Get_error_class(self.ob_ierr)

    def Get_error_string(self) -> str:
        return self._text or Get_error_string(self.ob_ierr)

    error_code = property(Get_error_code)
    error_class = property(Get_error_class)
    error_string = property(Get_error_string)


def Get_error_class(errorcode: int) -> int:
    """The class of an error code: each of MPI's is its own."""
    return errorcode if errorcode in CLASSES.values() else _codes().class_of(errorcode)


def Get_error_string(errorcode: int) -> str:
    """An error code in words."""
    if errorcode == LAST:
        return "MPI_ERR_LASTCODE"
    rank = running()
    return (Codes() if rank is None else _codes()).text(errorcode)


def Add_error_class() -> int:
    return _codes().add()


def Add_error_code(errorclass: int) -> int:
    with told():
        return _codes().add(errorclass)
    raise AssertionError


def Add_error_string(errorcode: int, string: str) -> None:
    with told():
        _codes().name(errorcode, string)


def Remove_error_class(errorclass: int) -> None:
    with told():
        _codes().remove(errorclass, True)


def Remove_error_code(errorcode: int) -> None:
    with told():
        _codes().remove(errorcode, False)


def Remove_error_string(errorcode: int) -> None:
    Add_error_string(errorcode, "")


def last_used_code() -> int:
    """The highest error code that there is."""
    return _codes().last


class Errhandler(Handle):
    """The rule by which errors of a communicator are handled."""

    def Free(self) -> None:
        if not self:
            raise Exception(CLASSES["ERR_ARG"])
        self._of = None


@contextmanager
def told(comm: communicator.Comm | None = None) -> Iterator[None]:
    """Errors of the library as exceptions of MPI, as the error handler of their communicator has
    them: of those that they are of, else ``comm``, the call's, else COMM_WORLD. Of several, one
    that ends the run does so, and each that is the program's own is called."""
    try:
        yield
    except MpiError as error:
        failure = Exception(error.code, str(error))
        comms = error.comms
    else:
        return
    rank = running()
    if rank is not None:
        comms = comms or (comm or rank.mpi.COMM_WORLD,)
        if any(one.errhandler in ("fatal", "abort") for one in comms):
            raise rank.end(f"rank {rank.number}: {failure}")
        for one in comms:
            if callable(one.errhandler):
                one.errhandler(one.handle, int(failure))
    raise failure


def blocking(call: Coroutine[Any, Any, Result], comm: communicator.Comm | None = None) -> Result:
    """Runs ``call``, one of the library's, and returns its result; it is one of ``comm``, if it is
    of any."""
    with told(comm):
        return current().wait(call)
    raise AssertionError


def completing(call: Coroutine[Any, Any, Result], put: Callable[[Result], Other],
               comm: communicator.Comm | None = None) -> Other:
    """``put`` of what ``call``, which completes requests, gives, even if some of them have failed.
    Their errors are handled by their communicators."""
    with told(comm):
        return current().complete(call, put)
    raise AssertionError
