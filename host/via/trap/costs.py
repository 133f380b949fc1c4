"""What the kernel-trap design point costs beside VIPL's own paths: the kernel's code on the way of
a message. Copies, cache misses and PIO are charged where they happen.
"""

from ...port.costs import Path
from ...port.node import Node

__all__ = ["TrapPrices"]

POST = Path("trap_post", call=3, trap=1, load=9, store=8, branch=8, alu=4)
"""VipPostSend, VipPostRecv: the library's checks, into the kernel, its checks, the queue's record.
"""
ENTER = Path("trap_enter", call=1, trap=1, load=4, store=4, branch=4, alu=2)
"""Any other call that enters the kernel on the way of a message."""
DESCRIPTOR = Path("trap_descriptor", call=1, load=8, store=8, branch=8, alu=4)
"""A descriptor's control segment copied in and checked."""
SEGMENT = Path("trap_segment", load=2, store=2, branch=2, alu=1)
TRANSLATE = Path("trap_translate", call=1, load=6, branch=6, alu=5)
"""A page of the consumer's memory looked up: handle, bounds, tag, rights, frame."""
PACKET = Path("trap_packet", call=2, load=10, store=16, branch=6, alu=14, flush=1)
"""A packet made: room, headers, its record, the send ring's descriptor."""
AGAIN = Path("trap_again", call=1, load=12, store=8, branch=3, alu=4, flush=1)
"""A kept packet put into the send ring again."""
CONTROL = Path("trap_control", call=2, load=6, store=8, branch=4, alu=10, flush=1)
"""An acknowledgement, or the news of a break, sent."""
HANDLE = Path("trap_handle", call=2, load=12, store=3, branch=12, alu=10)
"""A packet's headers taken apart, its VI found, its sequence number checked."""
ACKNOWLEDGED = Path("trap_acknowledged", call=1, load=6, store=5, branch=5, alu=5)
COMPLETE = Path("trap_complete", call=1, load=5, store=4, branch=5, alu=4)
"""A descriptor's status written, beside the line it touches."""
ENTRY = Path("trap_entry", load=5, store=2, branch=3, alu=6)
"""And its completion queue's entry."""
CONSUMED = Path("trap_consumed", store=1)
"""How far a completion queue was emptied, in a page that the kernel sees."""
REPORT = Path("trap_report", load=2, store=1, branch=2, alu=2)
"""How far the NIC has got in the send ring."""
TIMER = Path("trap_timer", call=1, load=4, branch=4, alu=3)
"""A look at a VI's deadline."""


class TrapPrices:
    """These paths, as a port knows them. One a node."""

    def __init__(self, node: Node) -> None:
        path = node.port.path
        self.post = path(POST)
        self.enter = path(ENTER)
        self.descriptor = path(DESCRIPTOR)
        self.segment = path(SEGMENT)
        self.translate = path(TRANSLATE)
        self.packet = path(PACKET)
        self.again = path(AGAIN)
        self.control = path(CONTROL)
        self.handle = path(HANDLE)
        self.acknowledged = path(ACKNOWLEDGED)
        self.complete = path(COMPLETE)
        self.entry = path(ENTRY)
        self.consumed = path(CONSUMED)
        self.report = path(REPORT)
        self.timer = path(TIMER)
