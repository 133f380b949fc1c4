"""Communicators with a topology. Ranks are not reordered: a process has the rank that it had."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..calls import Call, called
from ..communicators.groups import Group
from ..communicators.making import agreed
from ..errors import ErrorClass, MpiError
from .cartesian import Cartesian
from .distributed import Distributed
from .graph import Graph
from .topology import Topology

__all__ = ["create_cart", "create_dist_graph", "create_dist_graph_adjacent", "create_graph",
           "needed", "sub"]


def needed(comm: Any, kind: type[Topology], call: str) -> Any:
    """The topology of ``comm``, which must be of this ``kind``.

    Raises
    ------
    MpiError
        It has none, or another one.
    """
    if not isinstance(comm.topology, kind):
        found = "no" if comm.topology is None else f"a {comm.topology.name}"
        raise MpiError(ErrorClass.ERR_TOPOLOGY, f"rank {comm.rank}: {call}: {comm.name} has "
                       f"{found} topology", [comm])
    return comm.topology


async def _first(comm: Any, count: int, name: str, topology: Topology, call: str) -> Any:
    """The first ``count`` processes, which lie so; None at the others."""
    if count > comm.size:
        raise MpiError(ErrorClass.ERR_TOPOLOGY, f"rank {comm.rank}: {call}: {count} processes, and "
                       f"{comm.name} has {comm.size}")
    group = Group(comm.group.world_ranks[:count], comm.group.me)
    made = await agreed(comm, group, f"{comm.name}.{name}")
    if made is not None:
        made.topology = topology
    return made


@called(Call.Create_cart)
async def create_cart(comm: Any, dims: Sequence[int], periods: Sequence[object]) -> Any:
    """A grid of the first ranks; None at those that have no place in it.

    Raises
    ------
    MpiError
        A dimension is not positive, or there are fewer processes than places.
    """
    topology = Cartesian(dims, periods)
    return await _first(comm, topology.size, "Create_cart", topology, "Create_cart")


@called(Call.Cart_sub)
async def sub(comm: Any, remain: Sequence[object]) -> Any:
    """The grid of the dimensions that ``remain``, of those that have the others in common."""
    topology: Cartesian = needed(comm, Cartesian, "Cart_sub")
    if len(remain) != len(topology.dims):
        raise MpiError(ErrorClass.ERR_DIMS, f"rank {comm.rank}: Cart_sub: {len(remain)} dimensions,"
                       f" and {comm.name} has {len(topology.dims)}")
    number, place, smaller = topology.of(comm.rank, remain)
    made = await comm.Split(number, place)
    made.name = f"{comm.name}.Cart_sub({number})"
    made.topology = smaller
    return made


@called(Call.Create_graph)
async def create_graph(comm: Any, index: Sequence[int], edges: Sequence[int]) -> Any:
    """A graph of the first ranks; None at those that are none of its nodes.

    Raises
    ------
    MpiError
        It is no graph, or there are fewer processes than nodes.
    """
    topology = Graph(index, edges)
    if not topology.size:
        await agreed(comm, Group([], comm.group.me), comm.name)
        return None
    return await _first(comm, topology.size, "Create_graph", topology, "Create_graph")


def _weights(weights: Sequence[int] | None, count: int) -> Sequence[int]:
    return [1] * count if weights is None else weights


def _check(comm: Any, ranks: Sequence[int], weights: Sequence[int], call: str) -> None:
    wrong = [one for one in ranks if not 0 <= one < comm.size]
    if wrong:
        raise MpiError(ErrorClass.ERR_RANK, f"rank {comm.rank}: {call}: there is no rank "
                       f"{wrong[0]} in {comm.name}, which has 0 to {comm.size - 1}")
    if any(one < 0 for one in weights):
        raise MpiError(ErrorClass.ERR_ARG, f"rank {comm.rank}: {call}: a weight of "
                       f"{min(weights)}, {comm.name}: must not be negative")


@called(Call.Create_dist_graph_adjacent)
async def create_dist_graph_adjacent(
        comm: Any, sources: Sequence[int], destinations: Sequence[int],
        source_weights: Sequence[int] | None, destination_weights: Sequence[int] | None) -> Any:
    """A graph of which each rank gives its own edges; None for no weights.

    Raises
    ------
    MpiError
        There is no such rank, or a weight is negative, or one kind of edges alone has weights.
    """
    call = "Create_dist_graph_adjacent"
    if (source_weights is None) != (destination_weights is None):
        raise MpiError(ErrorClass.ERR_ARG, f"rank {comm.rank}: {call}: {comm.name}: weights of one "
                       "kind of edges alone")
    weights = (None if source_weights is None or destination_weights is None
               else (source_weights, destination_weights))
    _check(comm, [*sources, *destinations], [one for each in weights or () for one in each], call)
    made = await agreed(comm, comm.group, f"{comm.name}.{call}")
    made.topology = Distributed(sources, destinations, weights)
    return made


@called(Call.Create_dist_graph)
async def create_dist_graph(comm: Any, sources: Sequence[int], degrees: Sequence[int],
                            destinations: Sequence[int], weights: Sequence[int] | None) -> Any:
    """A graph of which each rank gives any edges: of each of ``sources`` as many as ``degrees``
    says. All ranks are told all edges.

    Raises
    ------
    MpiError
        There is no such rank, or a weight or a degree is negative.
    """
    call = "Create_dist_graph"
    if any(one < 0 for one in degrees):
        raise MpiError(ErrorClass.ERR_ARG, f"rank {comm.rank}: {call}: a degree of "
                       f"{min(degrees)}, {comm.name}: must not be negative")
    every = [source for source, degree in zip(sources, degrees, strict=True)
             for _ in range(degree)]
    given = _weights(weights, len(every))
    _check(comm, [*sources, *destinations], given, call)
    mine = np.array([*zip(every, destinations[:len(every)], given, strict=True)], np.int64)
    counts = np.zeros((comm.size, 2), np.int64)
    await comm.Allgather(np.array([len(every), weights is not None], np.int64), counts)
    edges = np.zeros((int(counts[:, 0].sum()), 3), np.int64)
    await comm.Allgatherv(mine.reshape(-1), [edges.reshape(-1), (3 * counts[:, 0]).tolist()])
    weighted = bool(counts[:, 1].any())
    made = await agreed(comm, comm.group, f"{comm.name}.{call}")
    came = edges[edges[:, 1] == comm.rank]
    go = edges[edges[:, 0] == comm.rank]
    made.topology = Distributed(came[:, 0].tolist(), go[:, 1].tolist(),
                                (came[:, 2].tolist(), go[:, 2].tolist()) if weighted else None)
    return made
