"""Calls that send, receive and complete."""

import ctypes
from collections.abc import Callable, Coroutine
from typing import Any

from ..constants import PROC_NULL, UNDEFINED
from ..data.datatypes import Datatype
from ..errors import ErrorClass, MpiError
from ..point_to_point.generalised_request import GeneralisedRequest
from ..point_to_point.requests import Request
from ..point_to_point.status import Status
from .arguments import Arguments
from .calls import State
from .handles import value
from .memory import Pointer, integers, put_count, put_int, put_long
from .request import CRequest

__all__ = ["Messages"]

STATUS_BYTES = 24


def put_status(address: Pointer, status: Status) -> None:
    """Write a status, unless the program ignores it."""
    if address:
        put_int(address, status.source, status.tag, status.error, status.cancelled)
        ctypes.c_long.from_address(address + 16).value = status.count


def status_at(address: Pointer) -> Status:
    """A status that the program has."""
    source, tag, error, cancelled = integers(address, 4)
    return Status(source, tag, ctypes.c_long.from_address(address + 16).value, error,
                  bool(cancelled))


def _sends(how: str) -> Callable[..., None]:
    def method(self: "Messages", buf: Pointer, count: int, datatype: int, dest: int, tag: int,
               comm: Any) -> None:
        self._send(how, buf, count, datatype, dest, tag, comm)
    return method


def _begins(how: str) -> Callable[..., None]:
    def method(self: "Messages", buf: Pointer, count: int, datatype: int, dest: int, tag: int,
               comm: Any, request: Pointer) -> None:
        self._begun(request, self._send(how, buf, count, datatype, dest, tag, comm))
    return method


def _persistent(how: str) -> Callable[..., None]:
    def method(self: "Messages", buf: Pointer, count: int, datatype: int, rank: int, tag: int,
               comm: Any, request: Pointer) -> None:
        self._again(how, buf, count, datatype, rank, tag, comm, request)
    return method


