"""A mesh: a switch for each node, in rows and columns."""

from typing import TYPE_CHECKING

from ..doors import Topology
from ..fabric import Graph, MeshPort, Routing

if TYPE_CHECKING:
    from ..description import Description

__all__ = ["MESH", "Mesh", "mesh"]


class Mesh(Topology):
    """A switch for each node, in rows and columns: :func:`mesh` by the knobs of fabric."""

    name = "mesh"
    title = "a switch a node, in rows and columns"

    def graph(self, description: "Description", addresses: int, what: str) -> Graph:
        return mesh(addresses, description.fabric.columns, description.switch.ports, what)


def mesh(nodes: int, columns: int, ports: int, what: str = "fabric.nodes") -> Graph:
    """A switch a node, ``columns`` in a row, with the ports :class:`MeshPort`. Packets go along the
    row first, so that they cannot wait for each other in a circle; routes are displacements.
    ``what``: their number in a message.

    Raises
    ------
    ValueError
        The nodes fill no rectangle, or a switch has less than 5 ports.
    """
    if nodes % columns:
        raise ValueError(f"{what} = {nodes}: a mesh of {columns} columns (fabric.columns) is "
                         "no rectangle then")
    if ports < 5:
        raise ValueError(f"switch.ports = {ports}: must be at least 5 for a mesh")
    across = tuple(((node, MeshPort.RIGHT), (node + 1, MeshPort.LEFT)) for node in range(nodes)
                   if node % columns != columns - 1)
    down = tuple(((node, MeshPort.DOWN), (node + columns, MeshPort.UP))
                 for node in range(nodes - columns))
    return Graph(nodes, len(MeshPort), tuple((node, MeshPort.NODE) for node in range(nodes)),
                    across + down, routing=Routing.DISPLACEMENT)


MESH = Mesh()
