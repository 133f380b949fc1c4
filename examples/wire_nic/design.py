"""wire_nic for the testbed: all that nicbed has to know of it."""

from nicbed import Frames, NicDesign, Section, TraceBlock, structure, timing

from .registers import REGISTERS

__all__ = ["Knobs", "WireNicDesign"]


class Knobs(Section):
    """The knobs of ``[wire_nic]``."""

    slots: int = structure(32, unit="entries", ge=4, le=1024,
                           doc="The receive ring has this many slots, a power of two.")
    gap: int = timing(4, ge=0, le=65535,
                      doc="The NIC waits this long after it has read a frame.")


class WireNicDesign(NicDesign):
    """Frames out of host memory by a register, and into a ring of slots."""

    name = "wire_nic"
    title = "a register to send, a ring to receive"
    knobs = Knobs
    registers = REGISTERS
    trace = (
        TraceBlock("WIRE_NIC_SEND", "frame out of host memory",
                   "A frame: BEGIN when its turn comes, END when its last word has been read.",
                   side="sending", dma=0),
        TraceBlock("WIRE_NIC_RECEIVE", "frame into a slot",
                   "A frame: BEGIN when all of it is here, END when its slot is filled.",
                   side="receiving", dma=1),
    )

    def needs(self, description):
        slots = self.values(description).slots
        if slots & slots - 1:
            yield f"wire_nic.slots = {slots}: must be a power of two"

    def side(self, description, cpus):
        """A port to host memory each way, and no interrupt."""
        return self.socket(description, cpus, dma=2, irqs=0)

    def build(self, description, side, *, step=None):
        from .nic import WireNic

        return WireNic(side=side, mtu=description.nic.mtu, slot_bytes=description.slot_bytes,
                       slots=self.values(description).slots)

    def kinds(self, description):
        return (Frames,)

    def driver(self, node, kind):
        from .driver import WireNicFrames

        return WireNicFrames(node, self.values(node.description).slots)
