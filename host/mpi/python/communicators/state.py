"""The state that a communicator's handles stand for."""

from collections.abc import Callable

from ...communicators import communicator
from ...constants import ANY_SOURCE, MAX_TAG
from ...sync import current
from ..errors import last_used_code
from ..handles import given

__all__ = ["APPNUM", "GIVEN", "IO", "LASTUSEDCODE", "State", "TAG_UB", "UNIVERSE_SIZE",
           "WTIME_IS_GLOBAL", "Predefined"]

TAG_UB, IO, WTIME_IS_GLOBAL, UNIVERSE_SIZE, APPNUM, LASTUSEDCODE = range(1, 7)
GIVEN: dict[int, Callable[[], int]] = {
    TAG_UB: lambda: MAX_TAG, WTIME_IS_GLOBAL: lambda: 1, IO: lambda: ANY_SOURCE,
    UNIVERSE_SIZE: lambda: current().mpi.size, APPNUM: lambda: 0, LASTUSEDCODE: last_used_code}
"""What gives the attributes that MPI defines, by key."""


class State:
    """A communicator of one rank; ``comm`` is the library's."""

    def __init__(self, comm: communicator.Comm) -> None:
        self.comm = comm


class Predefined:
    """A communicator that MPI defines; each rank has its own one of this name."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def state(self) -> State:
        return current().keep(self.name, self._made)

    def _made(self) -> State:
        comm = getattr(current().mpi, self.name)
        comm.handle = given(self.name)
        return State(comm)
