"""Messages that a probe takes out of the queue, and requests that a program completes."""

import ctypes
from typing import Any

from ..constants import PROC_NULL
from ..data.datatypes import Datatype
from ..errors import ErrorClass, MpiError
from ..point_to_point.generalised_request import GeneralisedRequest
from ..point_to_point.status import Status
from .arguments import Arguments
from .calls import State
from .handles import value
from .memory import Pointer, integers, put_int, put_long
from .messages import put_status, status_at
from .request import CRequest

__all__ = ["Matched"]

NO_PROC = value("MESSAGE_NO_PROC")


class Matched:
    """Matched probes, generalised requests, and statuses that a program fills in."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._handles = state.handles
        self._requests = state.handles.requests
        self._messages = state.handles.messages
        self._arguments = Arguments(state.handles)

    # Matched probes

    def MPI_Mprobe(self, source: int, tag: int, comm: Any, message: Pointer, status: Pointer
                   ) -> None:
        if source == PROC_NULL:
            self._found(message, NO_PROC, status, Status(PROC_NULL))
        else:
            one, found = self._state.wait(comm.Mprobe(source, tag))
            self._found(message, self._messages.add(one), status, found)

    def MPI_Improbe(self, source: int, tag: int, comm: Any, flag: Pointer, message: Pointer,
                    status: Pointer) -> None:
        got = None
        if source == PROC_NULL:
            self._found(message, NO_PROC, status, Status(PROC_NULL))
        else:
            got = self._state.wait(comm.Improbe(source, tag))
            if got is not None:
                self._found(message, self._messages.add(got[0]), status, got[1])
        put_int(flag, source == PROC_NULL or got is not None)

    @staticmethod
    def _found(message: Pointer, handle: int, status: Pointer, found: Status) -> None:
        put_int(message, handle)
        put_status(status, found)

    def _taken(self, place: Pointer) -> Any:
        """The message, which is gone with that; None: that of nobody."""
        [handle] = integers(place, 1)
        put_int(place, value("MESSAGE_NULL"))
        return None if handle == NO_PROC else self._messages.remove(handle)

    def MPI_Mrecv(self, buf: Pointer, count: int, datatype: int, message: Pointer, status: Pointer
                  ) -> None:
        one = self._taken(message)
        if one is None:
            put_status(status, Status(PROC_NULL))
            return
        into = self._arguments.plain(buf, count, datatype, "Mrecv")
        self._state.complete(one.comm.Mrecv(into, one), lambda found: put_status(status, found))

    def MPI_Imrecv(self, buf: Pointer, count: int, datatype: int, message: Pointer,
                   request: Pointer) -> None:
        one = self._taken(message)
        if one is None:
            begun = self._state.wait(self._state.mpi.COMM_SELF.Irecv(None, PROC_NULL))
        else:
            into = self._arguments.plain(buf, count, datatype, "Imrecv")
            begun = self._state.wait(one.comm.Imrecv(into, one))
        put_int(request, self._requests.add(CRequest(begun)))

    # Requests

    def MPI_Request_get_status(self, request: int, flag: Pointer, status: Pointer) -> None:
        inner = self._requests[request].inner if request else None
        if inner is not None and not inner.done:
            self._state.wait(self._state.mpi.progress())
        put_int(flag, inner is None or inner.done)
        if inner is None:
            put_status(status, Status())
        elif inner.done:
            put_status(status, inner.status)

    def MPI_Grequest_start(self, query_fn: Pointer, free_fn: Pointer, cancel_fn: Pointer,
                           extra_state: Pointer, request: Pointer) -> None:
        call = self._state.callbacks

        def query(status: Status) -> None:
            place = ctypes.create_string_buffer(24)
            at = ctypes.addressof(place)
            put_status(at, status)
            call(query_fn, extra_state, at)
            found = status_at(at)
            status.source, status.tag, status.count = found.source, found.tag, found.count
            status.cancelled = found.cancelled

        made = GeneralisedRequest(self._state.mpi, query, lambda: call(free_fn, extra_state),
                           lambda ended: call(cancel_fn, extra_state, int(ended)))
        put_int(request, self._requests.add(CRequest(made)))

    def MPI_Grequest_complete(self, request: int) -> None:
        inner = self._requests[request].inner
        if not isinstance(inner, GeneralisedRequest):
            raise MpiError(ErrorClass.ERR_REQUEST, f"{request} is no generalised request")
        inner.complete()

    # Statuses

    def MPI_Get_elements_x(self, status: Pointer, datatype: Datatype, count: Pointer) -> None:
        put_long(count, status_at(status).Get_elements(datatype))

    def MPI_Status_set_elements(self, status: Pointer, datatype: Datatype, count: int) -> None:
        found = status_at(status)
        found.Set_elements(datatype, count)
        put_status(status, found)

    MPI_Status_set_elements_x = MPI_Status_set_elements

    def MPI_Status_set_cancelled(self, status: Pointer, flag: int) -> None:
        found = status_at(status)
        found.cancelled = bool(flag)
        put_status(status, found)

    def MPI_Status_c2f(self, c_status: Pointer, f_status: Pointer) -> None:
        ctypes.memmove(f_status, c_status, 24)

    def MPI_Status_f2c(self, f_status: Pointer, c_status: Pointer) -> None:
        ctypes.memmove(c_status, f_status, 24)
