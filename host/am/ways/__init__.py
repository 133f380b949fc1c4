"""Ways from the CPU to the NIC: one interface, :class:`.way.Way`, for the differences between NICs.

- :mod:`.way`: the interface of the ways from the CPU to the NIC, and what they have in common;
- :mod:`.send_window`: a NIC without a processor;
- :mod:`.line_ring`: the same NIC on the memory bus;
- :mod:`.slot_queue`: what the ways have in common that hand all packets to firmware in slots of a
  queue;
- :mod:`.am_queue`: what the ways to firmware ``am`` have in common;
- :mod:`.firmware_queue`: a queue of firmware ``am`` in NIC memory;
- :mod:`.coherent_queue`: one in host memory, of a NIC on the memory bus;
- :mod:`.nic_queues`: queues in NIC memory both ways, firmware ``lanai``;
- :mod:`.loaded_queue`: a queue in host memory and one uncached access a packet, firmware ``elan``;
- :mod:`.entry_queue`: entries in host memory and their lengths in NIC memory, firmware ``tb2``;
- :mod:`.unet_queue`: the queues of an endpoint of U-Net (``am.carrier`` = unet);
- :mod:`.processor_queue`: a message processor, which is another CPU of the node.
"""

from ...port.node import Node
from .coherent_queue import CoherentQueue
from .entry_queue import EntryQueue
from .firmware_queue import FirmwareQueue
from .line_ring import LineRing
from .loaded_queue import LoadedQueue
from .nic_queues import NicQueues
from .processor_queue import ProcessorQueue
from .send_window import SendWindow
from .unet_queue import UnetQueue
from .way import Way

__all__ = ["Way", "way_of"]


def way_of(node: Node) -> Way:
    """The way for the NIC that the node's description asks for.

    Raises
    ------
    RuntimeError
        The bus is not coherent, and the way does not flush lines.
    """
    if not node.description.bus.coherent and node.description.am.firmware != "tb2":
        raise RuntimeError("bus.coherent = false: Active Messages flush the lines that the NIC "
                           "reads and writes over firmware tb2 alone (am.firmware)")
    if node.description.am.carrier == "unet":
        return UnetQueue(node)
    if node.description.am.message_processor == "cpu":
        return ProcessorQueue(node)
    nic = node.description.nic
    coherent = nic.attachment == "memory_bus"
    if nic.processor == "none":
        return LineRing(node) if coherent else SendWindow(node)
    match node.description.am.firmware:
        case "lanai":
            return NicQueues(node)
        case "elan":
            return LoadedQueue(node)
        case "tb2":
            return EntryQueue(node)
    return CoherentQueue(node) if coherent else FirmwareQueue(node)
