"""The graph of switches: where each node is attached, the routes between nodes, and the buffers of
the links."""

from dataclasses import dataclass

from .packet import FLIT_BYTES, encode_route

__all__ = ["SWITCH_PIPELINE", "Topology", "chain", "link_depth"]

SWITCH_PIPELINE = 8
"""Flits of room that a link into a switch has beyond ``link.buffer``, because of
``switch.latency``."""
_SLACK = 3
"""Flits of room beyond ``link.buffer``: one on the wire, one being taken, one whose credit is on
its way back."""


def link_depth(buffer: int, pipeline: int = 0) -> int:
    """Flits that a link's buffer of ``buffer`` bytes holds, and so the number of its credits.
    ``pipeline``: additional flits for the latency of what follows the link."""
    return buffer // FLIT_BYTES + _SLACK + pipeline


@dataclass(frozen=True)
class Topology:
    """Switches of ``ports`` ports; ``places[node]`` is its (switch, port), ``trunks`` are pairs of
    (switch, port) joined by a link each way."""

    switches: int
    ports: int
    places: tuple[tuple[int, int], ...]
    trunks: tuple[tuple[tuple[int, int], tuple[int, int]], ...]

    def way(self, source: int, destination: int) -> list[int]:
        """Output ports from ``source`` to ``destination``, by the fewest hops."""
        here, there = self.places[source][0], self.places[destination]
        ways: dict[int, list[int]] = {here: []}
        frontier = [here]
        while there[0] not in ways:
            reached = []
            for switch in frontier:
                for ends in self.trunks:
                    for (near, port), (far, _) in (ends, ends[::-1]):
                        if near == switch and far not in ways:
                            ways[far] = [*ways[switch], port]
                            reached.append(far)
            if not reached:
                raise ValueError(f"no way from node {source} to node {destination}")
            frontier = reached
        return [*ways[there[0]], there[1]]

    def route(self, source: int, destination: int) -> int:
        """The header's route field from ``source`` to ``destination``."""
        return encode_route(self.way(source, destination))


def chain(nodes: int, switches: int, ports: int) -> Topology:
    """``switches`` crossbars in a row, a trunk between neighbours on the last port of the left and
    the first port of the right; nodes fill the other ports in order, spread evenly."""
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
