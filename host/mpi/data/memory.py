"""Memory of a program's process, for data that lie to both sides of an address."""

import ctypes
from typing import Any

import numpy as np

from ..errors import ErrorClass, MpiError

__all__ = ["Memory"]

FIRST = 4096
"""No program has memory below this address."""


class Memory:
    """A buffer at ``address`` of the program's own process; 0: displacements are addresses
    (MPI_BOTTOM)."""

    __slots__ = ("address",)

    def __init__(self, address: int) -> None:
        self.address = address

    def view(self, first: int, length: int) -> Any:
        """``length`` bytes from byte ``first`` on, as numpy sees them.

        Raises
        ------
        MpiError
            No program has memory there.
        """
        if not length:
            return np.empty(0, np.uint8)
        at = self.address + first
        if at < FIRST:
            raise MpiError(ErrorClass.ERR_BUFFER, "the buffer is NULL" if 0 <= at
                           else f"there is no memory at address {at}")
        place: Any = (ctypes.c_ubyte * length).from_address(at)
        return np.frombuffer(place, np.uint8)
