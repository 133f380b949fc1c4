"""Asynchronous remote procedure calls through the kernel: :class:`Rpc`, one object a node.

Packets, windows and recovery are those of :mod:`nicbed.host.am`, in the place of a driver; the
library, the protocols and the interrupts come on top, in both directions.

In the order in which to read:

- :mod:`.costs`: CPU costs of a call: library, kernel and interrupt, each way
- :mod:`.rpc`: Calls, procedures, and computation that interrupts may break
- :mod:`.layer`: The layer rpc for the testbed
- :mod:`.endpoint`: A side of an exchange over calls
"""

from .rpc import Rpc, RpcError

__all__ = ["Rpc", "RpcError"]
