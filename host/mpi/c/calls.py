"""The calls of mpi.h, by name: beginning and end, time, groups.

A call's method gets its arguments as mpi.h declares them: numbers and addresses as integers,
handles as what they stand for. What it returns is the call's code; None is success.
"""

import ctypes
import math
from typing import Any

from ..codes import Codes
from ..communicators.groups import Group
from ..errors import ErrorClass, MpiError
from ..sync import Rank
from .attached import Attached
from .callbacks import Callbacks
from .handles import Handles, value
from .memory import Pointer, integers, put_int, put_text

__all__ = ["Environment", "State"]

LIBRARY = "nicbed"
SINGLE = 0


class State:
    """The state that all calls of rank ``rank`` share; ``library`` is its copy of the program."""

    def __init__(self, rank: Rank, library: Any) -> None:
        self.rank = rank
        self.library = library
        self.mpi = rank.mpi
        self.wait = rank.wait
        self.complete = rank.complete
        self.handles = Handles(rank.mpi)
        self.codes = Codes()
        self.callbacks = Callbacks(rank, library)
        self.attached = Attached(self.callbacks)


class Environment:
    """Beginning and end, time, and groups."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._rank = state.rank
        self._handles = state.handles

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

    def MPI_Is_thread_main(self, flag: Pointer) -> None:
        put_int(flag, True)  # another thread's calls never come here

    def MPI_Pcontrol(self, level: int) -> None:
        pass

    def MPI_Initialized(self, flag: Pointer) -> None:
        put_int(flag, self._rank.initialized)

    def MPI_Finalize(self) -> None:
        own = self._rank.mpi.COMM_SELF
        self._state.attached.comms.delete_all(own.handle, own.attributes)
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
