"""What carries the layer's packets: one file for each channel.

In the order in which to read:

- :mod:`.itself`: The channel of a process to itself: copies through its memory
- :mod:`.credits`: Credits between two processes: a packet is sent only where a buffer waits for it
- :mod:`.buffered`: What channels over registered buffers share: packets in such buffers, with
  credits on their way
- :mod:`.via`: The channel over VIA: a VI of Reliable Delivery to each other process, one completion
  queue
- :mod:`.gm`: The channel over GM: port PORT on each node
- :mod:`.tcp`: The channel over TCP: a connection to each other process, select over all
"""

from ...port.node import Node
from ...via.process import Process
from ..channel import Channel
from .itself import Itself

__all__ = ["Itself", "channel_to_others"]


def channel_to_others(name: str, node: Node, process: Process, rank: int, places: list[int]
                      ) -> Channel:
    """The channel ``name`` (``mpi.channel``) from ``rank`` to all other processes, on the nodes
    ``places``."""
    if name == "gm":
        from .gm import GmChannel
        return GmChannel(node, process, rank, places)
    if name == "tcp":
        from .tcp import TcpChannel
        return TcpChannel(node, process, rank, places)
    from .via import ViaChannel
    return ViaChannel(node, process, rank, places)
