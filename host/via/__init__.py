"""The Virtual Interface Architecture for host programs: VIPL, under its own names.

A program makes a :class:`Process` and its library, ``Vipl(process)``. Below the calls
(:mod:`.vipl.vipl`): the kernel agent of the node (:mod:`.kernel`) with its connection manager
(:mod:`.agent.connections`, over :mod:`.agent.channel`), and a provider that moves the data
(:mod:`.provider`, the interface, with :mod:`.posts` and :mod:`.queues`; :mod:`.engine.engine`,
:mod:`.engine.firmware`, :mod:`.trap.kernel_trap`). Beside them: :mod:`.descriptors`,
:mod:`.regions` and :mod:`.agent.tables` (registration), :mod:`.handles` (the objects behind
handles), :mod:`.costs` (CPU costs); and the process's virtual memory,
:mod:`nicbed.host.kernel.process`.

In the order in which to read:

- :mod:`.provider`: The interface between VIPL and a design point, which moves the data
- :mod:`.posts`: The part of a design point that posts descriptors
- :mod:`.queues`: The part of a design point that checks work queues and completion queues
- :mod:`.kernel`: The kernel agent of a node: state shared by processes, the interrupt, sleeping,
  and the tables
- :mod:`.tags`: NICs that processes opened, and their protection tags
- :mod:`.handles`: The objects behind VIPL's handles: VIs and their work queues, completion queues,
  and (of :mod:`.tags`) NICs and protection tags
- :mod:`.records`: The objects of a node by handle and number: regions, VIs, completion queues, open
  NICs
- :mod:`.regions`: Registered memory: handles that are never reused, and places in the NIC's table
- :mod:`.attributes`: Attributes of NICs, memory and VIs, and network addresses
- :mod:`.returns`: Return codes of VIPL, and the asynchronous errors, under their own names
- :mod:`.descriptors`: Builds descriptors in a process's memory, and reads them back
- :mod:`.costs`: CPU costs of VIPL: every path of the library and of the kernel agent as a sum of
  cost items
- :mod:`.layer`: The layer via for the testbed
- :mod:`.session`: A process with VIPL open, registered memory, descriptors and connected VIs
- :mod:`.endpoint`: A side of an exchange over VIA: VIs of Reliable Delivery, their receives on one
  queue
- :mod:`.vipl`: The calls of VIPL, one file for each concern
- :mod:`.agent`: The part of the kernel agent that is the same for every NIC: connections, tables,
  notifies
- :mod:`.engine`: Providers for NICs that read descriptors from memory, posted by doorbells
- :mod:`.trap`: The kernel-trap design point: the kernel agent moves the data
"""

from ..kernel.process import Process
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
from .returns import VIP_INFINITE, VIP_RETURN, ErrorCode
from .vipl.vipl import Vipl

__all__ = ["ErrorCode", "ErrorDescriptor", "MemAttributes", "NetAddress", "NicAttributes",
           "Process", "RemoteAttributes", "Segment", "VIP_INFINITE", "VIP_RETURN", "ViAttributes",
           "VipState", "Vipl", "descriptors"]
