"""Calls about communicators: their processes, names, and those that are made of others."""

from collections.abc import Callable, Coroutine
from typing import Any

from ..communicators.groups import Group
from ..errors import MpiError
from ..info import Info
from .calls import State
from .handles import value
from .memory import Pointer, integers, put_int, put_text, text
from .request import CRequest

__all__ = ["Communicators"]


class _Later(list[Any]):
    """An object that is made while other calls go on: ``ready`` gets it when there is one."""

    def __init__(self, ready: Callable[[Any], None]) -> None:
        super().__init__()
        self._ready = ready

    def append(self, made: Any) -> None:
        self._ready(made)


class Communicators:
    """Communicators of one group, and of two."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._comms = state.handles.comms
        self._keys = state.attached.comms

    def MPI_Comm_size(self, comm: Any, size: Pointer) -> None:
        put_int(size, comm.size)

    def MPI_Comm_rank(self, comm: Any, rank: Pointer) -> None:
        put_int(rank, comm.rank)

    def MPI_Comm_compare(self, comm1: Any, comm2: Any, result: Pointer) -> None:
        put_int(result, comm1.Compare(comm2))

    def MPI_Comm_set_name(self, comm: Any, name: Pointer) -> None:
        comm.Set_name(text(name))

    def MPI_Comm_get_name(self, comm: Any, name: Pointer, resultlen: Pointer) -> None:
        put_int(resultlen, put_text(name, comm.title, value("MAX_OBJECT_NAME")))

    # Others made of them

    def _new(self, place: Pointer, comm: Any) -> None:
        handle = self._comms.add(comm)
        if comm is not None:
            comm.handle = handle
        put_int(place, handle)

    def _made(self, place: Pointer, making: Coroutine[Any, Any, Any]) -> None:
        try:
            put_int(place, 0)
        except MpiError:
            making.close()
            raise
        self._new(place, self._state.wait(making))

    def MPI_Comm_dup(self, comm: Any, newcomm: Pointer) -> None:
        put_int(newcomm, 0)
        made = self._state.wait(comm.Dup())
        try:
            made.attributes = self._keys.copied(comm.handle, comm.attributes)
        except MpiError:
            made.Free()
            raise
        self._new(newcomm, made)

    def MPI_Comm_dup_with_info(self, comm: Any, info: int, newcomm: Pointer) -> None:
        self.MPI_Comm_dup(comm, newcomm)
        made = self._comms[integers(newcomm, 1)[0]]
        made.info = Info(self._state.handles.infos[info]) if info else Info()

    def MPI_Comm_idup(self, comm: Any, newcomm: Pointer, request: Pointer) -> None:
        """The handle stands for the duplicate when there is one."""
        attributes = self._keys.copied(comm.handle, comm.attributes)
        handle = self._comms.reserve()

        def ready(made: Any) -> None:
            made.attributes, made.handle = attributes, handle
            self._comms.bind(handle, made)

        begun = self._state.wait(comm.Idup(_Later(ready)))
        put_int(newcomm, handle)
        put_int(request, self._state.handles.requests.add(CRequest(begun)))

    def MPI_Comm_create(self, comm: Any, group: Group, newcomm: Pointer) -> None:
        self._made(newcomm, comm.Create(group))

    def MPI_Comm_create_group(self, comm: Any, group: Group, tag: int, newcomm: Pointer) -> None:
        self._made(newcomm, comm.Create_group(group))

    def MPI_Comm_split(self, comm: Any, color: int, key: int, newcomm: Pointer) -> None:
        self._made(newcomm, comm.Split(color, key))

    def MPI_Comm_split_type(self, comm: Any, split_type: int, key: int, info: int,
                            newcomm: Pointer) -> None:
        self._made(newcomm, comm.Split_type(split_type, key))

    # End

    def MPI_Comm_free(self, comm: Pointer) -> None:
        [handle] = integers(comm, 1)
        one = self._comms[handle]
        self._comms.check_own(handle)
        self._keys.delete_all(handle, one.attributes)
        self._comms.remove(handle).Free()
        put_int(comm, 0)

    def MPI_Comm_disconnect(self, comm: Pointer) -> None:
        [handle] = integers(comm, 1)
        self._comms.check_own(handle)
        self._state.wait(self._comms[handle].Barrier())
        self.MPI_Comm_free(comm)

    # Two groups

    def MPI_Comm_test_inter(self, comm: Any, flag: Pointer) -> None:
        put_int(flag, comm.peers is not comm.group)

    def MPI_Comm_remote_size(self, comm: Any, size: Pointer) -> None:
        put_int(size, comm.remote_group.size)

    def MPI_Comm_remote_group(self, comm: Any, group: Pointer) -> None:
        put_int(group, self._state.handles.groups.add(comm.remote_group))

    def MPI_Intercomm_create(self, local_comm: Any, local_leader: int, peer_comm: int,
                             remote_leader: int, tag: int, newintercomm: Pointer) -> None:
        peer = self._comms[peer_comm] if local_comm.rank == local_leader else None
        self._made(newintercomm, local_comm.Create_intercomm(local_leader, peer, remote_leader,
                                                             tag))

    def MPI_Intercomm_merge(self, intercomm: Any, high: int, newintracomm: Pointer) -> None:
        self._made(newintracomm, intercomm.Merge(bool(high)))

    def MPI_Comm_get_parent(self, parent: Pointer) -> None:
        put_int(parent, value("COMM_NULL"))
