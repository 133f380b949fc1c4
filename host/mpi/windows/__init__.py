"""One-sided communication: windows, and the operations of origins on them.

A window is memory of each process of a communicator that all of them reach. Where the channel has
RDMA, an origin writes and reads contiguous memory of a target itself; all else are packets, which
the target handles in its calls.

In the order in which to read:

- :mod:`.window`: A window: the calls on it, under MPI's names
- :mod:`.creation`: Makes and frees windows, by all processes of a communicator
- :mod:`.memory`: Keeps the memory that others reach in agreement with the program's
- :mod:`.epochs`: Epochs: fence, post and start, locks, and the operations that each allows
- :mod:`.locks`: The lock of a window at its target
- :mod:`.operation`: An operation at its origin: the data that it moves, and the answers that it
  waits for
- :mod:`.origin`: Sends operations: by RDMA, or in parts through the buffers of the channel
- :mod:`.target`: Executes operations at their target: packets, each handled by its kind
- :mod:`.atomic`: Updates of elements: operators and basic elements, by their numbers in packets
- :mod:`.everywhere`: The windows of all ranks, beside the target
"""

from .creation import Windows
from .window import (
    LOCK_EXCLUSIVE,
    LOCK_SHARED,
    MODE_NOCHECK,
    MODE_NOPRECEDE,
    MODE_NOPUT,
    MODE_NOSTORE,
    MODE_NOSUCCEED,
    Win,
)

__all__ = ["LOCK_EXCLUSIVE", "LOCK_SHARED", "MODE_NOCHECK", "MODE_NOPRECEDE", "MODE_NOPUT",
           "MODE_NOSTORE", "MODE_NOSUCCEED", "Win", "Windows"]
