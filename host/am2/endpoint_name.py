"""Names of endpoints, which all processes may know."""

from typing import NamedTuple

__all__ = ["EndpointName"]


class EndpointName(NamedTuple):
    """Endpoint ``number`` of the process on CPU ``cpu`` of ``node``. Processes of a node share its
    NICs: that of the endpoint is number ``cpu`` modulo ``node.nics``."""

    node: int
    cpu: int
    number: int = 0

    def __str__(self) -> str:
        return f"endpoint {self.number} of node {self.node} CPU {self.cpu}"
