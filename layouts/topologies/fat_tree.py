"""A fat tree of two levels: leaves with nodes, and roots."""

from typing import TYPE_CHECKING

from ..doors import Topology
from ..fabric import Graph

if TYPE_CHECKING:
    from ..description import Description

__all__ = ["FAT_TREE", "FatTree", "fat_tree"]


class FatTree(Topology):
    """Two levels, leaves and roots: :func:`fat_tree` by the knobs of fabric."""

    name = "fat_tree"
    title = "two levels: leaves with nodes, each joined to every root"

    def graph(self, description: "Description", addresses: int, what: str) -> Graph:
        return fat_tree(addresses, description.fabric.uplinks, description.switch.ports, what)


def fat_tree(nodes: int, uplinks: int, ports: int, what: str = "fabric.nodes") -> Graph:
    """Leaves with up to ``ports - uplinks`` nodes each, filled in order, and ``uplinks`` roots,
    which each leaf is joined to by a trunk; the nodes are on the lower ports of a leaf, the trunks
    behind them. A packet for another leaf goes by the root that its destination's number chooses.
    The leaves are the first switches, the roots the last. ``what``: their
    number in a message.

    Raises
    ------
    ValueError
        A leaf has no port left for nodes, or a root has too few for all leaves.
    """
    if uplinks >= ports:
        raise ValueError(f"fabric.uplinks = {uplinks}: a leaf of {ports} ports (switch.ports) has "
                         "none left for nodes")
    room = ports - uplinks
    leaves = -(-nodes // room)
    if leaves > ports:
        raise ValueError(f"{what} = {nodes}: {leaves} leaves with {room} nodes each, but a "
                         f"root has {ports} ports (switch.ports)")
    places = tuple((node // room, node % room) for node in range(nodes))
    trunks = tuple(((leaf, room + root), (leaves + root, leaf))
                   for leaf in range(leaves) for root in range(uplinks))
    return Graph(leaves + uplinks, ports, places, trunks, spread=True)


FAT_TREE = FatTree()
