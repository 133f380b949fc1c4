"""What there is on a node: regions, VIs, completion queues, open NICs, by handle and number."""

from collections import deque

from ..port.node import Node
from .handles import Cq, Nic, Vi
from .regions import Region

__all__ = ["Records"]


class Records:
    """The kernel agent's books.

    Attributes
    ----------
    regions, vis, cqs
        All there are on the node, by handle and number.
    nics
        All open NIC handles.
    free_vis, free_cqs
        Numbers that have no VI, or completion queue.
    max_vis
        VIs that there can be.
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
        """Before there are any: no more than ``count`` VIs have room in the NIC."""
        self.max_vis = min(self.max_vis, count)
        self.free_vis = deque(range(self.max_vis))
