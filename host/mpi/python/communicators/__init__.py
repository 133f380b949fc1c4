"""Communicators, as programs in Python have them.

A call has up to three ways: it waits, it begins, or it is kept to be begun later. What the library
is to do is the same for all of them, and is described once.

In the order in which to read:

- :mod:`.state`: The state that a communicator's handles stand for
- :mod:`.base`: The base of communicators: group, name, attributes and errors
- :mod:`.ways`: A call of the library as methods: one that waits, one that begins, one that is kept
- :mod:`.point_to_point`: Prepares messages of buffers and of objects for the library: buffers,
  ranks and tags
- :mod:`.collective`: Prepares collective calls on buffers for the library
- :mod:`.matched`: Messages that a probe has taken
- :mod:`.buffered_sends`: The buffer of buffered sends
- :mod:`.comm`: The classes Comm and Intracomm, with all their calls
- :mod:`.topologies`: Communicators with a topology
- :mod:`.intercomm`: Communicators of two groups
"""

from .buffered_sends import Attach_buffer, Detach_buffer
from .comm import COMM_NULL, COMM_SELF, COMM_TYPE_SHARED, COMM_WORLD, Comm, Intracomm
from .intercomm import Intercomm
from .matched import NO_PROC, Message
from .state import APPNUM, IO, LASTUSEDCODE, TAG_UB, UNIVERSE_SIZE, WTIME_IS_GLOBAL
from .topologies import (
    UNWEIGHTED,
    WEIGHTS_EMPTY,
    Cartcomm,
    Distgraphcomm,
    Graphcomm,
    Topocomm,
)

__all__ = ["APPNUM", "Attach_buffer", "COMM_NULL", "COMM_SELF", "COMM_TYPE_SHARED", "COMM_WORLD",
           "Cartcomm", "Comm", "Detach_buffer", "Distgraphcomm", "Graphcomm", "IO", "Intercomm",
           "Intracomm", "LASTUSEDCODE", "Message", "NO_PROC", "TAG_UB", "Topocomm",
           "UNIVERSE_SIZE", "UNWEIGHTED", "WEIGHTS_EMPTY", "WTIME_IS_GLOBAL"]