class Messages:
    """Point-to-point calls and requests."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._mpi = state.mpi
        self._wait = state.wait
        self._complete = state.complete
        self._requests = state.handles.requests
        self._arguments = Arguments(state.handles)
        self._attached: Pointer = 0

    # Sends

    def _send(self, how: str, buf: Pointer, count: int, datatype: int, dest: int, tag: int,
              comm: Any) -> Any:
        data = self._arguments.of_peer(dest, buf, count, datatype, how)
        return self._wait(getattr(comm, how)(data, dest, tag))

    MPI_Send = _sends("Send")
    MPI_Bsend = _sends("Bsend")
    MPI_Ssend = _sends("Ssend")
    MPI_Rsend = _sends("Rsend")
    MPI_Isend = _begins("Isend")
    MPI_Ibsend = _begins("Ibsend")
    MPI_Issend = _begins("Issend")
    MPI_Irsend = _begins("Irsend")

    def _begun(self, place: Pointer, request: Request) -> None:
        put_int(place, self._requests.add(CRequest(request)))

    # Receives and both

    def MPI_Recv(self, buf: Pointer, count: int, datatype: int, source: int, tag: int,
                 comm: Any, status: Pointer) -> None:
        into = self._arguments.of_peer(source, buf, count, datatype, "Recv")
        self._complete(comm.Recv(into, source, tag), lambda found: put_status(status, found))

    def MPI_Irecv(self, buf: Pointer, count: int, datatype: int, source: int, tag: int,
                  comm: Any, request: Pointer) -> None:
        into = self._arguments.of_peer(source, buf, count, datatype, "Irecv")
        self._begun(request, self._wait(comm.Irecv(into, source, tag)))

    def MPI_Sendrecv(self, sendbuf: Pointer, sendcount: int, sendtype: int, dest: int,
                     sendtag: int, recvbuf: Pointer, recvcount: int, recvtype: int,
                     source: int, recvtag: int, comm: Any, status: Pointer) -> None:
        out = self._arguments.of_peer(dest, sendbuf, sendcount, sendtype, "Sendrecv")
        into = self._arguments.of_peer(source, recvbuf, recvcount, recvtype, "Sendrecv")
        self._complete(comm.Sendrecv(out, dest, sendtag, into, source, recvtag),
                       lambda found: put_status(status, found))

    def MPI_Sendrecv_replace(self, buf: Pointer, count: int, datatype: int, dest: int,
                             sendtag: int, source: int, recvtag: int, comm: Any, status: Pointer
                             ) -> None:
        nobody = dest == source == PROC_NULL
        data = None if nobody else self._arguments.plain(buf, count, datatype, "Sendrecv_replace")
        self._complete(comm.Sendrecv_replace(data, dest, sendtag, source, recvtag),
                       lambda found: put_status(status, found))

    def MPI_Probe(self, source: int, tag: int, comm: Any, status: Pointer) -> None:
        put_status(status, self._wait(comm.Probe(source, tag)))

    def MPI_Iprobe(self, source: int, tag: int, comm: Any, flag: Pointer, status: Pointer) -> None:
        found = self._wait(comm.Iprobe(source, tag))
        put_int(flag, found is not None)
        if found is not None:
            put_status(status, found)

    def MPI_Buffer_attach(self, place: Pointer, size: int) -> None:
        self._mpi.Attach_buffer(size)
        self._attached = place

    def MPI_Buffer_detach(self, buffer_addr: Pointer, size: Pointer) -> None:
        put_int(size, self._wait(self._mpi.Detach_buffer()))
        put_long(buffer_addr, self._attached)

    # Persistent requests

    def _again(self, how: str, buf: Pointer, count: int, datatype: int, rank: int, tag: int,
               comm: Any, request: Pointer) -> None:
        data = self._arguments.of_peer(rank, buf, count, datatype, how)

        def again() -> Coroutine[Any, Any, Request]:
            return getattr(comm, how)(data, rank, tag)
        put_int(request, self._requests.add(CRequest(None, again, comm)))

    MPI_Send_init = _persistent("Isend")
    MPI_Bsend_init = _persistent("Ibsend")
    MPI_Ssend_init = _persistent("Issend")
    MPI_Rsend_init = _persistent("Irsend")
    MPI_Recv_init = _persistent("Irecv")

    def MPI_Start(self, request: Pointer) -> None:
        self.MPI_Startall(1, request)

    def MPI_Startall(self, count: int, requests: Pointer) -> None:
        for handle in integers(requests, count):
            one = self._requests[handle]
            if one.again is None or one.inner is not None:
                raise MpiError(ErrorClass.ERR_REQUEST, f"Start of request {handle}, which is "
                               + ("active" if one.again else "not persistent"), [one.comm])
            try:
                one.inner = self._wait(one.again())
            except MpiError as error:
                raise MpiError(error.error, error.text, error.comms or [one.comm]) from None

    # Completion

    def _active(self, count: int, requests: Pointer) -> dict[int, Request]:
        """By index, the requests that have begun and were not completed."""
        found = {}
        places: dict[int, int] = {}
        for index, handle in enumerate(integers(requests, count)):
            one = self._requests[handle] if handle else None
            if one is not None and one.inner is not None:
                if places.setdefault(handle, index) != index:
                    raise MpiError(ErrorClass.ERR_REQUEST, f"requests {places[handle]} and {index} "
                                   "of the call are the same one", [one.comm])
                found[index] = one.inner
        return found

    def _completed(self, requests: Pointer, index: int) -> None:
        """The request at ``index`` has been completed."""
        [handle] = integers(requests + 4 * index, 1)
        one = self._requests[handle]
        one.inner = None
        if one.again is None:
            self._requests.remove(handle)
            put_int(requests + 4 * index, 0)

    def _all(self, requests: Pointer, active: dict[int, Request], count: int, statuses: Pointer,
             found: list[Status]) -> None:
        by_index = dict(zip(active, found, strict=True))
        for index in range(count):
            if index in active:
                self._completed(requests, index)
            if statuses:
                put_status(statuses + STATUS_BYTES * index, by_index.get(index, Status()))

    def MPI_Wait(self, request: Pointer, status: Pointer) -> None:
        active = self._active(1, request)
        if active:
            self._complete(active[0].Wait(),
                           lambda found: self._all(request, active, 1, status, [found]))
        else:
            put_status(status, Status())

    def MPI_Waitall(self, count: int, requests: Pointer, statuses: Pointer) -> None:
        active = self._active(count, requests)
        self._complete(Request.Waitall(list(active.values())),
                       lambda found: self._all(requests, active, count, statuses, found))

    def MPI_Test(self, request: Pointer, flag: Pointer, status: Pointer) -> None:
        active = self._active(1, request)

        def put(ended: bool) -> None:
            put_int(flag, ended)
            if ended:
                self._all(request, active, 1, status, [one.status for one in active.values()])

        if active:
            self._complete(active[0].Test(), put)
        else:
            put(True)

    def MPI_Testall(self, count: int, requests: Pointer, flag: Pointer, statuses: Pointer) -> None:
        active = self._active(count, requests)

        def put(found: list[Status] | None) -> None:
            put_int(flag, found is not None)
            if found is not None:
                self._all(requests, active, count, statuses, found)

        self._complete(Request.Testall(list(active.values())), put)

    def MPI_Waitany(self, count: int, requests: Pointer, index: Pointer, status: Pointer) -> None:
        self._any(count, requests, index, status, Request.Waitany, lambda _: None)

    def MPI_Testany(self, count: int, requests: Pointer, index: Pointer, flag: Pointer,
                    status: Pointer) -> None:
        self._any(count, requests, index, status, Request.Testany,
                  lambda ended: put_int(flag, ended))

    def _any(self, count: int, requests: Pointer, index: Pointer, status: Pointer,
             how: Callable[..., Any], put_flag: Callable[[bool], None]) -> None:
        active = self._active(count, requests)

        def put(found: tuple[int, Status] | None) -> None:
            put_flag(found is not None)
            put_int(index, UNDEFINED)
            if found is None:
                return
            place, result = found
            if place != UNDEFINED:
                place = list(active)[place]
                self._completed(requests, place)
                put_int(index, place)
            put_status(status, result)

        if active:
            self._complete(how(list(active.values())), put)
        else:
            put((UNDEFINED, Status()))

    def MPI_Waitsome(self, incount: int, requests: Pointer, outcount: Pointer, indices: Pointer,
                     statuses: Pointer) -> None:
        self._some(incount, requests, outcount, indices, statuses, Request.Waitsome)

    def MPI_Testsome(self, incount: int, requests: Pointer, outcount: Pointer, indices: Pointer,
                     statuses: Pointer) -> None:
        self._some(incount, requests, outcount, indices, statuses, Request.Testsome)

    def _some(self, count: int, requests: Pointer, outcount: Pointer, indices: Pointer,
              statuses: Pointer, how: Callable[..., Any]) -> None:
        active = self._active(count, requests)

        def put(found: list[tuple[int, Status]] | None) -> None:
            put_int(outcount, UNDEFINED if found is None else len(found))
            for number, (place, status) in enumerate(found or []):
                index = list(active)[place]
                self._completed(requests, index)
                put_int(indices + 4 * number, index)
                if statuses:
                    put_status(statuses + STATUS_BYTES * number, status)

        if active:
            self._complete(how(list(active.values())), put)
        else:
            put(None)

    def MPI_Cancel(self, request: Pointer) -> None:
        one = self._requests[integers(request, 1)[0]]
        if one.inner is None:
            raise MpiError(ErrorClass.ERR_REQUEST, "Cancel of a request that is not active",
                           [one.comm])
        self._wait(one.inner.Cancel())

    def MPI_Request_free(self, request: Pointer) -> None:
        inner = self._requests.remove(integers(request, 1)[0]).inner
        if isinstance(inner, GeneralisedRequest):
            inner.leave()
        put_int(request, value("REQUEST_NULL"))

    # Statuses

    def MPI_Test_cancelled(self, status: Pointer, flag: Pointer) -> None:
        put_int(flag, status_at(status).cancelled)

    def MPI_Get_count(self, status: Pointer, datatype: Datatype, count: Pointer) -> None:
        put_count(count, status_at(status).Get_count(datatype))

    def MPI_Get_elements(self, status: Pointer, datatype: Datatype, count: Pointer) -> None:
        put_count(count, status_at(status).Get_elements(datatype))
