"""Chooses the way to the NIC that a node takes."""

from ..port.node import Node
from .entry_queue import EntryQueue
from .injection import (
    CoherentQueue,
    FirmwareQueue,
    Injection,
    LineRing,
    ProcessorQueue,
    SendWindow,
)
from .nic_queues import NicQueues
from .told_queues import LoadedQueue

__all__ = ["injection"]


def injection(node: Node) -> Injection:
    """The way for the NIC that the node's description asks for.

    Raises
    ------
    RuntimeError
        The bus is not coherent, and the way does not flush lines.
    """
    if not node.description.bus.coherent and node.description.am.firmware != "tb2":
        raise RuntimeError("bus.coherent = false: Active Messages flush the lines that the NIC "
                           "reads and writes over firmware tb2 alone (am.firmware)")
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
