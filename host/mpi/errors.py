"""Errors of MPI: its classes, and the exception that a wrong call raises."""

from enum import IntEnum

__all__ = ["ErrorClass", "MpiError"]


class ErrorClass(IntEnum):
    """MPI's error classes, as far as a call can end in them."""

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
    ERR_ARG = 13
    ERR_TRUNCATE = 15
    ERR_OTHER = 16
    ERR_PENDING = 19
    ERR_NO_MEM = 34


class MpiError(Exception):
    """A call broke a rule of MPI, or cannot end. The text is one line that names ranks,
    communicator and tag.

    Attributes
    ----------
    error
        Its :class:`ErrorClass`.
    """

    def __init__(self, error: ErrorClass, text: str) -> None:
        super().__init__(f"MPI_{error.name}: {text}")
        self.error = error

    def Get_error_class(self) -> int:
        """Its class, as MPI numbers it."""
        return int(self.error)
