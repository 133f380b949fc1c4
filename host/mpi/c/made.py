"""Datatypes of arrays and of sizes, and the calls that tell how a datatype was made."""

from ..data import datatypes
from ..data.datatypes import COMBINERS, Datatype, Origin
from ..errors import ErrorClass, MpiError
from .calls import State
from .handles import value
from .memory import Pointer, integers, longs, put_int, put_long, put_text, text

__all__ = ["Made"]

FORTRAN = value("ORDER_FORTRAN")
ORDERS = (value("ORDER_C"), FORTRAN)
NAMED = Origin("NAMED", (), {})


class Made:
    """More datatypes, their names and contents."""

    def __init__(self, state: State) -> None:
        self._types = state.handles.types
        self._names = state.handles.names

    def _new(self, place: Pointer, datatype: Datatype) -> None:
        put_int(place, self._types.add(datatype))

    def MPI_Type_create_hindexed_block(self, count: int, blocklength: int, displacements: Pointer,
                                       oldtype: Datatype, newtype: Pointer) -> None:
        self._new(newtype, oldtype.Create_hindexed_block(blocklength,
                                                         longs(displacements, count)))

    def MPI_Type_create_subarray(self, ndims: int, sizes: Pointer, subsizes: Pointer,
                                 starts: Pointer, order: int, oldtype: Datatype,
                                 newtype: Pointer) -> None:
        whole, part, first = (integers(one, _dimensions(ndims))
                              for one in (sizes, subsizes, starts))
        self._new(newtype, datatypes.subarray(oldtype, whole, part, first, order,
                                              fortran=_fortran(order)))

    def MPI_Type_create_darray(self, size: int, rank: int, ndims: int, gsizes: Pointer,
                               distribs: Pointer, dargs: Pointer, psizes: Pointer, order: int,
                               oldtype: Datatype, newtype: Pointer) -> None:
        whole, ways, blocks, grid = (integers(one, _dimensions(ndims))
                                     for one in (gsizes, distribs, dargs, psizes))
        self._new(newtype, datatypes.darray(oldtype, size, rank, whole, ways, blocks, grid, order,
                                            fortran=_fortran(order)))

    def MPI_Type_create_f90_integer(self, r: int, newtype: Pointer) -> None:
        self._same(newtype, datatypes.f90_integer(r))

    def MPI_Type_create_f90_real(self, p: int, r: int, newtype: Pointer) -> None:
        self._same(newtype, datatypes.f90_real(p, r))

    def MPI_Type_create_f90_complex(self, p: int, r: int, newtype: Pointer) -> None:
        self._same(newtype, datatypes.f90_complex(p, r))

    def _same(self, place: Pointer, datatype: Datatype) -> None:
        """A type that is the same one whenever it is asked for."""
        put_int(place, self._types.keep(datatype))

    def MPI_Type_match_size(self, typeclass: int, size: int, datatype: Pointer) -> None:
        put_int(datatype, value(datatypes.match_size(typeclass, size)))

    # How a type was made

    def MPI_Type_get_envelope(self, datatype: Datatype, num_integers: Pointer,
                              num_addresses: Pointer, num_datatypes: Pointer, combiner: Pointer
                              ) -> None:
        origin = datatype.origin or NAMED
        put_int(num_integers, len(origin.integers))
        put_int(num_addresses, len(origin.addresses))
        put_int(num_datatypes, len(origin.types))
        put_int(combiner, COMBINERS[origin.how])

    def MPI_Type_get_contents(self, datatype: Datatype, max_integers: int, max_addresses: int,
                              max_datatypes: int, numbers: Pointer, addresses: Pointer,
                              types: Pointer) -> None:
        origin = datatype.origin
        if origin is None:
            raise MpiError(ErrorClass.ERR_TYPE, f"MPI defines {datatype.name}; nobody made it")
        if len(origin.integers) > max_integers or len(origin.addresses) > max_addresses \
                or len(origin.types) > max_datatypes:
            raise MpiError(ErrorClass.ERR_ARG, f"there is no room for the contents of "
                           f"{datatype.name}")
        if origin.integers:
            put_int(numbers, *origin.integers)
        for index, address in enumerate(origin.addresses):
            put_long(addresses + 8 * index, address)
        for index, one in enumerate(origin.types):
            predefined = one.origin is None
            put_int(types + 4 * index, self._types.keep(one) if predefined
                    else self._types.add(one.again()))

    # Names

    def MPI_Type_set_name(self, datatype: int, type_name: Pointer) -> None:
        self._types[datatype]
        self._names[datatype] = text(type_name)

    def MPI_Type_get_name(self, datatype: int, type_name: Pointer, resultlen: Pointer) -> None:
        of = self._types[datatype]
        name = self._names.get(datatype, "" if of.origin else f"MPI_{of.name}")
        put_int(resultlen, put_text(type_name, name, value("MAX_OBJECT_NAME")))

    # Counts of many bits

    def MPI_Type_size_x(self, datatype: Datatype, size: Pointer) -> None:
        _put(size, datatype.size)

    def MPI_Type_get_extent_x(self, datatype: Datatype, lb: Pointer, extent: Pointer) -> None:
        _put(lb, datatype.lower)
        _put(extent, datatype.extent)

    def MPI_Type_get_true_extent_x(self, datatype: Datatype, true_lb: Pointer,
                                   true_extent: Pointer) -> None:
        low, length = datatype.true
        _put(true_lb, low)
        _put(true_extent, length)


def _put(place: Pointer, number: int) -> None:
    """Write an MPI_Count, or MPI_UNDEFINED if it has no room for the number."""
    put_long(place, number if -1 << 63 <= number < 1 << 63 else value("UNDEFINED"))


def _dimensions(count: int) -> int:
    if count < 1:
        raise MpiError(ErrorClass.ERR_ARG, f"an array of {count} dimensions")
    return count


def _fortran(order: int) -> bool:
    if order not in ORDERS:
        raise MpiError(ErrorClass.ERR_ARG, f"{order} is no order of an array")
    return order == FORTRAN
