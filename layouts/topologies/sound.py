"""Checks a graph of switches: every node reaches every other node, and packets never wait for each
other in a circle."""

from collections.abc import Iterator

from ..fabric import Graph, MeshPort, Routing
from ..packet import HOPS

__all__ = ["check_graph"]

Place = tuple[int, int]


def check_graph(graph: Graph) -> None:
    """Refuse a graph on which packets would be lost or stop.

    Packets go wormhole: one that waits for a trunk holds those behind it. A circle of trunks, each
    of which is held by a packet that waits for the next, is a deadlock. There is none if the trunks
    can be put in an order in which all routes take them (Dally and Seitz, 1987).

    Raises
    ------
    ValueError
        A port does not exist, or is used twice; there is no way between two nodes, or it is longer
        than a header's route, or is none of the graph's; or routes could deadlock.
    """
    behind = _trunks(graph)
    after: dict[Place, set[Place]] = {}
    nodes = len(graph.places)
    for source in range(nodes):
        for destination in range(nodes):
            if source != destination:
                taken = list(_taken(graph, behind, source, destination))
                for near, far in zip(taken, taken[1:], strict=False):
                    after.setdefault(near, set()).add(far)
    if circle := _circle(after):
        ports = " → ".join(f"{switch}.{port}" for switch, port in circle)
        raise ValueError(f"packets could wait for each other in a circle of trunks: {ports}; give "
                         "ways (routes) that do not close it")


def _trunks(graph: Graph) -> dict[Place, Place]:
    """The place at the other end of each trunk's."""
    used: set[Place] = set()
    for place in [*graph.places, *(end for trunk in graph.trunks for end in trunk)]:
        switch, port = place
        if not (0 <= switch < graph.switches and 0 <= port < graph.ports):
            raise ValueError(f"{switch}.{port}: there are switches 0 to {graph.switches - 1} of "
                             f"ports 0 to {graph.ports - 1}")
        if place in used:
            raise ValueError(f"{switch}.{port}: this port is used twice")
        used.add(place)
    return {near: far for ends in graph.trunks for near, far in (ends, ends[::-1])}


def _taken(graph: Graph, behind: dict[Place, Place], source: int, destination: int
           ) -> Iterator[Place]:
    """The trunks from ``source`` to ``destination``, each as the port that leads into it."""
    way = graph.way(source, destination)
    if graph.routing is Routing.PORTS and len(way) > HOPS:
        raise ValueError(f"the way from node {source} to node {destination} passes {len(way)} "
                         f"switches: a route has at most {HOPS} (or routing = 'displacement')")
    graph.route(source, destination)
    if graph.routing is Routing.DISPLACEMENT and not _is_row_first(way):
        raise ValueError(f"the way from node {source} to node {destination}, {way}, is none of a "
                         "displacement: along a row, then along a column, then port 4")
    here = graph.places[source][0]
    for port in way[:-1]:
        if (here, port) not in behind:
            raise ValueError(f"the way from node {source} to node {destination} leaves by "
                             f"{here}.{port}, where there is no trunk")
        yield here, port
        here = behind[here, port][0]
    if (here, way[-1]) != graph.places[destination]:
        raise ValueError(f"the way from node {source} to node {destination} ends at "
                         f"{here}.{way[-1]}, not at the node")


def _is_row_first(way: list[int]) -> bool:
    row = [port for port in way if port in (MeshPort.RIGHT, MeshPort.LEFT)]
    column = [port for port in way if port in (MeshPort.DOWN, MeshPort.UP)]
    return (way == [*row, *column, MeshPort.NODE] and len({*row}) <= 1 and len({*column}) <= 1)


def _circle(after: dict[Place, set[Place]]) -> list[Place]:
    """A circle of ``after``, its first place again at its end; empty if there is none."""
    done: set[Place] = set()
    for start in sorted(after):
        stack: list[Iterator[Place]] = [iter(sorted(after[start]))]
        path = [start] if start not in done else []
        while path:
            following = next(stack[-1], None)
            if following is None:
                done.add(path.pop())
                stack.pop()
            elif following in path:
                return [*path[path.index(following):], following]
            elif following not in done:
                path.append(following)
                stack.append(iter(sorted(after.get(following, ()))))
    return []
