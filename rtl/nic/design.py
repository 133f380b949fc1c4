"""Today's NIC as an object at the door: rings, windows, a VI engine or a processor."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from ...layouts.doors import NicDesign
from ...layouts.doors.lazy import resolved
from ...layouts.doors.trace_stage import TraceStage
from ...layouts.registers import ENGINE_REGISTERS, PROCESSOR_REGISTERS, REGISTERS, Register
from .traced import BLOCKS, ONE_WAY, REQUESTS

if TYPE_CHECKING:
    from amaranth.hdl import Signal
    from amaranth.lib import wiring

    from ...host.nic.kinds import Driver
    from ...host.port.node import Node
    from ...layouts.description import Description
    from ...layouts.trace import Block
    from ..node.nic_side import NicSide
    from .attachment import Attachment
    from .nic import Nic

__all__ = ["DESIGN", "Rings"]


def _attachment(description: "Description") -> "type[Attachment] | None":
    """The class of what is attached to the NIC of ``description``."""
    if description.via.design == "engine":
        return resolved("nicbed.rtl.vi.attached_engine:AttachedEngine")
    if description.nic.processor != "none":
        return resolved("nicbed.rtl.processor.attached_processor:AttachedProcessor")
    return None


class Rings(NicDesign):
    """The NIC that comes with nicbed. Its knobs are the sections nic, via and processor."""

    name = "rings"
    title = "send and receive rings and windows; a VI engine or a processor beside them"
    registers = REGISTERS
    trace = BLOCKS

    def registers_of(self, description: "Description") -> Sequence[Register]:
        lacks = set(ENGINE_REGISTERS if description.via.design != "engine" else ())
        lacks.update(PROCESSOR_REGISTERS if description.nic.processor == "none" else ())
        return tuple(one for one in REGISTERS if one not in lacks)

    def side(self, description: "Description", cpus: int) -> "NicSide":
        return resolved("nicbed.rtl.nic.nic:nic_side")(description, _attachment(description), cpus)

    def build(self, description: "Description", side: "NicSide", *,
              step: "Signal | None" = None) -> "Nic":
        kind = _attachment(description)
        attached = None if kind is None else kind(description=description, step=step)
        return resolved("nicbed.rtl.nic.nic:Nic")(description=description, attached=attached,
                                                  cpus=side.cpus)

    def event_blocks(self, nic: "wiring.Component") -> "tuple[Block, ...]":
        return cast("Nic", nic).event_sources

    def stages(self, *, requests: bool) -> tuple[TraceStage, ...]:
        return REQUESTS if requests else ONE_WAY

    def kinds(self, description: "Description") -> tuple[type, ...]:
        return resolved("nicbed.host.nic.offers:kinds")(description)

    def driver(self, node: "Node", kind: type) -> "Driver":
        return resolved("nicbed.host.nic.offers:driver")(node, kind)


DESIGN = Rings()
