"""The graph of switches: where each NIC is attached, the routes between NICs, and the buffers of
the links.

The nodes of a graph are wire addresses: those of the NICs. Where each node has one NIC, they are
the nodes' numbers."""

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any

from .packet import FLIT_BYTES, encode_displacement, encode_route

__all__ = ["SWITCH_PIPELINE", "MeshPort", "Routing", "Topology", "chain", "fat_tree", "link_depth",
           "mesh", "topology"]

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
class Topology:
    """Switches of ``ports`` ports; ``places[node]`` is its (switch, port), ``trunks`` are pairs of
    (switch, port) joined by a link each way. Of several shortest ways from a switch a packet takes
    the one of the lowest port, or, if ``spread``, the one that its destination's number chooses.
    ``routing``: how routes tell the way."""

    switches: int
    ports: int
    places: tuple[tuple[int, int], ...]
    trunks: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    spread: bool = False
    routing: Routing = Routing.PORTS

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
        """Output ports from ``source`` to ``destination``, by the fewest hops."""
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


def chain(nodes: int, switches: int, ports: int, what: str = "fabric.nodes") -> Topology:
    """``switches`` crossbars in a row, a trunk between neighbours on the last port of the left and
    the first port of the right; nodes fill the other ports in order, spread evenly. ``what``: what
    a message calls their number.

    Raises
    ------
    ValueError
        There is no room for so many nodes.
    """
    room = switches * ports - 2 * (switches - 1)
    if nodes > room:
        some = "switches" if switches > 1 else "switch"
        enough = -(-(nodes + 2 * (switches - 1)) // switches)
        raise ValueError(f"{what} = {nodes}: {switches} {some} (fabric.switches) of {ports} "
                         f"ports with room for {room} nodes; switch.ports = {enough} would be "
                         "enough" + (", or fabric.topology = 'fat_tree'" if enough > 16 else ""))
    trunks = tuple(((left, ports - 1), (left + 1, 0)) for left in range(switches - 1))
    taken = {end for trunk in trunks for end in trunk}
    free = [[(switch, port) for port in range(ports) if (switch, port) not in taken]
            for switch in range(switches)]
    share = [len(places) for places in free]
    count = [0] * switches
    for _ in range(nodes):
        switch = min((s for s in range(switches) if count[s] < share[s]), key=lambda s: count[s])
        count[switch] += 1
    places = tuple(place for switch in range(switches) for place in free[switch][:count[switch]])
    return Topology(switches, ports, places, trunks)


def fat_tree(nodes: int, uplinks: int, ports: int, what: str = "fabric.nodes") -> Topology:
    """Leaves with up to ``ports - uplinks`` nodes each, filled in order, and ``uplinks`` roots,
    which each leaf is joined to by a trunk; the nodes are on the lower ports of a leaf, the trunks
    behind them. A packet for another leaf goes by the root that its destination's number chooses.
    The leaves are the first switches, the roots the last. ``what``: as of :func:`chain`.

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
    return Topology(leaves + uplinks, ports, places, trunks, spread=True)


def mesh(nodes: int, columns: int, ports: int, what: str = "fabric.nodes") -> Topology:
    """A switch a node, ``columns`` in a row, with the ports :class:`MeshPort`. Packets go along the
    row first, so that they cannot wait for each other in a circle; routes are displacements.
    ``what``: as of :func:`chain`.

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
    return Topology(nodes, len(MeshPort), tuple((node, MeshPort.NODE) for node in range(nodes)),
                    across + down, routing=Routing.DISPLACEMENT)


def topology(description: Any) -> Topology:
    """The topology of a description's fabric: of its wire addresses, NIC ``k`` of node ``n`` being
    ``n * node.nics + k``.

    Raises
    ------
    ValueError
        As :func:`chain`, :func:`fat_tree` and :func:`mesh`.
    """
    fabric, ports = description.fabric, description.switch.ports
    nics = description.node.nics
    addresses = fabric.nodes * nics
    what = "fabric.nodes" if nics == 1 else "fabric.nodes * node.nics"
    if fabric.topology == "fat_tree":
        return fat_tree(addresses, fabric.uplinks, ports, what)
    if fabric.topology == "mesh":
        return mesh(addresses, fabric.columns, ports, what)
    return chain(addresses, fabric.switches, ports, what)
