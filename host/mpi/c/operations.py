"""Operations of the program's own, and reductions that it makes alone."""

import ctypes

from ..data.datatypes import Datatype
from ..data.operators import Bytes, OnElements, Op
from .arguments import Arguments
from .calls import State
from .handles import value
from .memory import Pointer, integers, put_int

__all__ = ["Operations"]


class Operations:
    """Calls on operations."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._handles = state.handles
        self._arguments = Arguments(state.handles)

    def MPI_Op_create(self, function: Pointer, commute: int, op: Pointer) -> None:
        callbacks, handles = self._state.callbacks, self._handles

        def combine(lower: Bytes, result: Bytes, count: int, datatype: Datatype) -> None:
            last = (ctypes.c_int * 2)(count, handles.type_of(datatype))
            at = ctypes.addressof(last)
            callbacks(function, *(data.ctypes.data + origin for data, origin in (lower, result)),
                      at, at + ctypes.sizeof(ctypes.c_int))

        put_int(op, handles.ops.add(OnElements(combine, bool(commute))))

    def MPI_Op_free(self, op: Pointer) -> None:
        self._handles.ops.remove(integers(op, 1)[0])
        put_int(op, value("OP_NULL"))

    def MPI_Op_commutative(self, op: Op, commute: Pointer) -> None:
        put_int(commute, op.commutes)

    def MPI_Reduce_local(self, inbuf: Pointer, inoutbuf: Pointer, count: int, datatype: int,
                         op: Op) -> None:
        first, second = (self._arguments.typed(one, count, datatype, "Reduce_local")
                         for one in (inbuf, inoutbuf))
        self._state.mpi.reduce_local(op, first, second)
