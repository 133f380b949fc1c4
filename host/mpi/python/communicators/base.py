"""The base of communicators: group, name, attributes and errors."""

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from ... import info as library
from ...communicators import communicator
from ...constants import UNDEFINED
from ...point_to_point import status as statuses_
from ...sync import RankError, current
from ..attributes import Attributed
from ..errors import CLASSES, RETURN, Errhandler, Exception, blocking, completing
from ..groups import Group
from ..info import Info
from ..status import Status, tell
from .state import GIVEN, Predefined, State

__all__ = ["Communicator"]

Result = TypeVar("Result")


class Communicator(Attributed):
    """A communicator without its messages."""

    abstract = True

    @property
    def _state(self) -> State:
        if self._of is None:
            raise Exception(CLASSES["ERR_COMM"])
        return self._of.state if isinstance(self._of, Predefined) else self._of

    @property
    def inner(self) -> communicator.Comm:
        """The library's communicator."""
        return self._state.comm

    def _wait(self, call: Coroutine[Any, Any, Result]) -> Result:
        return blocking(call, self.inner)

    def _receive(self, call: Coroutine[Any, Any, statuses_.Status], status: Status | None) -> None:
        """Wait for ``call``, which receives; ``status`` gets what came."""
        completing(call, lambda found: tell(status, found), self.inner)

    def Get_rank(self) -> int:
        return self.inner.rank

    def Get_size(self) -> int:
        return self.inner.size

    rank = property(Get_rank)
    size = property(Get_size)

    def Get_group(self) -> Group:
        return Group.standing_for(self.inner.group)

    @property
    def group(self) -> Group:
        return self.Get_group()

    def Is_inter(self) -> bool:
        return self.inner.peers is not self.inner.group

    def Is_intra(self) -> bool:
        return not self.Is_inter()

    is_inter = property(Is_inter)
    is_intra = property(Is_intra)

    def Get_topology(self) -> int:
        topology = self.inner.topology
        return UNDEFINED if topology is None else topology.kind

    topology = property(Get_topology)

    @property
    def is_topo(self) -> bool:
        return bool(self) and self.inner.topology is not None

    def Get_name(self) -> str:
        return self.inner.title if self else "MPI_COMM_NULL"

    def Set_name(self, name: str) -> None:
        self.inner.Set_name(name)

    name = property(Get_name, Set_name)

    def Compare(self, comm: "Communicator") -> int:
        return self.inner.Compare(comm.inner)

    # End

    def Free(self) -> None:
        state = self._state
        if isinstance(self._of, Predefined):
            raise Exception(CLASSES["ERR_COMM"])
        self._drop_all()
        self._wait(state.comm.Barrier())
        state.comm.Free()
        self._of = None

    Disconnect = Free

    @property
    def is_predefined(self) -> bool:
        return self._of is None or isinstance(self._of, Predefined)

    def Abort(self, errorcode: int = 0) -> None:
        current().abort(self.inner.name, errorcode)

    # Attributes, information, errors

    @property
    def _attributes(self) -> dict[int, Any]:
        return self.inner.attributes

    def Get_attr(self, keyval: int) -> Any:
        self.inner  # noqa: B018 — refuses the null handle
        if keyval in GIVEN:
            return GIVEN[keyval]()
        return super().Get_attr(keyval)

    def Set_info(self, info: Info) -> None:
        self.inner.info = library.Info(info.items())

    def Get_info(self) -> Info:
        return Info.standing_for(library.Info(self.inner.info))

    @property
    def info(self) -> Info:
        return self.Get_info()

    @info.setter
    def info(self, info: Info) -> None:
        self.Set_info(info)

    @classmethod
    def Create_errhandler(cls, errhandler_fn: Callable[["Communicator", int], None]) -> Errhandler:
        return Errhandler.standing_for(errhandler_fn)

    def Get_errhandler(self) -> Errhandler:
        return Errhandler.standing_for(self.inner.errhandler or RETURN)

    def Set_errhandler(self, errhandler: Errhandler) -> None:
        if not errhandler:
            raise Exception(CLASSES["ERR_ARG"])
        self.inner.errhandler = errhandler._of

    def Call_errhandler(self, errorcode: int) -> None:
        handler = self.inner.errhandler or RETURN
        if handler == RETURN:
            return
        if callable(handler):
            handler(self, errorcode)
            return
        raise RankError(f"rank {current().number}: {Exception(errorcode)}")
