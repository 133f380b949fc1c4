"""The objects of a node by handle and number: regions, VIs, completion queues, open NICs."""

from collections import deque

from ..port.node import Node
from .handles import Cq, Nic, Vi
from .regions import Region

__all__ = ["Records"]


class Records:
    """The records of the kernel agent.

    Attributes
    ----------
    regions, vis, cqs
        All regions, VIs and completion queues of the node, by handle and number.
    nics
        All open NIC handles.
    free_vis, free_cqs
        Free numbers of VIs and of completion queues.
    max_vis
        Most VIs of the node.
    """

    def __init__(self, node: Node) -> None:
        via = node.description.via
        self.regions: dict[int, Region] = {}
        self.vis: dict[int, Vi] = {}
        self.cqs: dict[int, Cq] = {}
        self.nics: list[Nic] = []
        self.max_vis = via.vis
        self.free_vis = deque(range(via.vis))
        self.free_cqs = deque(range(via.cqs))

    def limit_vis(self, count: int) -> None:
        """Limit the number of VIs to ``count``, the room in the NIC. To be called before any VI
        exists."""
        self.max_vis = min(self.max_vis, count)
        self.free_vis = deque(range(self.max_vis))
