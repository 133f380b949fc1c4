"""Errors of MPI: its classes, and the exceptions that a wrong call, or a failed request, raises."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

__all__ = ["ErrorClass", "MpiError", "RequestError"]


class ErrorClass(IntEnum):
    """MPI's error classes."""

    ERR_BUFFER = 1
    ERR_COUNT = 2
    ERR_TYPE = 3
    ERR_TAG = 4
    ERR_COMM = 5
    ERR_RANK = 6
    ERR_REQUEST = 7
    ERR_ROOT = 8
    ERR_GROUP = 9
    ERR_OP = 10
    ERR_TOPOLOGY = 11
    ERR_DIMS = 12
    ERR_ARG = 13
    ERR_UNKNOWN = 14
    ERR_TRUNCATE = 15
    ERR_OTHER = 16
    ERR_INTERN = 17
    ERR_IN_STATUS = 18
    ERR_PENDING = 19
    ERR_KEYVAL = 20
    ERR_INFO = 21
    ERR_INFO_KEY = 22
    ERR_INFO_VALUE = 23
    ERR_INFO_NOKEY = 24
    ERR_ERRHANDLER = 25
    ERR_WIN = 26
    ERR_FILE = 27
    ERR_SPAWN = 28
    ERR_PORT = 29
    ERR_SERVICE = 30
    ERR_NAME = 31
    ERR_BASE = 32
    ERR_LOCKTYPE = 33
    ERR_NO_MEM = 34
    ERR_SIZE = 35
    ERR_DISP = 36
    ERR_ASSERT = 37
    ERR_RMA_CONFLICT = 38
    ERR_RMA_SYNC = 39
    ERR_RMA_RANGE = 40
    ERR_RMA_ATTACH = 41
    ERR_RMA_SHARED = 42
    ERR_RMA_FLAVOR = 43
    ERR_NOT_SAME = 44
    ERR_AMODE = 45
    ERR_UNSUPPORTED_DATAREP = 46
    ERR_UNSUPPORTED_OPERATION = 47
    ERR_NO_SUCH_FILE = 48
    ERR_FILE_EXISTS = 49
    ERR_BAD_FILE = 50
    ERR_ACCESS = 51
    ERR_NO_SPACE = 52
    ERR_QUOTA = 53
    ERR_READ_ONLY = 54
    ERR_FILE_IN_USE = 55
    ERR_DUP_DATAREP = 56
    ERR_CONVERSION = 57
    ERR_IO = 58


class MpiError(Exception):
    """A call broke a rule of MPI, or cannot end. The text is one line that names ranks,
    communicator and tag.

    Attributes
    ----------
    error
        Its :class:`ErrorClass`.
    code
        Its code: that of the class, or what a function of the program's own has given.
    text
        The line without the class.
    comms
        The communicators that it is of, where they may be others than the call's; else none.
    """

    def __init__(self, error: ErrorClass, text: str, comms: Sequence[Any] = (),
                 code: int | None = None) -> None:
        super().__init__(f"MPI_{error.name}: {text}")
        self.error = error
        self.code = int(error) if code is None else code
        self.text = text
        self.comms = tuple(one for one in dict.fromkeys(comms) if one is not None)

    def Get_error_class(self) -> int:
        """Its class, as MPI numbers it."""
        return int(self.error)


class RequestError(MpiError):
    """Requests that a call has completed have failed by ``errors``. A call that completes one
    raises it with that one's class, a call that completes ``several`` with ERR_IN_STATUS: the class
    of each is in its status.

    Attributes
    ----------
    found
        What the call would have given: which requests it has completed, their statuses.
    """

    def __init__(self, errors: Sequence[MpiError], several: bool, comms: Sequence[Any],
                 found: Any) -> None:
        if several:
            super().__init__(ErrorClass.ERR_IN_STATUS, "; ".join(map(str, errors)), comms)
        else:
            super().__init__(errors[0].error, errors[0].text, comms)
        self.found = found
