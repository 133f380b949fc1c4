"""Communicators with a topology: the classes Cartcomm, Graphcomm and Distgraphcomm, and the calls
that make them."""

from collections.abc import Iterable, Sequence
from typing import Any

from ... import topologies
from ...collective.neighbours import neighbours
from ...constants import UNDEFINED
from .. import python_objects
from ..constants import Constant
from ..errors import told
from ..info import Info
from ..messages import simple, typed, vector
from .comm import Intracomm
from .ways import all_ways

__all__ = ["Cartcomm", "Distgraphcomm", "Graphcomm", "Topocomm", "UNWEIGHTED", "WEIGHTS_EMPTY"]

class WeightsType(Constant):
    """The constants that stand for the weights of a graph."""

    def __new__(cls, value: int, name: str) -> "WeightsType":
        made = super().__new__(cls, value)
        made._name = name
        return made


UNWEIGHTED, WEIGHTS_EMPTY = WeightsType(-3, "UNWEIGHTED"), WeightsType(-4, "WEIGHTS_EMPTY")
"""As weights: the graph has none; it has, of no edge."""


# What calls among neighbours ask of the library

def _counts(comm: Any) -> tuple[int, int]:
    with told(comm.inner):
        sources, destinations = neighbours(comm.inner, "a call among neighbours")
        return len(sources), len(destinations)
    raise AssertionError


def _gather(comm: Any, sendbuf: Any, recvbuf: Any) -> tuple[Any, ...]:
    """The buffer to each destination, a part from each source."""
    return simple(sendbuf, True), simple(recvbuf, False, _counts(comm)[0])


def _gatherv(comm: Any, sendbuf: Any, recvbuf: Any) -> tuple[Any, ...]:
    """The same with parts of their own lengths."""
    return simple(sendbuf, True), vector(recvbuf, False, _counts(comm)[0])


def _all(comm: Any, sendbuf: Any, recvbuf: Any) -> tuple[Any, ...]:
    """A part to each destination, one from each source."""
    sources, destinations = _counts(comm)
    return simple(sendbuf, True, destinations), simple(recvbuf, False, sources)


def _allv(comm: Any, sendbuf: Any, recvbuf: Any) -> tuple[Any, ...]:
    """The same with parts of their own lengths."""
    sources, destinations = _counts(comm)
    return vector(sendbuf, True, destinations), vector(recvbuf, False, sources)


def _allw(comm: Any, sendbuf: Any, recvbuf: Any) -> tuple[Any, ...]:
    """The same with datatypes of their own."""
    sources, destinations = _counts(comm)
    return typed(sendbuf, True, destinations), typed(recvbuf, False, sources)


class Topocomm(Intracomm):
    """A communicator with a topology, of ``kind``."""

    topology_kind: type[topologies.Topology] = topologies.Topology

    @classmethod
    def _fits(cls, comm: Any) -> bool:
        return isinstance(comm.inner.topology, cls.topology_kind)

    Neighbor_allgather, Ineighbor_allgather, Neighbor_allgather_init = all_ways(
        "Neighbor_allgather", _gather)
    Neighbor_allgatherv, Ineighbor_allgatherv, Neighbor_allgatherv_init = all_ways(
        "Neighbor_allgatherv", _gatherv)
    Neighbor_alltoall, Ineighbor_alltoall, Neighbor_alltoall_init = all_ways(
        "Neighbor_alltoall", _all)
    Neighbor_alltoallv, Ineighbor_alltoallv, Neighbor_alltoallv_init = all_ways(
        "Neighbor_alltoallv", _allv)
    Neighbor_alltoallw, Ineighbor_alltoallw, Neighbor_alltoallw_init = all_ways(
        "Neighbor_alltoallw", _allw)

    def neighbor_allgather(self, sendobj: Any) -> list[Any]:
        _counts(self)
        return self._wait(python_objects.neighbor_allgather(self.inner, sendobj))

    def neighbor_alltoall(self, sendobj: Iterable[Any]) -> list[Any]:
        _counts(self)
        return self._wait(python_objects.neighbor_alltoall(self.inner, sendobj))

    @property
    def degrees(self) -> tuple[int, int]:
        return _counts(self)

    @property
    def indegree(self) -> int:
        return _counts(self)[0]

    @property
    def outdegree(self) -> int:
        return _counts(self)[1]

    @property
    def inoutedges(self) -> tuple[list[int], list[int]]:
        return self.inedges, self.outedges

    @property
    def inedges(self) -> list[int]:
        with told(self.inner):
            return list(neighbours(self.inner, "inedges")[0])
        raise AssertionError

    @property
    def outedges(self) -> list[int]:
        with told(self.inner):
            return list(neighbours(self.inner, "outedges")[1])
        raise AssertionError

    def _as(self, kind: type[topologies.Topology], call: str) -> Any:
        """Its topology, which must be of this ``kind``."""
        with told(self.inner):
            return topologies.needed(self.inner, kind, call)
        raise AssertionError


