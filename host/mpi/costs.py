"""Prices the layer: every path is a sum of cost items, counted from the code that a C
implementation of it needs, times ``mpi.path_scale``.

Copies, cache misses, registration and what the channel does come besides. Each path belongs to one
part of the layer's cost: calls, matching, protocol, packets.
"""

from ..port.costs import Path
from ..port.prices import prices

__all__ = ["PARTS", "PATHS", "Prices"]

SEND = Path("mpi_send", call=2, load=10, store=8, branch=10, alu=6)
"""A send: arguments checked, the communicator's context, the request, the way by its length."""
RECEIVE = Path("mpi_receive", call=2, load=8, store=10, branch=8, alu=4)
"""A receive: arguments checked, the request."""
COMPLETE = Path("mpi_complete", call=2, load=6, store=6, branch=5, alu=2)
"""Wait and Test: a request looked at, its status taken, the request freed."""
SEARCH = Path("mpi_search", load=4, branch=4, alu=2)
"""An entry of a queue compared: context, source and tag."""
POST = Path("mpi_post", load=2, store=5, branch=1)
"""A receive into the queue of those posted."""
KEEP = Path("mpi_keep", call=1, load=4, store=9, branch=2, alu=2)
"""A message that nobody waits for into the queue of the unexpected."""
MATCH = Path("mpi_match", load=6, store=6, branch=4, alu=2)
"""A message and its receive: taken from their queues, lengths compared, the status."""
PACKET = Path("mpi_packet", call=1, load=5, store=7, branch=2, alu=3)
"""A header written."""
ARRIVED = Path("mpi_arrived", call=2, load=7, store=2, branch=4, alu=2)
"""A header read, and what to do by its kind."""
PROTOCOL = Path("mpi_protocol", call=1, load=6, store=5, branch=4, alu=2)
"""A step of a long message: its request found, the next step prepared."""
LATER = Path("mpi_later", call=1, load=2, store=5, branch=2, alu=1)
"""A packet that cannot go yet into the queue of its channel."""
LOOK = Path("mpi_look", call=1, load=3, branch=3)
"""A look for progress, beside the channel's."""
CACHED = Path("mpi_cached", call=1, load=6, store=2, branch=5, alu=3)
"""The registration cache searched."""
BUFFER = Path("mpi_buffer", call=1, load=4, store=4, branch=4, alu=4)
"""Bsend: room in the attached buffer found."""
COMMUNICATOR = Path("mpi_communicator", call=3, load=20, store=30, branch=15, alu=10)
"""A communicator made, beside its messages."""
TASK = Path("mpi_task", call=2, load=6, store=8, branch=4, alu=2)
"""A call that does not block, begun or gone on with: its state found, and kept where it waits."""
COLLECTIVE = Path("mpi_collective", call=1, load=6, store=3, branch=5, alu=4)
"""A collective call: arguments, the algorithm's place."""
REDUCE = Path("mpi_reduce", call=1, load=3, store=1, branch=2, alu=2)
"""An operation on a buffer, beside its elements."""
SEGMENT = Path("mpi_segment", load=3, store=2, branch=2, alu=3)
"""A block of a derived type, packed or unpacked, or made a segment."""
WINDOW = Path("mpi_window", call=3, load=20, store=30, branch=10, alu=10)
"""A window made or freed, beside its messages."""
EPOCH = Path("mpi_epoch", call=1, load=6, store=4, branch=6, alu=2)
"""A call that synchronises: what is open looked at, its step prepared."""
ORIGIN = Path("mpi_origin", call=2, load=14, store=10, branch=12, alu=8)
"""An operation on a window: arguments and epoch checked, bounds, the way, its state."""
TARGET = Path("mpi_target", call=1, load=8, store=4, branch=5, alu=5)
"""A packet for a window: the window found, the place of the data; or a step of a lock or epoch."""
OPEN = Path("mpi_open", call=4, load=30, store=60, branch=20, alu=20)
"""Init and Finalize, beside the channel's."""
OPEN_RANK = Path("mpi_open_rank", call=1, load=4, store=12, branch=3, alu=3)

PARTS = {
    "calls": (SEND, RECEIVE, COMPLETE, TASK, COLLECTIVE, REDUCE, BUFFER, COMMUNICATOR, OPEN,
              OPEN_RANK, WINDOW, EPOCH, ORIGIN),
    "matching": (SEARCH, POST, KEEP, MATCH),
    "protocol": (PACKET, ARRIVED, PROTOCOL, LATER, LOOK, SEGMENT, TARGET),
    "registration": (CACHED,),
}
"""The parts of the layer's cost, besides its copies."""
PATHS = {path.name: path for several in PARTS.values() for path in several}


class Prices(prices(globals(), lambda description: description.mpi.path_scale)):
    """The layer's paths as a CPU charges them."""
