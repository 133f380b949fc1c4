"""Packed data in MPI's own representation."""

from typing import Any

import numpy as np

from ..data.datatypes import from_external, to_external
from ..errors import ErrorClass, MpiError
from .arguments import Arguments
from .calls import State
from .memory import Pointer, array, longs, put_long, text

__all__ = ["External"]

DATAREP = "external32"


class External:
    """MPI_Pack_external and its relatives. They cost what MPI_Pack costs."""

    def __init__(self, state: State) -> None:
        self._wait = state.wait
        self._comm: Any = state.mpi.COMM_SELF
        self._types = state.handles.types
        self._arguments = Arguments(state.handles)

    def MPI_Pack_external(self, datarep: Pointer, inbuf: Pointer, incount: int, datatype: int,
                          outbuf: Pointer, outsize: int, position: Pointer) -> None:
        _check(datarep)
        plain = self._arguments.plain(inbuf, incount, datatype, "Pack_external")
        if plain is None:
            return
        signature = self._types[datatype].signature.times(incount)
        into = _room(outbuf, outsize, position, signature.external, "Pack_external")
        data = np.empty(signature.size, np.uint8)
        self._wait(self._comm.pack(plain, data, "Pack_external"))
        into[:] = to_external(signature, data)

    def MPI_Unpack_external(self, datarep: Pointer, inbuf: Pointer, insize: int,
                            position: Pointer, outbuf: Pointer, outcount: int, datatype: int
                            ) -> None:
        _check(datarep)
        plain = self._arguments.plain(outbuf, outcount, datatype, "Unpack_external")
        if plain is None:
            return
        signature = self._types[datatype].signature.times(outcount)
        came = _room(inbuf, insize, position, signature.external, "Unpack_external")
        self._wait(self._comm.pack(from_external(signature, came), plain, "Unpack_external"))

    def MPI_Pack_external_size(self, datarep: Pointer, incount: int, datatype: int, size: Pointer
                               ) -> None:
        _check(datarep)
        put_long(size, incount * self._types[datatype].signature.external if incount else 0)


def _check(datarep: Pointer) -> None:
    name = text(datarep)
    if name != DATAREP:
        raise MpiError(ErrorClass.ERR_ARG, f"there is no data representation {name!r}")


def _room(address: Pointer, size: int, position: Pointer, length: int, call: str) -> Any:
    """The next ``length`` bytes of packed data; the position goes on."""
    [at] = longs(position, 1)
    if at + length > size:
        raise MpiError(ErrorClass.ERR_TRUNCATE, f"{call}: {length} bytes at position {at} of "
                       f"{size}")
    put_long(position, at + length)
    return array(address, size)[at:at + length]