class Cartcomm(Topocomm):
    """A grid."""

    topology_kind = topologies.Cartesian

    def _grid(self, call: str) -> topologies.Cartesian:
        return self._as(topologies.Cartesian, call)

    def Get_dim(self) -> int:
        return len(self._grid("Get_dim").dims)

    dim = property(Get_dim)
    ndim = property(Get_dim)

    def Get_topo(self) -> tuple[list[int], list[int], list[int]]:
        grid = self._grid("Get_topo")
        return list(grid.dims), [int(one) for one in grid.periods], grid.coords(self.rank)

    topo = property(Get_topo)

    @property
    def dims(self) -> list[int]:
        return self.Get_topo()[0]

    @property
    def periods(self) -> list[int]:
        return self.Get_topo()[1]

    @property
    def coords(self) -> list[int]:
        return self.Get_topo()[2]

    def Get_cart_rank(self, coords: Sequence[int]) -> int:
        grid = self._grid("Get_cart_rank")
        if len(coords) != len(grid.dims):
            raise ValueError(f"expecting {len(grid.dims)} items, got {len(coords)}")
        with told(self.inner):
            return grid.rank(coords)
        raise AssertionError

    def Get_coords(self, rank: int) -> list[int]:
        with told(self.inner):
            return self._grid("Get_coords").coords(rank)
        raise AssertionError

    def Shift(self, direction: int, disp: int) -> tuple[int, int]:
        with told(self.inner):
            return self._grid("Shift").shift(self.rank, direction, disp)
        raise AssertionError

    def Sub(self, remain_dims: Sequence[bool]) -> "Cartcomm":
        count = len(self._grid("Sub").dims)
        if len(remain_dims) != count:
            raise ValueError(f"expecting {count} items, got {len(remain_dims)}")
        return self._made(self._wait(self.inner.Cart_sub(remain_dims)), Cartcomm)


class Graphcomm(Topocomm):
    """A graph that every rank knows as a whole."""

    topology_kind = topologies.Graph

    def _graph(self, call: str) -> topologies.Graph:
        return self._as(topologies.Graph, call)

    def Get_dims(self) -> tuple[int, int]:
        graph = self._graph("Get_dims")
        return graph.size, len(graph.edges)

    dims = property(Get_dims)

    @property
    def nnodes(self) -> int:
        return self.Get_dims()[0]

    @property
    def nedges(self) -> int:
        return self.Get_dims()[1]

    def Get_topo(self) -> tuple[list[int], list[int]]:
        graph = self._graph("Get_topo")
        return list(graph.index), list(graph.edges)

    topo = property(Get_topo)

    @property
    def index(self) -> list[int]:
        return self.Get_topo()[0]

    @property
    def edges(self) -> list[int]:
        return self.Get_topo()[1]

    def Get_neighbors_count(self, rank: int) -> int:
        return len(self.Get_neighbors(rank))

    def Get_neighbors(self, rank: int) -> list[int]:
        with told(self.inner):
            return list(self._graph("Get_neighbors").sources(rank))
        raise AssertionError

    @property
    def nneighbors(self) -> int:
        return self.Get_neighbors_count(self.rank)

    @property
    def neighbors(self) -> list[int]:
        return self.Get_neighbors(self.rank)


class Distgraphcomm(Topocomm):
    """A graph of which each rank knows its own edges."""

    topology_kind = topologies.Distributed

    def Get_dist_neighbors_count(self) -> tuple[int, int, bool]:
        graph: topologies.Distributed = self._as(topologies.Distributed, "Get_dist_neighbors_count")
        return len(graph.froms), len(graph.tos), graph.weights is not None

    def Get_dist_neighbors(self) -> tuple[list[int], list[int],
                                          tuple[list[int], list[int]] | None]:
        graph: topologies.Distributed = self._as(topologies.Distributed, "Get_dist_neighbors")
        return list(graph.froms), list(graph.tos), graph.weights


