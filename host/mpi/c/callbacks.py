"""Functions of the program that MPI calls: those of attributes, and error handlers."""

import ctypes
from typing import Any

from ..sync import Rank, RankError
from .memory import Pointer

__all__ = ["Callbacks"]

MOST = 6
"""Arguments of a function (runtime.c)."""


class Callbacks:
    """Calls functions of ``rank``'s program, whose library is ``library``."""

    def __init__(self, rank: Rank, library: Any) -> None:
        self._rank = rank
        self._library = library

    def __call__(self, function: Pointer, *words: int) -> int:
        """What ``function`` returns, if it returns an int.

        Raises
        ------
        RankError
            It has ended the program.
        """
        given = (ctypes.c_ssize_t * MOST)(*words)
        result = ctypes.c_int()
        if not self._library.nicbed_callback(ctypes.c_void_p(function), given,
                                             ctypes.byref(result)):
            status = self._library.nicbed_status()
            raise RankError(f"rank {self._rank.number} ended with exit status {status}", status)
        return result.value
