"""The Virtual Interface Architecture for host programs: VIPL, under its own names.

A program makes a :class:`Process` and its library, ``Vipl(process)``. Below the calls
(:mod:`.vipl.vipl`): the kernel agent of the node (:mod:`.kernel`) with its connection manager
(:mod:`.agent.connections`, over :mod:`.agent.channel`), and a provider that moves the data
(:mod:`.provider`, the seam; :mod:`.engine.engine`, :mod:`.engine.physical`,
:mod:`.trap.kernel_trap`). Beside them: :mod:`.descriptors`, :mod:`.process` (virtual memory),
:mod:`.regions` and :mod:`.agent.tables` (registration), :mod:`.handles` (what the handles stand
for), :mod:`.costs` (what it all costs).

In the order in which to read:

- :mod:`.process`: A process: its virtual memory, scattered over a node's physical pages
- :mod:`.provider`: What VIPL wants of whatever moves its data: the seam between the library and a
  design point
- :mod:`.kernel`: The kernel agent of a node: what processes share, the interrupt, sleeping, and
  the tables
- :mod:`.tags`: NICs that processes opened, and their protection tags
- :mod:`.handles`: What VIPL's handles stand for: VIs and their work queues, completion queues,
  and (of :mod:`.tags`) NICs and protection tags
- :mod:`.records`: What there is on a node: regions, VIs, completion queues, open NICs, by handle
  and number
- :mod:`.regions`: Registered memory: handles that never come again, and places in the NIC's table
- :mod:`.attributes`: What a consumer says of, and is told about, NICs, memory and VIs; network
  addresses
- :mod:`.returns`: What VIPL calls return, and the asynchronous errors, under their own names
- :mod:`.descriptors`: Building descriptors in a process's memory, and reading them back
- :mod:`.costs`: What VIPL costs: every path of the library and of the kernel agent as a sum of
  cost items
- :mod:`.vipl`: The calls of VIPL, a file a concern
- :mod:`.agent`: What the kernel agent does whatever the NIC: connections, tables, notices
- :mod:`.engine`: Providers whose NIC takes descriptors by itself, by doorbells
- :mod:`.trap`: The kernel-trap design point: the kernel agent moves the data
"""

from . import descriptors
from .attributes import (
    MemAttributes,
    NetAddress,
    NicAttributes,
    RemoteAttributes,
    ViAttributes,
    VipState,
)
from .descriptors import Segment
from .handles import ErrorDescriptor
from .process import Process
from .returns import VIP_INFINITE, VIP_RETURN, ErrorCode
from .vipl.vipl import Vipl

__all__ = ["ErrorCode", "ErrorDescriptor", "MemAttributes", "NetAddress", "NicAttributes",
           "Process", "RemoteAttributes", "Segment", "VIP_INFINITE", "VIP_RETURN", "ViAttributes",
           "VipState", "Vipl", "descriptors"]
