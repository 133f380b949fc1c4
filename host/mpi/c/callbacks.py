"""Functions of the program that MPI calls: operations, those of attributes and of generalised
requests, and error handlers."""

import ctypes
from typing import Any

from ..sync import Rank, RankError
from .memory import Pointer

__all__ = ["Callbacks", "Left"]

MOST = 6
"""Arguments of a function (runtime.c)."""


class Left(RankError):
    """The program of rank ``rank`` has ended itself in such a function, with exit status
    ``code``."""

    def __init__(self, rank: int, code: int) -> None:
        super().__init__(f"rank {rank} ended with exit status {code}", code)
        self.code = code


class Callbacks:
    """Calls functions of ``rank``'s program, whose library is ``library``."""

    def __init__(self, rank: Rank, library: Any) -> None:
        self._rank = rank
        self._library = library

    def __call__(self, function: Pointer, *words: int) -> int:
        """What ``function`` returns, if it returns an int.

        Raises
        ------
        Left
            It has ended the program.
        """
        given = (ctypes.c_ssize_t * MOST)(*words)
        result = ctypes.c_int()
        if not self._library.nicbed_callback(ctypes.c_void_p(function), given,
                                             ctypes.byref(result)):
            raise Left(self._rank.number, self._library.nicbed_status())
        return result.value
