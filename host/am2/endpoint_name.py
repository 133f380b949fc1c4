"""Names of endpoints, which all processes may know."""

from typing import Any, NamedTuple

__all__ = ["EndpointName", "EndpointNumbers"]

MOST = 256
"""Endpoints that a process may have, one after the other: a number is not used again, as messages
may be under way to it."""


class EndpointName(NamedTuple):
    """Endpoint ``number`` of the process on CPU ``cpu`` of ``node``. Processes of a node share its
    NICs: that of the endpoint is number ``cpu`` modulo ``node.nics``."""

    node: int
    cpu: int
    number: int = 0

    def __str__(self) -> str:
        return f"endpoint {self.number} of node {self.node} CPU {self.cpu}"


class EndpointNumbers:
    """The numbers of a process's endpoints. ``node.service(EndpointNumbers)``."""

    def __init__(self, node: Any) -> None:
        self._next = 0

    def draw(self) -> int | None:
        """The next one; None: all have been used."""
        if self._next == MOST:
            return None
        self._next += 1
        return self._next - 1
