"""Topologies: the neighbours of the processes of a communicator.

In the order in which to read:

- :mod:`.topology`: The base of all topologies
- :mod:`.cartesian`: Grids: dimensions, of which each is periodic or not
- :mod:`.dims`: Chooses the number of processes along each dimension of a grid
- :mod:`.graph`: Graphs that every process knows as a whole
- :mod:`.distributed`: Graphs of which each process knows its own edges
- :mod:`.making`: Communicators with a topology
"""

from .cartesian import Cartesian
from .dims import dims_create
from .distributed import Distributed
from .graph import Graph
from .making import (
    create_cart,
    create_dist_graph,
    create_dist_graph_adjacent,
    create_graph,
    needed,
    sub,
)
from .topology import Topology

__all__ = ["Cartesian", "Distributed", "Graph", "Topology", "create_cart", "create_dist_graph",
           "create_dist_graph_adjacent", "create_graph", "dims_create", "needed", "sub"]
