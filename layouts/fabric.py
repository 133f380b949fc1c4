"""The graph of switches: where each NIC is attached, the routes between NICs, and the buffers of
the links.

The nodes of a graph are wire addresses: those of the NICs. Where each node has one NIC, they are
the nodes' numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Any

from .doors import TOPOLOGIES
from .packet import FLIT_BYTES, encode_displacement, encode_route

__all__ = ["SWITCH_PIPELINE", "Graph", "MeshPort", "Routing", "graph_of", "link_depth"]

SWITCH_PIPELINE = 8
"""Flits of room that a link into a switch has beyond ``link.buffer``, because of
``switch.latency``."""
_SLACK = 3
"""Flits of room beyond ``link.buffer``: one on the wire, one being taken, one whose credit is on
its way back."""


class Routing(Enum):
    """The content of a header's route field."""

    PORTS = "ports"
    """The output port of each switch on the way."""
    DISPLACEMENT = "displacement"
    """How far it is to the right and down in a mesh."""


class MeshPort(IntEnum):
    """The ports of a mesh's switch."""

    RIGHT = 0
    LEFT = 1
    DOWN = 2
    UP = 3
    NODE = 4


def link_depth(buffer: int, pipeline: int = 0) -> int:
    """Flits that a link's buffer of ``buffer`` bytes holds, and so the number of its credits.
    ``pipeline``: additional flits for the latency of what follows the link."""
    return buffer // FLIT_BYTES + _SLACK + pipeline


@dataclass(frozen=True)
class Graph:
    """Switches of ``ports`` ports; ``places[node]`` is its (switch, port), ``trunks`` are pairs of
    (switch, port) joined by a link each way. Of several shortest ways from a switch a packet takes
    the one of the lowest port, or, if ``spread``, the one that its destination's number chooses.
    ``routing``: how routes tell the way. ``ways``: the output ports from one node to another, where
    they are not those of a shortest way."""

    switches: int
    ports: int
    places: tuple[tuple[int, int], ...]
    trunks: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    spread: bool = False
    routing: Routing = Routing.PORTS
    ways: Mapping[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)

    def neighbours(self, switch: int) -> list[tuple[int, int]]:
        """(port, switch behind it) of each of the switch's trunks, by port."""
        return sorted((port, far) for one, other in self.trunks
                      for (near, port), (far, _) in ((one, other), (other, one)) if near == switch)

    def _distances(self, to: int) -> dict[int, int]:
        """Trunks from each switch to ``to``."""
        found = {to: 0}
        frontier = [to]
        while frontier:
            reached = [far for near in frontier for _, far in self.neighbours(near)
                       if far not in found]
            found |= {far: found[frontier[0]] + 1 for far in reached}
            frontier = list(dict.fromkeys(reached))
        return found

    def way(self, source: int, destination: int) -> list[int]:
        """Output ports from ``source`` to ``destination``: those of :attr:`ways`, or by the fewest
        hops."""
        if (source, destination) in self.ways:
            return list(self.ways[source, destination])
        here, (end, port) = self.places[source][0], self.places[destination]
        left = self._distances(end)
        if here not in left:
            raise ValueError(f"no way from node {source} to node {destination}")
        ports = []
        while here != end:
            nearer = [step for step in self.neighbours(here) if left[step[1]] < left[here]]
            out, here = nearer[destination % len(nearer) if self.spread else 0]
            ports.append(out)
        return [*ports, port]

    def route(self, source: int, destination: int) -> int:
        """The header's route field from ``source`` to ``destination``."""
        way = self.way(source, destination)
        if self.routing is Routing.PORTS:
            return encode_route(way)
        return encode_displacement(way.count(MeshPort.RIGHT) - way.count(MeshPort.LEFT),
                                   way.count(MeshPort.DOWN) - way.count(MeshPort.UP))


def graph_of(description: Any) -> Graph:
    """The graph of a description's fabric: of its wire addresses, NIC ``k`` of node ``n`` being
    ``n * node.nics + k``.

    Raises
    ------
    ValueError
        The topology (``fabric.topology``) has no room for so many.
    """
    nics = description.node.nics
    what = "fabric.nodes" if nics == 1 else "fabric.nodes * node.nics"
    kind = TOPOLOGIES.get(description.fabric.topology)
    return kind.graph(description, description.fabric.nodes * nics, what)
