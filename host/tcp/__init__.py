"""TCP/IP through the kernel: sockets on the rings of the NIC.

In the order in which to read:

- :mod:`.sockets`: Sockets: the calls of a process, as coroutines
- :mod:`.stack`: The kernel's network stack on a node: interrupts, driver, IP, timers, and the
  process that waits
- :mod:`.protocol`: TCP as a state machine: segments in, segments out, times given; no node, no CPU,
  no simulator
- :mod:`.layer`: The layer tcp for the testbed
- :mod:`.endpoint`: A side of an exchange over TCP: a connection between nodes 0 and 1
- :mod:`.costs`: Prices the kernel's path: each part is a sum of cost items
- :mod:`.errors`: Errors of sockets, under the names that the field has for them
"""

from .errors import Errno, TcpError
from .sockets import Socket, Tcp

__all__ = ["Errno", "Socket", "Tcp", "TcpError"]
