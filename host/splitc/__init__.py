"""Split-C over Active Messages: a global address space of all processes. Over am a process is a
node, over am2 a CPU.

A program has a :class:`SplitC` a process. :mod:`.splitc` makes the parts and holds the public
calls; each part is an object with one job.

In the order in which to read:

- :mod:`.pointers`: Global pointers and spread arrays, and values as words of a message
- :mod:`.costs`: CPU costs of Split-C: what each call and handler adds to Active Messages
- :mod:`.statistics`: Counts of messages and bytes, by kind
- :mod:`.messages`: The Active Messages over which Split-C runs
- :mod:`.process`: The base of all parts: the process, its Active Messages, pointers checked
- :mod:`.counting`: Counts accesses that have no answer yet, and stored bytes sent and received
- :mod:`.words`: Accesses to words: read and write, get and put, store
- :mod:`.bulk`: Accesses to bytes in bulk
- :mod:`.procedures`: Procedures run at another process: atomic, and stores to a procedure
- :mod:`.collectives`: Barrier, broadcast, reduce and scan, by trees of messages
- :mod:`.heap`: Spread arrays of processes that share a node's memory
- :mod:`.splitc`: Split-C of one process: the public calls
"""

from .pointers import GlobalPointer, SpreadArray
from .process import SplitCError
from .splitc import SplitC

__all__ = ["GlobalPointer", "SplitC", "SplitCError", "SpreadArray"]
