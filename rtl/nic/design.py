"""Today's NIC as an object at the door: rings, windows, a VI engine or a processor."""

from typing import TYPE_CHECKING

from ...layouts.doors import NicDesign
from ...layouts.doors.lazy import resolved

if TYPE_CHECKING:
    from ...host.nic.kinds import Driver
    from ...host.port.node import Node
    from ...layouts.description import Description

__all__ = ["DESIGN", "Rings"]


class Rings(NicDesign):
    """The NIC of which the knobs are those of the sections nic, via and processor."""

    name = "rings"
    title = "send and receive rings and windows; a VI engine or a processor beside them"

    def kinds(self, description: "Description") -> tuple[type, ...]:
        return resolved("nicbed.host.nic.offers:kinds")(description)

    def driver(self, node: "Node", kind: type) -> "Driver":
        return resolved("nicbed.host.nic.offers:driver")(node, kind)


DESIGN = Rings()
