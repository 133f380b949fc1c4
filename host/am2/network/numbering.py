"""NIC and number of each endpoint, which all processes know by its name."""

from ....layouts.am2_nic import ENDPOINTS
from ...port.node import Node
from ..endpoint_name import EndpointName

__all__ = ["Numbering"]


class Numbering:
    """The process on CPU ``c`` of a node uses its NIC ``c`` modulo ``node.nics``. Processes of a
    NIC have equal shares of its endpoints (``am2.endpoints``), in their order.

    Attributes
    ----------
    share
        Endpoints of a process.
    """

    def __init__(self, node: Node) -> None:
        description = node.description
        self.nics = nics = description.node.nics
        sharers = -(-description.node.cpus // nics)
        self.share = min(description.am2.endpoints, ENDPOINTS) // sharers

    def place(self, name: EndpointName) -> tuple[int, int]:
        """Wire address of its NIC, and its number there."""
        return (name.node * self.nics + name.cpu % self.nics,
                name.cpu // self.nics * self.share + name.number)

    def name(self, nic: int, number: int) -> EndpointName:
        """The name of endpoint ``number`` of the NIC with this wire address."""
        process, number = divmod(number, self.share)
        return EndpointName(nic // self.nics, nic % self.nics + process * self.nics, number)
