"""Requests, of buffers and of objects."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from ..communicators.communicator import Comm
from ..constants import UNDEFINED
from ..errors import ErrorClass, MpiError
from ..point_to_point import requests as library
from ..point_to_point import status as statuses_
from ..sync import current
from .errors import CLASSES, Exception, blocking, completing, told
from .handles import Handle
from .status import Status, tell

__all__ = ["Operation", "Prequest", "REQUEST_NULL", "Request"]

Own = TypeVar("Own", bound="Request")


class Operation:
    """The operation that a request stands for.

    Attributes
    ----------
    inner
        The library's request; None while a persistent one is inactive.
    again
        Begins a persistent one.
    load
        Gives the object that has come.
    kept
        What must stay while it goes on.
    comm
        The communicator with which it was made; None if it is of nobody.
    """

    __slots__ = ("inner", "again", "load", "kept", "comm")

    def __init__(self, inner: library.Request | None, *,
                 again: Callable[[], Coroutine[Any, Any, library.Request]] | None = None,
                 load: Callable[[statuses_.Status], Any] | None = None, kept: Any = None,
                 comm: Comm | None = None) -> None:
        self.comm = comm if inner is None else inner.comm
        self.inner = inner
        self.again = again
        self.load = load
        self.kept = kept


class Request(Handle):
    """A request."""

    def _completed(self, found: statuses_.Status) -> Any:
        """It has ended; the object that came."""
        operation: Operation = self._of
        if operation.again is None:
            self._of = None
        else:
            operation.inner = None
        load = operation.load
        return None if load is None or found.cancelled or found.error else load(found)

    @staticmethod
    def _active(requests: Sequence["Request"]) -> dict[int, library.Request]:
        found: dict[int, library.Request] = {}
        places: dict[int, int] = {}
        for place, one in enumerate(requests):
            if one and one._of.inner is not None:
                if places.setdefault(id(one._of), place) != place:
                    with told(one._of.comm):
                        raise MpiError(ErrorClass.ERR_REQUEST, f"requests {places[id(one._of)]} "
                                       f"and {place} of the call are the same one")
                found[place] = one._of.inner
        return found

    # One

    def Wait(self, status: Status | None = None) -> bool:
        Request.wait(self, status)
        return True

    def wait(self, status: Status | None = None) -> Any:
        if not self._active([self]):
            tell(status, statuses_.Status())
            return None

        def put(found: statuses_.Status) -> Any:
            tell(status, found)
            return self._completed(found)

        return completing(self._of.inner.Wait(), put)

    def Test(self, status: Status | None = None) -> bool:
        return Request.test(self, status)[0]

    def test(self, status: Status | None = None) -> tuple[bool, Any]:
        if not self._active([self]):
            tell(status, statuses_.Status())
            return True, None
        inner: library.Request = self._of.inner

        def put(ended: bool) -> tuple[bool, Any]:
            if not ended:
                return False, None
            tell(status, inner.status)
            return True, self._completed(inner.status)

        return completing(inner.Test(), put)

    def Get_status(self, status: Status | None = None) -> bool:
        if not self._active([self]):
            tell(status, statuses_.Status())
            return True
        inner = self._of.inner
        if not inner.done:
            blocking(inner.library.progress())
        if inner.done:
            tell(status, inner.status)
        return inner.done

    get_status = Get_status

    def Cancel(self) -> None:
        if not self._active([self]):
            raise Exception(CLASSES["ERR_REQUEST"])
        blocking(self._of.inner.Cancel())

    cancel = Cancel

    def Free(self) -> None:
        if not self:
            raise Exception(CLASSES["ERR_REQUEST"])
        self._of = None

    # Several

    @classmethod
    def Waitany(cls, requests: Sequence["Request"], status: Status | None = None) -> int:
        return Request.waitany(requests, status)[0]

    @classmethod
    def waitany(cls, requests: Sequence["Request"], status: Status | None = None
                ) -> tuple[int, Any]:
        place, _, found = cls._any(requests, status, library.Request.Waitany)
        return place, found

    @classmethod
    def Testany(cls, requests: Sequence["Request"], status: Status | None = None
                ) -> tuple[int, bool]:
        return Request.testany(requests, status)[:2]

    @classmethod
    def testany(cls, requests: Sequence["Request"], status: Status | None = None
                ) -> tuple[int, bool, Any]:
        return cls._any(requests, status, library.Request.Testany)

    @classmethod
    def _any(cls, requests: Sequence["Request"], status: Status | None, how: Callable[..., Any]
             ) -> tuple[int, bool, Any]:
        active = cls._active(requests)
        if not active:
            tell(status, statuses_.Status())
            return UNDEFINED, True, None

        def put(found: tuple[int, statuses_.Status] | None) -> tuple[int, bool, Any]:
            if found is None:
                return UNDEFINED, False, None
            place = list(active)[found[0]]
            tell(status, found[1])
            return place, True, requests[place]._completed(found[1])

        return completing(how(list(active.values())), put)

    @classmethod
    def Waitall(cls, requests: Sequence["Request"], statuses: list[Status] | None = None) -> bool:
        Request.waitall(requests, statuses)
        return True

    @classmethod
    def waitall(cls, requests: Sequence["Request"], statuses: list[Status] | None = None
                ) -> list[Any]:
        return cls._all(requests, statuses, library.Request.Waitall)[1] or []

    @classmethod
    def Testall(cls, requests: Sequence["Request"], statuses: list[Status] | None = None) -> bool:
        return Request.testall(requests, statuses)[0]

    @classmethod
    def testall(cls, requests: Sequence["Request"], statuses: list[Status] | None = None
                ) -> tuple[bool, list[Any] | None]:
        return cls._all(requests, statuses, library.Request.Testall)

    @classmethod
    def _all(cls, requests: Sequence["Request"], statuses: list[Status] | None,
             how: Callable[..., Any]) -> tuple[bool, list[Any] | None]:
        active = cls._active(requests)

        def put(found: list[statuses_.Status] | None) -> tuple[bool, list[Any] | None]:
            if found is None:
                return False, None
            of = dict(zip(active, found, strict=True))
            objects: list[Any] = []
            _enough(statuses, len(requests))
            for place, request in enumerate(requests):
                status = of.get(place, statuses_.Status())
                objects.append(request._completed(status) if place in of else None)
                if statuses is not None and place < len(statuses):
                    statuses[place]._set(status)
            return True, objects

        return completing(how(list(active.values())), put)

    @classmethod
    def Waitsome(cls, requests: Sequence["Request"], statuses: list[Status] | None = None
                 ) -> list[int] | None:
        return Request.waitsome(requests, statuses)[0]

    @classmethod
    def waitsome(cls, requests: Sequence["Request"], statuses: list[Status] | None = None
                 ) -> tuple[list[int] | None, list[Any] | None]:
        return cls._some(requests, statuses, library.Request.Waitsome)

    @classmethod
    def Testsome(cls, requests: Sequence["Request"], statuses: list[Status] | None = None
                 ) -> list[int] | None:
        return Request.testsome(requests, statuses)[0]

    @classmethod
    def testsome(cls, requests: Sequence["Request"], statuses: list[Status] | None = None
                 ) -> tuple[list[int] | None, list[Any] | None]:
        return cls._some(requests, statuses, library.Request.Testsome)

    @classmethod
    def _some(cls, requests: Sequence["Request"], statuses: list[Status] | None,
              how: Callable[..., Any]) -> tuple[list[int] | None, list[Any] | None]:
        active = cls._active(requests)
        if not active:
            return None, None

        def put(found: list[tuple[int, statuses_.Status]]) -> tuple[list[int], list[Any]]:
            places = [list(active)[place] for place, _ in found]
            _enough(statuses, len(found))
            objects = []
            for number, (place, (_, status)) in enumerate(zip(places, found, strict=True)):
                objects.append(requests[place]._completed(status))
                if statuses is not None:
                    statuses[number]._set(status)
            return places, objects

        return completing(how(list(active.values())), put)

    @classmethod
    def Get_status_any(cls, requests: Sequence["Request"], status: Status | None = None
                       ) -> tuple[int, bool]:
        active = [place for place in cls._active(requests)]
        if not active:
            tell(status, statuses_.Status())
            return UNDEFINED, True
        done = next((place for place in active if requests[place].Get_status(status)), None)
        return (UNDEFINED, False) if done is None else (done, True)

    @classmethod
    def Get_status_all(cls, requests: Sequence["Request"], statuses: list[Status] | None = None
                       ) -> bool:
        found = [Status() for _ in requests]
        if not all([one.Get_status(status)
                    for one, status in zip(requests, found, strict=True)]):
            return False
        _enough(statuses, len(found))
        for status, one in zip(statuses or (), found, strict=False):
            status._set(one._found())
        return True

    @classmethod
    def Get_status_some(cls, requests: Sequence["Request"], statuses: list[Status] | None = None
                        ) -> list[int] | None:
        active = list(cls._active(requests))
        if not active:
            return None
        found = {place: Status() for place in active}
        done = [place for place in active if requests[place].Get_status(found[place])]
        _enough(statuses, len(done))
        for status, place in zip(statuses or (), done, strict=False):
            status._set(found[place]._found())
        return done

    get_status_any = Get_status_any
    get_status_all = Get_status_all
    get_status_some = Get_status_some


def _enough(statuses: list[Status] | None, count: int) -> None:
    """mpi4py fills a list of statuses up to as many as are needed."""
    if isinstance(statuses, list) and len(statuses) < count:
        statuses += [Status() for _ in range(count - len(statuses))]


class Prequest(Request):
    """A persistent request."""

    def Start(self) -> None:
        self.Startall([self])

    @classmethod
    def Startall(cls, requests: Sequence["Prequest"]) -> None:
        for one in requests:
            operation: Operation | None = one._of
            with told(operation and operation.comm):
                if operation is None or operation.again is None or operation.inner is not None:
                    raise MpiError(ErrorClass.ERR_REQUEST, "Start of a request that is "
                                   + ("active" if operation and operation.again else
                                      "not persistent"))
                operation.inner = current().wait(operation.again())


REQUEST_NULL = Request()

