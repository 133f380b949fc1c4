"""The calls of mpi.h, by name: communicators, groups, errors, beginning and end.

A call's method gets its arguments as mpi.h declares them: numbers and addresses as integers,
handles as what they stand for. What it returns is the call's code; None is success.
"""

import ctypes
import math
from typing import Any

from ..constants import MAX_TAG
from ..errors import ErrorClass, MpiError
from ..groups import Group
from ..sync import Rank
from .handles import Handles, value
from .memory import Pointer, integers, put_int, put_long, put_text, text

__all__ = ["Environment", "State"]

LIBRARY = "nicbed"
SINGLE = 0
FATAL = value("ERRORS_ARE_FATAL")
"""What happens to errors where a program says nothing."""
ATTRIBUTES = {value("TAG_UB"): MAX_TAG, value("WTIME_IS_GLOBAL"): 1, value("HOST"): -2,
              value("IO"): -2}


class State:
    """What all calls of rank ``rank`` stand on; ``library`` is its copy of the program."""

    def __init__(self, rank: Rank, library: Any) -> None:
        self.rank = rank
        self.library = library
        self.mpi = rank.mpi
        self.wait = rank.wait
        self.complete = rank.complete
        self.handles = Handles(rank.mpi)


class Environment:
    """Beginning and end, errors, communicators and groups."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._rank = state.rank
        self._handles = state.handles
        self._attributes = {key: ctypes.c_int(number) for key, number in ATTRIBUTES.items()}

    # Beginning, end, time

    def nicbed_compute(self, cycles: Pointer) -> None:
        count = ctypes.c_double.from_address(cycles).value
        if not 0 <= count < math.inf:
            raise MpiError(ErrorClass.ERR_ARG, f"nicbed_compute of {count:g} cycles")
        self._rank.compute(count)

    def MPI_Init(self, argc: Pointer, argv: Pointer) -> None:
        self._rank.init()

    def MPI_Init_thread(self, argc: Pointer, argv: Pointer, required: int, provided: Pointer
                        ) -> None:
        put_int(provided, SINGLE)
        self._rank.init()

    def MPI_Query_thread(self, provided: Pointer) -> None:
        put_int(provided, SINGLE)

    def MPI_Initialized(self, flag: Pointer) -> None:
        put_int(flag, self._rank.initialized)

    def MPI_Finalize(self) -> None:
        self._rank.finalize()

    def MPI_Finalized(self, flag: Pointer) -> None:
        put_int(flag, self._rank.finalized)

    def MPI_Abort(self, comm: Any, errorcode: int) -> None:
        self._rank.abort(comm.name, errorcode)

    def MPI_Wtime(self, result: Pointer) -> None:
        ctypes.c_double.from_address(result).value = self._rank.time()

    def MPI_Wtick(self, result: Pointer) -> None:
        ctypes.c_double.from_address(result).value = self._rank.tick

    def MPI_Get_version(self, version: Pointer, subversion: Pointer) -> None:
        put_int(version, value("VERSION"))
        put_int(subversion, value("SUBVERSION"))

    def MPI_Get_library_version(self, version: Pointer, resultlen: Pointer) -> None:
        put_int(resultlen, put_text(version, LIBRARY, value("MAX_LIBRARY_VERSION_STRING")))

    def MPI_Get_processor_name(self, name: Pointer, resultlen: Pointer) -> None:
        put_int(resultlen, put_text(name, f"node{self._rank.node.number}",
                                    value("MAX_PROCESSOR_NAME")))

    # Errors

    def MPI_Error_class(self, errorcode: int, errorclass: Pointer) -> None:
        put_int(errorclass, errorcode)

    def MPI_Error_string(self, errorcode: int, string: Pointer, resultlen: Pointer) -> None:
        known = {int(one): f"MPI_{one.name}" for one in ErrorClass} | {0: "MPI_SUCCESS"}
        put_int(resultlen, put_text(string, known.get(errorcode, f"error {errorcode}"),
                                    value("MAX_ERROR_STRING")))

    def MPI_Comm_set_errhandler(self, comm: Any, errhandler: int) -> None:
        if errhandler not in (value("ERRORS_RETURN"), FATAL):
            raise MpiError(ErrorClass.ERR_ARG, f"{errhandler} is no error handler")
        comm.errhandler = errhandler

    def MPI_Comm_get_errhandler(self, comm: Any, errhandler: Pointer) -> None:
        put_int(errhandler, comm.errhandler or FATAL)

    MPI_Win_set_errhandler = MPI_Comm_set_errhandler
    MPI_Win_get_errhandler = MPI_Comm_get_errhandler
    MPI_Errhandler_set = MPI_Comm_set_errhandler
    MPI_Errhandler_get = MPI_Comm_get_errhandler

    # Communicators

    def MPI_Comm_size(self, comm: Any, size: Pointer) -> None:
        put_int(size, comm.size)

    def MPI_Comm_rank(self, comm: Any, rank: Pointer) -> None:
        put_int(rank, comm.rank)

    def MPI_Comm_compare(self, comm1: Any, comm2: Any, result: Pointer) -> None:
        put_int(result, comm1.Compare(comm2))

    def MPI_Comm_dup(self, comm: Any, newcomm: Pointer) -> None:
        self._new(newcomm, self._state.wait(comm.Dup()))

    def MPI_Comm_create(self, comm: Any, group: Group, newcomm: Pointer) -> None:
        self._new(newcomm, self._state.wait(comm.Create(group)))

    def MPI_Comm_split(self, comm: Any, color: int, key: int, newcomm: Pointer) -> None:
        self._new(newcomm, self._state.wait(comm.Split(color, key)))

    def _new(self, place: Pointer, comm: Any) -> None:
        put_int(place, self._handles.comms.add(comm))

    def MPI_Comm_free(self, comm: Pointer) -> None:
        [handle] = integers(comm, 1)
        self._handles.comms.remove(handle).Free()
        put_int(comm, 0)

    def MPI_Comm_test_inter(self, comm: Any, flag: Pointer) -> None:
        put_int(flag, 0)

    def MPI_Comm_set_name(self, comm: Any, name: Pointer) -> None:
        comm.Set_name(text(name))

    def MPI_Comm_get_name(self, comm: Any, name: Pointer, resultlen: Pointer) -> None:
        put_int(resultlen, put_text(name, comm.name, value("MAX_OBJECT_NAME")))

    def MPI_Comm_get_attr(self, comm: Any, keyval: int, place: Pointer, flag: Pointer) -> None:
        found = self._attributes.get(keyval)
        put_int(flag, found is not None)
        if found is not None:
            put_long(place, ctypes.addressof(found))

    MPI_Attr_get = MPI_Comm_get_attr

    # Groups

    def MPI_Comm_group(self, comm: Any, group: Pointer) -> None:
        self._group(group, comm.group)

    def MPI_Group_size(self, group: Group, size: Pointer) -> None:
        put_int(size, group.size)

    def MPI_Group_rank(self, group: Group, rank: Pointer) -> None:
        put_int(rank, group.rank)

    def MPI_Group_translate_ranks(self, group1: Group, n: int, ranks1: Pointer, group2: Group,
                                  ranks2: Pointer) -> None:
        if n:
            put_int(ranks2, *group1.Translate_ranks(integers(ranks1, n), group2))

    def MPI_Group_compare(self, group1: Group, group2: Group, result: Pointer) -> None:
        put_int(result, Group.Compare(group1, group2))

    def MPI_Group_union(self, group1: Group, group2: Group, newgroup: Pointer) -> None:
        self._group(newgroup, Group.Union(group1, group2))

    def MPI_Group_intersection(self, group1: Group, group2: Group, newgroup: Pointer) -> None:
        self._group(newgroup, Group.Intersection(group1, group2))

    def MPI_Group_difference(self, group1: Group, group2: Group, newgroup: Pointer) -> None:
        self._group(newgroup, Group.Difference(group1, group2))

    def MPI_Group_incl(self, group: Group, n: int, ranks: Pointer, newgroup: Pointer) -> None:
        self._group(newgroup, group.Incl(integers(ranks, n)))

    def MPI_Group_excl(self, group: Group, n: int, ranks: Pointer, newgroup: Pointer) -> None:
        self._group(newgroup, group.Excl(integers(ranks, n)))

    def MPI_Group_range_incl(self, group: Group, n: int, ranges: Pointer, newgroup: Pointer
                             ) -> None:
        self._group(newgroup, group.Range_incl(_triples(ranges, n)))

    def MPI_Group_range_excl(self, group: Group, n: int, ranges: Pointer, newgroup: Pointer
                             ) -> None:
        self._group(newgroup, group.Range_excl(_triples(ranges, n)))

    def _group(self, place: Pointer, group: Group) -> None:
        put_int(place, self._handles.groups.add(group) if group.size else value("GROUP_EMPTY"))

    def MPI_Group_free(self, group: Pointer) -> None:
        [handle] = integers(group, 1)
        if handle != value("GROUP_EMPTY"):
            self._handles.groups.remove(handle)
        put_int(group, 0)


def _triples(address: Pointer, count: int) -> list[list[int]]:
    flat = integers(address, 3 * count)
    return [flat[at:at + 3] for at in range(0, len(flat), 3)]
