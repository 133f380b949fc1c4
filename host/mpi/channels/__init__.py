"""What carries the layer's packets: one file for each channel.

In the order in which to read:

- :mod:`.itself`: The channel of a process to itself: copies through its memory
- :mod:`.credits`: Credits between two processes: a packet is sent only where a buffer waits for it
- :mod:`.buffered`: What channels over registered buffers share: packets in such buffers, with
  credits on their way
- :mod:`.via`: The channel over VIA: a VI of Reliable Delivery to each other process, one completion
  queue
- :mod:`.gm`: The channel over GM: port PORT on each node
- :mod:`.shm`: The channel of the processes of one node, one on each CPU: queues in the memory that
  they share
- :mod:`.tcp`: The channel over TCP: a connection to each other process, select over all
"""

from ...port.node import Node
from ...via.process import Process
from ..channel import Channel
from ..errors import ErrorClass, MpiError
from .itself import Itself

__all__ = ["Itself", "channel_to_others"]


def channel_to_others(name: str, node: Node, process: Process, rank: int,
                      places: list[tuple[int, int]]) -> Channel:
    """The channel from ``rank`` to all other processes, which are on ``places``: node and CPU.
    Shared memory if all are on one node, else ``name`` (``mpi.channel``).

    Raises
    ------
    MpiError
        They are on several nodes, of which one has several.
    """
    nodes = [one for one, _ in places]
    if len(set(nodes)) == 1:
        from .shm import ShmChannel
        return ShmChannel(node, process, rank, len(places))
    if len(set(nodes)) < len(nodes):
        raise MpiError(ErrorClass.ERR_OTHER, f"rank {rank}: {len(nodes)} ranks on {len(set(nodes))}"
                       " nodes: one CPU drives a NIC, so ranks are one a node, or the CPUs of one "
                       "(Mpi(node, nodes=[0]))")
    if name == "gm":
        from .gm import GmChannel
        return GmChannel(node, process, rank, nodes)
    if name == "tcp":
        from .tcp import TcpChannel
        return TcpChannel(node, process, rank, nodes)
    from .via import ViaChannel
    return ViaChannel(node, process, rank, nodes)
