"""Locks and barriers of a node's CPUs, in the memory that they share; several layers on a CPU.

In the order in which to read:

- :mod:`.costs`: CPU costs of locks and barriers: their paths, counted from a C implementation
- :mod:`.words`: Words in a node's shared memory, each in a cache line of its own
- :mod:`.locks`: Locks in shared memory: one that all CPUs spin on, and one with a queue
- :mod:`.barrier`: A barrier of a node's CPUs, in shared memory
- :mod:`.layers`: Several layers of a CPU, each on a NIC of its own, polled in turn
"""

from .barrier import Barrier
from .layers import Layers
from .locks import QueueLock, SpinLock

__all__ = ["Barrier", "Layers", "QueueLock", "SpinLock"]
