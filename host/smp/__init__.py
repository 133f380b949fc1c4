"""Locks and barriers of a node's CPUs, in the memory that they share.

In the order in which to read:

- :mod:`.costs`: CPU costs of locks and barriers: their paths, counted from a C implementation
- :mod:`.words`: Words in a node's shared memory, each in a cache line of its own
- :mod:`.locks`: Locks in shared memory: one that all spin on, and one with a queue
- :mod:`.barrier`: A barrier of a node's CPUs, in shared memory
"""

from .barrier import Barrier
from .locks import QueueLock, SpinLock

__all__ = ["Barrier", "QueueLock", "SpinLock"]
