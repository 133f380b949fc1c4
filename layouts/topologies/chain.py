"""A chain: switches in a row."""

from typing import TYPE_CHECKING

from ..doors import Topology
from ..fabric import Graph

if TYPE_CHECKING:
    from ..description import Description

__all__ = ["CHAIN", "Chain", "chain"]


class Chain(Topology):
    """Switches in a row with a trunk between neighbours: :func:`chain` by the knobs of fabric."""

    name = "chain"
    title = "switches in a row, a trunk between neighbours"

    def graph(self, description: "Description", addresses: int, what: str) -> Graph:
        return chain(addresses, description.fabric.switches, description.switch.ports, what)


def chain(nodes: int, switches: int, ports: int, what: str = "fabric.nodes") -> Graph:
    """``switches`` crossbars in a row, a trunk between neighbours on the last port of the left and
    the first port of the right; nodes fill the other ports in order, spread evenly.
    ``what``: their number in a message.

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
    return Graph(switches, ports, places, trunks)


CHAIN = Chain()
