"""Messages that a probe has taken, and that nobody else can receive."""

from typing import Any

from ...constants import ANY_SOURCE, ANY_TAG, PROC_NULL
from ...sync import current
from .. import python_objects
from ..errors import CLASSES, Exception, blocking
from ..handles import GIVEN, Handle
from ..messages import simple
from ..requests import Operation, Request
from ..status import Status

__all__ = ["Message", "NO_PROC"]

NO_PROC = "no process"
"""Stands for MPI_MESSAGE_NO_PROC."""


class Message(Handle):
    """A message that Mprobe has taken, or that never comes."""

    @classmethod
    def Probe(cls, comm: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG,
              status: Status | None = None) -> Any:
        return comm.Mprobe(source, tag, status)

    @classmethod
    def Iprobe(cls, comm: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG,
               status: Status | None = None) -> Any:
        return comm.Improbe(source, tag, status)

    probe, iprobe = Probe, Iprobe

    def _taken(self) -> Any:
        found = self._of
        if found is None:
            raise Exception(CLASSES["ERR_REQUEST"])
        if not any(one is self for one in GIVEN.values()):
            self._of = None
        return found

    def Recv(self, buf: Any, status: Status | None = None) -> None:
        self.Irecv(buf).Wait(status)

    def Irecv(self, buf: Any) -> Request:
        return self._received(None if self._of is NO_PROC else simple(buf, False), None)

    def _received(self, into: Any, load: Any) -> Request:
        found = self._taken()
        if found is NO_PROC:
            return Request.standing_for(Operation(blocking(
                current().mpi.COMM_SELF.Irecv(None, PROC_NULL))))
        message, _ = found
        return Request.standing_for(Operation(
            blocking(message.comm.Imrecv(into, message), message.comm), load=load, kept=into))

    def recv(self, status: Status | None = None) -> Any:
        return self.irecv().wait(status)

    def irecv(self) -> Request:
        found = self._of
        length = 0 if found in (None, NO_PROC) else found[1]
        into = simple(bytearray(length), False)
        return self._received(into, lambda _: python_objects.loaded(into[0]))
