"""The channels that carry the layer's packets: one file for each.

In the order in which to read:

- :mod:`.places`: Knows the place of each rank: which ranks share a node, and how the ranks of a
  node are told apart
- :mod:`.itself`: The channel of a process to itself: copies through its memory
- :mod:`.credits`: Credits between two processes: a packet is sent only where a buffer waits for it
- :mod:`.buffered`: The base of channels over registered buffers: packets in such buffers, with
  credits on their way
- :mod:`.via`: The channel over VIA: a VI of Reliable Delivery to each other process, one completion
  queue
- :mod:`.gm_buffers`: Receive buffers of the channel over GM: their size classes, numbers and owners
- :mod:`.gm`: The channel over GM: port PORT on each node
- :mod:`.vmmc`: The channel over VMMC: a default buffer for each other process, and redirection
- :mod:`.shm`: The channel of the processes of one node, one on each CPU: queues in the memory that
  they share
- :mod:`.tcp`: The channel over TCP: a connection to each other process, select over all
- :mod:`.both`: Joins the channel within a node and the channel to other nodes
"""

from typing import Any

from ....layouts.description import Description
from ...kernel.process import Process
from ...port.node import Node
from ..errors import ErrorClass, MpiError
from ..progress.channel import Channel
from .itself import Itself
from .places import Places

__all__ = ["Itself", "Places", "channels_to_others", "memory_bytes"]


def channels_to_others(name: str, node: Node, process: Process, places: Places
                       ) -> list[tuple[Channel, list[int]]]:
    """The channels to all other processes, each with the ranks that it reaches: through the node's
    memory to those of this node, and by ``name`` (``mpi.channel``) to those of others.

    Raises
    ------
    MpiError
        The NIC cannot be shared by the processes of the node.
    """
    found: list[tuple[Channel, list[int]]] = []
    if places.beside:
        from .shm import ShmChannel
        found.append((ShmChannel(node, process, places), places.beside))
        if places.elsewhere:
            try:
                node.share_nic()
            except RuntimeError as error:
                raise MpiError(ErrorClass.ERR_OTHER, f"rank {places.rank}: {error}") from None
    if places.elsewhere:
        found.append((_over_the_nic(name)(node, process, places), places.elsewhere))
    return found


def memory_bytes(description: Description) -> int:
    """Bytes, at most, that the channel over the NIC (``mpi.channel``) and what is below it take of
    a node's memory, with a process on each node.

    Raises
    ------
    MpiError
        The channel does not reach so many.
    """
    return int(_over_the_nic(description.mpi.channel).memory(
        description, description.fabric.nodes - 1))


def _over_the_nic(name: str) -> Any:
    if name == "gm":
        from .gm import GmChannel
        return GmChannel
    if name == "vmmc":
        from .vmmc import VmmcChannel
        return VmmcChannel
    if name == "tcp":
        from .tcp import TcpChannel
        return TcpChannel
    from .via import ViaChannel
    return ViaChannel
