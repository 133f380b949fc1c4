"""A communicator of two groups."""

from copy import copy
from typing import Any

from ..calls import Call
from ..collective import intercollectives
from ..collective.nonblocking import begins
from ..constants import PROC_NULL, ROOT
from . import intercommunicators
from .communicator import Comm
from .groups import Group

__all__ = ["Intercomm"]


class Intercomm(Comm):
    """The processes of ``group`` and those of ``remote``, to which the messages of this process
    go. Both have the same ``context``."""

    def __init__(self, library: Any, group: Group, remote: Group, name: str, context: int) -> None:
        super().__init__(library, group, name, context)
        self.peers = remote
        self.reach = remote.size
        self._within = Comm(library, group, name, context)

    @property
    def within(self) -> Comm:
        """This group, for what its processes do among themselves in a collective call."""
        self.talks = True
        within = copy(self._within)
        within.tags = self.tags
        return within

    def is_root(self, root: int) -> bool:
        return root == ROOT

    def takes_part(self, root: int) -> bool:
        return root not in (ROOT, PROC_NULL)

    Dup, Split, Create = intercommunicators.dup, intercommunicators.split, intercommunicators.create
    Idup = begins(Call.Idup, intercommunicators.dup_alone)

    async def Merge(self, high: bool = False) -> Any:
        """One group of both."""
        return await intercommunicators.merge(self, high)

    Barrier, Bcast = intercollectives.barrier, intercollectives.bcast
    Gather, Gatherv = intercollectives.gather, intercollectives.gatherv
    Scatter, Scatterv = intercollectives.scatter, intercollectives.scatterv
    Allgather, Allgatherv = intercollectives.allgather, intercollectives.allgatherv
    Alltoall, Alltoallv = intercollectives.alltoall, intercollectives.alltoallv
    Alltoallw = intercollectives.alltoallw
    Reduce, Allreduce = intercollectives.reduce, intercollectives.allreduce
    Reduce_scatter = intercollectives.reduce_scatter
    Scan, Exscan = intercollectives.scan, intercollectives.scan
