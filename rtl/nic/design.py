"""Today's NIC as an object at the door: rings, windows, a VI engine or a processor."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from ...layouts.doors import NicDesign
from ...layouts.doors.lazy import resolved
from ...layouts.registers import REGISTERS, Register

if TYPE_CHECKING:
    from amaranth.hdl import Signal
    from amaranth.lib import wiring

    from ...host.nic.kinds import Driver
    from ...host.port.node import Node
    from ...layouts.description import Description
    from ...layouts.trace import Block
    from ..node.nic_side import NicSide
    from .nic import Nic

__all__ = ["DESIGN", "Rings"]

_NIC = "nicbed.rtl.nic.nic:Nic"


class Rings(NicDesign):
    """The NIC of which the knobs are those of the sections nic, via and processor."""

    name = "rings"
    registers = REGISTERS
    title = "send and receive rings and windows; a VI engine or a processor beside them"

    def registers_of(self, description: "Description") -> Sequence[Register]:
        return resolved("nicbed.rtl.nic.nic:registers_of")(description)

    def side(self, description: "Description", cpus: int) -> "NicSide":
        return resolved("nicbed.rtl.nic.nic:nic_side")(description, cpus)

    def build(self, description: "Description", side: "NicSide", *,
              step: "Signal | None" = None) -> "Nic":
        return resolved(_NIC)(description=description, cpus=side.cpus, step=step)

    def event_blocks(self, nic: "wiring.Component") -> "tuple[Block, ...]":
        return cast("Nic", nic).event_sources

    def kinds(self, description: "Description") -> tuple[type, ...]:
        return resolved("nicbed.host.nic.offers:kinds")(description)

    def driver(self, node: "Node", kind: type) -> "Driver":
        return resolved("nicbed.host.nic.offers:driver")(node, kind)


DESIGN = Rings()
