"""Active Messages II between the processes of a node: lock-free queues in shared memory.

In the order in which to read:

- :mod:`.queue_block`: The shared-memory queue block of an endpoint: where everything in it is
- :mod:`.contention`: Pauses behind a lost race for a tail
- :mod:`.filling`: Puts packets into the queues of others: a number is drawn, the packet claimed,
  filled, given
- :mod:`.receiving`: Takes messages out of an endpoint's own queues
- :mod:`.part`: An endpoint of its own process, as the shared way knows it
- :mod:`.ending`: The end of a queue block: its owner closes it, or has ended, and its kernel does
- :mod:`.way`: The way of messages between the processes of a node: queues in the memory that they
  share
"""

from .way import SharedWay

__all__ = ["SharedWay"]
