"""Communicators of two groups: the class Intercomm, and the call that makes one."""

from typing import Any

from ..errors import told
from ..groups import Group
from ..unsupported_calls import refuses
from .comm import Comm, Intracomm

__all__ = ["Intercomm"]


@refuses("Create_from_groups")
class Intercomm(Comm):
    """A communicator of two groups."""

    @classmethod
    def _fits(cls, comm: Any) -> bool:
        return bool(comm.Is_inter())

    def _plain(self) -> type[Any]:
        return Intercomm

    def Get_remote_group(self) -> Group:
        with told(self.inner):
            return Group.standing_for(self.inner.remote_group)
        raise AssertionError

    @property
    def remote_group(self) -> Group:
        return self.Get_remote_group()

    def Get_remote_size(self) -> int:
        return self.Get_remote_group().size

    remote_size = property(Get_remote_size)

    def Merge(self, high: bool = False) -> Intracomm:
        return self._made(self._wait(self.inner.Merge(bool(high))), Intracomm)


def create_intercomm(self: Intracomm, local_leader: int, peer_comm: Comm, remote_leader: int,
                     tag: int = 0) -> Intercomm:
    """This group and that of ``remote_leader`` of ``peer_comm``, which counts at the leader."""
    peer = peer_comm.inner if self.rank == local_leader else None
    made: Intercomm = self._made(self._wait(self.inner.Create_intercomm(
        local_leader, peer, remote_leader, tag)), Intercomm)
    return made


Intracomm.Create_intercomm = create_intercomm
