"""Calls that make datatypes, and those that pack by them."""

import ctypes
from typing import Any

from ..data.datatypes import BYTE, Datatype
from ..errors import ErrorClass, MpiError
from .arguments import Arguments
from .calls import State
from .handles import value
from .memory import Pointer, array, integers, longs, put_count, put_int, put_long

__all__ = ["Types"]


class Types:
    """Datatypes, packed data, and memory from MPI."""

    def __init__(self, state: State) -> None:
        self._wait = state.wait
        self._types = state.handles.types
        self._arguments = Arguments(state.handles)
        self._attached = state.attached
        self._memory: dict[Pointer, Any] = {}

    def _new(self, place: Pointer, datatype: Datatype) -> None:
        put_int(place, self._types.add(datatype))

    def MPI_Type_contiguous(self, count: int, oldtype: Datatype, newtype: Pointer) -> None:
        self._new(newtype, oldtype.Create_contiguous(count))

    def MPI_Type_vector(self, count: int, blocklength: int, stride: int, oldtype: Datatype,
                        newtype: Pointer) -> None:
        self._new(newtype, oldtype.Create_vector(count, blocklength, stride))

    def MPI_Type_create_hvector(self, count: int, blocklength: int, stride: int,
                                oldtype: Datatype, newtype: Pointer) -> None:
        self._new(newtype, oldtype.Create_hvector(count, blocklength, stride))

    def MPI_Type_indexed(self, count: int, blocklengths: Pointer, displacements: Pointer,
                         oldtype: Datatype, newtype: Pointer) -> None:
        self._new(newtype, oldtype.Create_indexed(integers(blocklengths, count),
                                                  integers(displacements, count)))

    def MPI_Type_create_hindexed(self, count: int, blocklengths: Pointer, displacements: Pointer,
                                 oldtype: Datatype, newtype: Pointer) -> None:
        self._new(newtype, oldtype.Create_hindexed(integers(blocklengths, count),
                                                   longs(displacements, count)))

    def MPI_Type_create_indexed_block(self, count: int, blocklength: int, displacements: Pointer,
                                      oldtype: Datatype, newtype: Pointer) -> None:
        self._new(newtype, oldtype.Create_indexed_block(blocklength,
                                                        integers(displacements, count)))

    def MPI_Type_create_struct(self, count: int, blocklengths: Pointer, displacements: Pointer,
                               types: Pointer, newtype: Pointer) -> None:
        self._new(newtype, Datatype.Create_struct(
            integers(blocklengths, count), longs(displacements, count),
            [self._types[one] for one in integers(types, count)]))

    MPI_Type_hvector = MPI_Type_create_hvector
    MPI_Type_hindexed = MPI_Type_create_hindexed
    MPI_Type_struct = MPI_Type_create_struct

    def MPI_Type_create_resized(self, oldtype: Datatype, lb: int, extent: int, newtype: Pointer
                                ) -> None:
        self._new(newtype, oldtype.Create_resized(lb, extent))

    def MPI_Type_dup(self, oldtype: int, newtype: Pointer) -> None:
        made = self._types[oldtype].Dup()
        attributes = self._attached.type_copied(oldtype)
        self._new(newtype, made)
        self._attached.type_made(integers(newtype, 1)[0], attributes)

    def MPI_Type_commit(self, datatype: Pointer) -> None:
        self._types[integers(datatype, 1)[0]].Commit()

    def MPI_Type_free(self, datatype: Pointer) -> None:
        [handle] = integers(datatype, 1)
        self._types[handle]  # refuses one that there is not
        self._types.check_own(handle)
        self._attached.type_freed(handle)
        self._types.remove(handle)
        put_int(datatype, value("DATATYPE_NULL"))

    def MPI_Type_size(self, datatype: Datatype, size: Pointer) -> None:
        put_count(size, datatype.size)

    def MPI_Type_extent(self, datatype: Datatype, extent: Pointer) -> None:
        put_long(extent, datatype.extent)

    def MPI_Type_lb(self, datatype: Datatype, displacement: Pointer) -> None:
        put_long(displacement, datatype.lower)

    def MPI_Type_ub(self, datatype: Datatype, displacement: Pointer) -> None:
        put_long(displacement, datatype.lower + datatype.extent)

    def MPI_Type_get_extent(self, datatype: Datatype, lb: Pointer, extent: Pointer) -> None:
        put_long(lb, datatype.lower)
        put_long(extent, datatype.extent)

    def MPI_Type_get_true_extent(self, datatype: Datatype, lb: Pointer, extent: Pointer) -> None:
        low, length = datatype.true
        put_long(lb, low)
        put_long(extent, length)

    def MPI_Get_address(self, location: Pointer, address: Pointer) -> None:
        put_long(address, location)

    MPI_Address = MPI_Get_address

    # Packed data

    def MPI_Pack(self, inbuf: Pointer, incount: int, datatype: int, outbuf: Pointer,
                 outsize: int, position: Pointer, comm: Any) -> None:
        plain, packed = self._packing(inbuf, incount, datatype, outbuf, outsize, position, "Pack")
        self._wait(comm.pack(plain, packed, "Pack"))

    def MPI_Unpack(self, inbuf: Pointer, insize: int, position: Pointer, outbuf: Pointer,
                   outcount: int, datatype: int, comm: Any) -> None:
        plain, packed = self._packing(outbuf, outcount, datatype, inbuf, insize, position,
                                      "Unpack")
        self._wait(comm.pack(packed, plain, "Unpack"))

    def _packing(self, address: Pointer, count: int, datatype: int, packed: Pointer, room: int,
                 position: Pointer, call: str) -> tuple[Any, Any]:
        """The data, and their packed bytes, as buffers; the position goes on."""
        plain = self._arguments.plain(address, count, datatype, call)
        [at] = integers(position, 1)
        length = count * self._types[datatype].size if count else 0
        if at + length > room:
            raise MpiError(ErrorClass.ERR_TRUNCATE, f"{call}: {length} bytes at position {at} of "
                           f"{room}")
        put_int(position, at + length)
        return plain, [array(packed, room)[at:at + length], length, BYTE]

    def MPI_Pack_size(self, incount: int, datatype: Datatype, comm: Any, size: Pointer) -> None:
        put_count(size, incount * datatype.size)

    # Memory

    def MPI_Alloc_mem(self, size: int, info: int, baseptr: Pointer) -> None:
        memory = ctypes.create_string_buffer(max(size, 1))
        self._memory[ctypes.addressof(memory)] = memory
        put_long(baseptr, ctypes.addressof(memory))

    def MPI_Free_mem(self, base: Pointer) -> None:
        if self._memory.pop(base, None) is None:
            raise MpiError(ErrorClass.ERR_ARG, f"Free_mem of {base:#x}, which Alloc_mem did not "
                           "give")
