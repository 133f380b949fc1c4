"""A layer's position on the wire: on a node as a whole, or on one of its several NICs."""

from collections.abc import Iterable

from ...layouts.operations import NIC_BYTES
from .host import Host

__all__ = ["Position", "nics_in_words", "on_nic", "whole"]


class Position:
    """NIC ``nic`` of ``nics`` of the node ``home``; or the node as a whole, which counts as its
    only NIC. Layers count in wire addresses, of which each node has ``nics``.

    Attributes
    ----------
    number, nodes
        Wire address, and the number of wire addresses.
    active
        Wire addresses of the layer's peers, and as a rule its own.
    nic_offset
        What the NIC's addresses have beyond those of NIC 0 (layouts.operations.NIC_BASE).
    """

    __slots__ = ("home", "nic", "nics", "number", "nodes", "active", "nic_offset")

    def __init__(self, home: int, nodes: int, active: Iterable[int], nic: int = 0,
                 nics: int = 1) -> None:
        self.home = home
        self.nic = nic
        self.nics = nics
        self.number = home * nics + nic
        self.nodes = nodes * nics
        self.active = tuple(active)
        self.nic_offset = nic * NIC_BYTES

    @property
    def place(self) -> str:
        """It, in words."""
        node = f"node {self.home}"
        return node if self.nics == 1 else f"{node}, NIC {self.nic}"

    def address_on(self, node: int) -> int:
        """The wire address of the same position on ``node``."""
        return node * self.nics + self.nic

    def node_of(self, address: int) -> int:
        """The node that has ``address``."""
        return address // self.nics


def whole(host: Host) -> Position:
    """The node as a whole."""
    return Position(host.number, host.description.fabric.nodes, host.active)


def on_nic(host: Host, nic: int, peers: Iterable[int] | None) -> Position:
    """NIC ``nic`` of the node; :meth:`.Node.nic` tells of ``peers`` and errors."""
    nodes = host.description.fabric.nodes
    cpus, nics = host.description.node.cpus, host.description.node.nics
    if not 0 <= nic < nics:
        raise ValueError(f"node {host.number} has {nics_in_words(nics)} (node.nics): there is no "
                         f"NIC {nic}")
    addresses = range(nodes * nics)
    if peers is None:
        found = {address for address in addresses
                 if address // nics * cpus + address % nics % cpus in host.running}
    else:
        found = set(peers)
        for peer in found:
            if peer not in addresses:
                raise ValueError(f"there is no wire address {peer}: {nodes} nodes with "
                                 f"{nics_in_words(nics)} each have 0 to {addresses[-1]}")
    found.add(host.number * nics + nic)
    return Position(host.number, nodes, sorted(found), nic, nics)


def nics_in_words(count: int) -> str:
    """So many NICs."""
    return "1 NIC" if count == 1 else f"{count} NICs"