# The calls of an intracommunicator that make them

def _grid_of(dims: Any, periods: Any) -> tuple[list[int], list[bool]]:
    sizes = [int(dims)] if not isinstance(dims, Iterable) else [int(one) for one in dims]
    if periods is None:
        periods = False
    cyclic = ([bool(one) for one in periods] if isinstance(periods, Iterable)
              else [bool(periods)] * len(sizes))
    if len(cyclic) != len(sizes):
        raise ValueError(f"expecting {len(sizes)} items, got {len(cyclic)}")
    return sizes, cyclic


def _weights(weights: Any, count: int) -> list[int] | None:
    if weights is None or weights is UNWEIGHTED:
        return None
    found: list[int] = [] if weights is WEIGHTS_EMPTY else [int(one) for one in weights]
    if len(found) != count:
        raise ValueError(f"expecting {count} items, got {len(found)}")
    return found


def create_cart(self: Intracomm, dims: Any, periods: Any = None, reorder: bool = False
                ) -> Cartcomm:
    """The first ranks as a grid."""
    made: Cartcomm = self._made(self._wait(self.inner.Create_cart(*_grid_of(dims, periods))),
                                Cartcomm)
    return made


def create_graph(self: Intracomm, index: Sequence[int], edges: Sequence[int],
                 reorder: bool = False) -> Graphcomm:
    """The first ranks as a graph. As in mpi4py, ``index`` may begin with a 0 of its own."""
    made: Graphcomm = self._made(self._wait(self.inner.Create_graph(*_graph_of(index, edges))),
                                 Graphcomm)
    return made


def _graph_of(index: Sequence[int], edges: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    return (index[1:] if len(index) and index[0] == 0 else index), edges


def create_dist_graph_adjacent(
        self: Intracomm, sources: Sequence[int] | None, destinations: Sequence[int] | None,
        sourceweights: Any = None, destweights: Any = None, info: Info | None = None,
        reorder: bool = False) -> Distgraphcomm:
    """A graph of which each rank gives its own edges; None are none."""
    sources = [] if sources is None else sources
    destinations = [] if destinations is None else destinations
    made: Distgraphcomm = self._made(self._wait(self.inner.Create_dist_graph_adjacent(
        sources, destinations, _weights(sourceweights, len(sources)),
        _weights(destweights, len(destinations)))), Distgraphcomm)
    return made


def create_dist_graph(self: Intracomm, sources: Sequence[int], degrees: Any,
                      destinations: Sequence[int], weights: Any = None, info: Info | None = None,
                      reorder: bool = False) -> Distgraphcomm:
    """A graph of which each rank gives any edges."""
    many = list(degrees) if isinstance(degrees, Iterable) else [int(degrees)] * len(sources)
    if len(many) != len(sources):
        raise ValueError(f"expecting {len(sources)} items, got {len(many)}")
    count = sum(many)
    if len(destinations) != count:
        raise ValueError(f"expecting {count} items, got {len(destinations)}")
    made: Distgraphcomm = self._made(self._wait(self.inner.Create_dist_graph(
        sources, many, destinations, _weights(weights, count))), Distgraphcomm)
    return made


def cart_map(self: Intracomm, dims: Any, periods: Any = None) -> int:
    """The rank that this one would have in a grid: it keeps its own."""
    with told(self.inner):
        return _place(self, topologies.Cartesian(*_grid_of(dims, periods)).size)
    raise AssertionError


def graph_map(self: Intracomm, index: Sequence[int], edges: Sequence[int]) -> int:
    """The rank that this one would have in a graph: it keeps its own."""
    with told(self.inner):
        return _place(self, topologies.Graph(*_graph_of(index, edges)).size)
    raise AssertionError


def _place(comm: Intracomm, count: int) -> int:
    return comm.rank if comm.rank < count else UNDEFINED


Intracomm.Create_cart, Intracomm.Cart_map = create_cart, cart_map
Intracomm.Create_graph, Intracomm.Graph_map = create_graph, graph_map
Intracomm.Create_dist_graph = create_dist_graph
Intracomm.Create_dist_graph_adjacent = create_dist_graph_adjacent
