"""Calls about topologies."""

from typing import Any

from ..constants import UNDEFINED
from ..errors import ErrorClass, MpiError
from ..topologies import Cartesian, Distributed, Graph, dims_create, needed
from .calls import State
from .handles import value
from .memory import Pointer, integers, put_int

__all__ = ["Topologies"]

UNWEIGHTED, WEIGHTS_EMPTY = value("UNWEIGHTED"), value("WEIGHTS_EMPTY")


class Topologies:
    """Calls that make communicators with a topology, and that tell it."""

    def __init__(self, state: State) -> None:
        self._state = state

    def _made(self, place: Pointer, making: Any) -> None:
        put_int(place, 0)
        made = self._state.wait(making)
        if made is not None:
            made.handle = self._state.handles.comms.add(made)
            put_int(place, made.handle)

    def MPI_Topo_test(self, comm: Any, status: Pointer) -> None:
        put_int(status, UNDEFINED if comm.topology is None else comm.topology.kind)

    # Grids

    def MPI_Dims_create(self, nnodes: int, ndims: int, dims: Pointer) -> None:
        _put(dims, dims_create(nnodes, _some(dims, ndims)))

    def MPI_Cart_create(self, comm: Any, ndims: int, dims: Pointer, periods: Pointer,
                        reorder: int, comm_cart: Pointer) -> None:
        self._made(comm_cart, comm.Create_cart(_some(dims, ndims), _some(periods, ndims)))

    def MPI_Cart_sub(self, comm: Any, remain_dims: Pointer, newcomm: Pointer) -> None:
        ndims = len(_cart(comm, "Cart_sub").dims)
        self._made(newcomm, comm.Cart_sub(_some(remain_dims, ndims)))

    def MPI_Cart_map(self, comm: Any, ndims: int, dims: Pointer, periods: Pointer,
                     newrank: Pointer) -> None:
        self._mapped(comm, Cartesian(_some(dims, ndims), _some(periods, ndims)), newrank)

    @staticmethod
    def _mapped(comm: Any, topology: Any, newrank: Pointer) -> None:
        if topology.size > comm.size:
            raise MpiError(ErrorClass.ERR_DIMS, f"{topology.size} places for {comm.size} ranks, "
                           f"{comm.name}")
        put_int(newrank, comm.rank if comm.rank < topology.size else UNDEFINED)

    def MPI_Cartdim_get(self, comm: Any, ndims: Pointer) -> None:
        put_int(ndims, len(_cart(comm, "Cartdim_get").dims))

    def MPI_Cart_get(self, comm: Any, maxdims: int, dims: Pointer, periods: Pointer,
                     coords: Pointer) -> None:
        grid = _cart(comm, "Cart_get")
        _check_room(maxdims, len(grid.dims), "Cart_get")
        _put(dims, grid.dims)
        _put(periods, map(int, grid.periods))
        _put(coords, grid.coords(comm.rank))

    def MPI_Cart_rank(self, comm: Any, coords: Pointer, rank: Pointer) -> None:
        grid = _cart(comm, "Cart_rank")
        put_int(rank, grid.rank(_some(coords, len(grid.dims))))

    def MPI_Cart_coords(self, comm: Any, rank: int, maxdims: int, coords: Pointer) -> None:
        grid = _cart(comm, "Cart_coords")
        _check_room(maxdims, len(grid.dims), "Cart_coords")
        _put(coords, grid.coords(rank))

    def MPI_Cart_shift(self, comm: Any, direction: int, disp: int, rank_source: Pointer,
                       rank_dest: Pointer) -> None:
        source, dest = _cart(comm, "Cart_shift").shift(comm.rank, direction, disp)
        put_int(rank_source, source)
        put_int(rank_dest, dest)

    # Graphs

    @staticmethod
    def _given(nnodes: int, index: Pointer, edges: Pointer) -> tuple[list[int], list[int]]:
        ends = _some(index, nnodes)
        return ends, _some(edges, max(ends, default=0))

    def MPI_Graph_create(self, comm: Any, nnodes: int, index: Pointer, edges: Pointer,
                         reorder: int, comm_graph: Pointer) -> None:
        self._made(comm_graph, comm.Create_graph(*self._given(nnodes, index, edges)))

    def MPI_Graph_map(self, comm: Any, nnodes: int, index: Pointer, edges: Pointer,
                      newrank: Pointer) -> None:
        self._mapped(comm, Graph(*self._given(nnodes, index, edges)), newrank)

    def MPI_Graphdims_get(self, comm: Any, nnodes: Pointer, nedges: Pointer) -> None:
        graph: Graph = needed(comm, Graph, "Graphdims_get")
        put_int(nnodes, graph.size)
        put_int(nedges, len(graph.edges))

    def MPI_Graph_get(self, comm: Any, maxindex: int, maxedges: int, index: Pointer,
                      edges: Pointer) -> None:
        graph: Graph = needed(comm, Graph, "Graph_get")
        _check_room(maxindex, graph.size, "Graph_get")
        _check_room(maxedges, len(graph.edges), "Graph_get")
        _put(index, graph.index)
        _put(edges, graph.edges)

    def MPI_Graph_neighbors_count(self, comm: Any, rank: int, nneighbors: Pointer) -> None:
        graph: Graph = needed(comm, Graph, "Graph_neighbors_count")
        put_int(nneighbors, len(graph.sources(rank)))

    def MPI_Graph_neighbors(self, comm: Any, rank: int, maxneighbors: int, neighbors: Pointer
                            ) -> None:
        found = needed(comm, Graph, "Graph_neighbors").sources(rank)
        _check_room(maxneighbors, len(found), "Graph_neighbors")
        _put(neighbors, found)

    # Distributed graphs

    def MPI_Dist_graph_create(self, comm: Any, n: int, sources: Pointer, degrees: Pointer,
                              destinations: Pointer, weights: Pointer, info: int, reorder: int,
                              comm_dist_graph: Pointer) -> None:
        many = _some(degrees, n)
        count = sum(many)
        self._made(comm_dist_graph, comm.Create_dist_graph(
            _some(sources, n), many, _some(destinations, count), _weights(weights, count)))

    def MPI_Dist_graph_create_adjacent(
            self, comm: Any, indegree: int, sources: Pointer, sourceweights: Pointer,
            outdegree: int, destinations: Pointer, destweights: Pointer, info: int, reorder: int,
            comm_dist_graph: Pointer) -> None:
        self._made(comm_dist_graph, comm.Create_dist_graph_adjacent(
            _some(sources, indegree), _some(destinations, outdegree),
            _weights(sourceweights, indegree), _weights(destweights, outdegree)))

    def MPI_Dist_graph_neighbors_count(self, comm: Any, indegree: Pointer, outdegree: Pointer,
                                       weighted: Pointer) -> None:
        graph: Distributed = needed(comm, Distributed, "Dist_graph_neighbors_count")
        put_int(indegree, len(graph.froms))
        put_int(outdegree, len(graph.tos))
        put_int(weighted, graph.weights is not None)

    def MPI_Dist_graph_neighbors(self, comm: Any, maxindegree: int, sources: Pointer,
                                 sourceweights: Pointer, maxoutdegree: int, destinations: Pointer,
                                 destweights: Pointer) -> None:
        graph: Distributed = needed(comm, Distributed, "Dist_graph_neighbors")
        _put(sources, graph.froms[:maxindegree])
        _put(destinations, graph.tos[:maxoutdegree])
        if graph.weights is not None:
            for place, weights, most in ((sourceweights, graph.weights[0], maxindegree),
                                         (destweights, graph.weights[1], maxoutdegree)):
                if place not in (UNWEIGHTED, WEIGHTS_EMPTY):
                    _put(place, weights[:most])


def _cart(comm: Any, call: str) -> Cartesian:
    found: Cartesian = needed(comm, Cartesian, call)
    return found


def _some(address: Pointer, count: int) -> list[int]:
    if count < 0:
        raise MpiError(ErrorClass.ERR_ARG, f"{count} dimensions, nodes or edges")
    return integers(address, count)


def _put(address: Pointer, values: Any) -> None:
    found = list(values)
    if found:
        put_int(address, *found)


def _weights(address: Pointer, count: int) -> list[int] | None:
    if address == UNWEIGHTED:
        return None
    return [] if address == WEIGHTS_EMPTY else integers(address, count)


def _check_room(room: int, count: int, call: str) -> None:
    if room < count:
        raise MpiError(ErrorClass.ERR_ARG, f"{call}: room for {room} of {count} numbers")
