"""The Virtual Interface Architecture for host programs: VIPL, under its own names.

A program makes a :class:`Process` and its library, ``Vipl(process)``. Below the calls
(:mod:`.vipl`): the kernel agent of the node (:mod:`.kernel`) with its connection manager
(:mod:`.connections`, over :mod:`.channel`), and a provider that moves the data (:mod:`.provider`,
the seam; :mod:`.engine`, :mod:`.physical`, :mod:`.kernel_trap`). Beside them: :mod:`.descriptors`,
:mod:`.process` (virtual memory), :mod:`.regions` and :mod:`.tables` (registration), :mod:`.handles`
(what the handles stand for), :mod:`.paths` (what it all costs).
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
from .vipl import Vipl

__all__ = ["ErrorCode", "ErrorDescriptor", "MemAttributes", "NetAddress", "NicAttributes",
           "Process", "RemoteAttributes", "Segment", "VIP_INFINITE", "VIP_RETURN", "ViAttributes",
           "VipState", "Vipl", "descriptors"]
