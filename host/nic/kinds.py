"""The kinds of drivers by which layers use a NIC.

A layer names the kinds on which it can live, and a NIC design those that it offers. A layer gets a
driver by ``node.nic_driver(kind)``: there is one of a kind for each NIC.
"""

from typing import NamedTuple

from ..port.node import Node

__all__ = ["Driver", "Frame", "Frames", "Queues", "Rings", "VirtualInterfaces", "Windows"]


class Driver:
    """Drives the NIC of ``node`` for the layers above it."""

    def __init__(self, node: Node) -> None:
        self.node = node


class Frame(NamedTuple):
    """A frame that has come: its source, the address and number of its bytes in host memory, and
    its trace number."""

    source: int
    address: int
    length: int
    trace: int


class Frames(Driver):
    """Sends frames of bytes to an address and receives them: the least that a NIC does. A frame
    that is lost stays lost, and frames may overtake each other.

    A node is called as the wire calls its NIC: ``node.address_on(peer)``.

    Attributes
    ----------
    mtu
        Bytes of the longest frame.
    """

    mtu: int

    async def open(self) -> None:
        """Set the NIC up; the first call. Frames may come from here on."""
        raise NotImplementedError

    async def room(self) -> bool:
        """Tells whether :meth:`send` would take a frame without waiting for the network. A node
        that polls while there is no room cannot be the reason why others have none."""
        return True

    async def send(self, destination: int, address: int, length: int) -> int:
        """Send the ``length`` bytes (1 to ``mtu``) at ``address`` of host memory; return the
        frame's trace number, the next of the node's (:meth:`.Node.trace_number`). Wait for room.
        The bytes must stay as they are until :meth:`drain` has returned, or the frame has
        arrived."""
        raise NotImplementedError

    async def drain(self) -> None:
        """Wait until the NIC needs the bytes of no frame any more."""

    async def poll(self) -> Frame | None:
        """The next frame that has come; None if there is none."""
        raise NotImplementedError

    async def release(self, frame: Frame) -> None:
        """The bytes of ``frame`` are needed no more. Frames may be released in any order."""
        raise NotImplementedError

    async def wait(self) -> None:
        """Wait until :meth:`poll` may find a frame."""
        raise NotImplementedError

    async def dropped(self) -> int:
        """Frames that this NIC has dropped, as far as it counts them."""
        return 0

    async def close(self) -> None:
        """The last call: no more frames are sent or taken."""


class Windows(Driver):
    """Registers of the NIC through which the CPU moves packets, word by word."""


class Rings(Driver):
    """A ring of descriptors to send, and one of slots to receive, both in host memory."""


class Queues(Driver):
    """Queues of commands to the firmware of the NIC's processor."""


class VirtualInterfaces(Driver):
    """Work queues of processes, by doorbells: the NIC itself moves the data of messages."""
