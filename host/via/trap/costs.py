"""CPU costs of the kernel-trap design point in addition to VIPL's paths: the kernel's code on the
path of a message. Copies, cache misses and PIO are charged where they happen."""

from ...port.costs import Path
from ...port.prices import prices

__all__ = ["TrapPrices"]

POST = Path("trap_post", call=3, trap=1, load=9, store=8, branch=8, alu=4)
"""VipPostSend, VipPostRecv: the library's checks, entering the kernel, its checks, the queue's
record."""
ENTER = Path("trap_enter", call=1, trap=1, load=4, store=4, branch=4, alu=2)
"""Any other call that enters the kernel on the path of a message."""
DESCRIPTOR = Path("trap_descriptor", call=1, load=8, store=8, branch=8, alu=4)
"""Copying in and checking a descriptor's control segment."""
SEGMENT = Path("trap_segment", load=2, store=2, branch=2, alu=1)
TRANSLATE = Path("trap_translate", call=1, load=6, branch=6, alu=5)
"""Looking up a page of the consumer's memory: handle, bounds, tag, rights, frame."""
PACKET = Path("trap_packet", call=2, load=10, store=16, branch=6, alu=14, flush=1)
"""Making a packet: room, headers, its record, the send ring's descriptor."""
AGAIN = Path("trap_again", call=1, load=12, store=8, branch=3, alu=4, flush=1)
"""Putting a kept packet into the send ring again."""
CONTROL = Path("trap_control", call=2, load=6, store=8, branch=4, alu=10, flush=1)
"""Sending an acknowledgement or a BREAK."""
HANDLE = Path("trap_handle", call=2, load=12, store=3, branch=12, alu=10)
"""Parsing a packet's headers, finding its VI, checking its sequence number."""
ACKNOWLEDGED = Path("trap_acknowledged", call=1, load=6, store=5, branch=5, alu=5)
COMPLETE = Path("trap_complete", call=1, load=5, store=4, branch=5, alu=4)
"""Writing a descriptor's status, besides the line it touches."""
ENTRY = Path("trap_entry", load=5, store=2, branch=3, alu=6)
"""Writing its completion queue's entry."""
CONSUMED = Path("trap_consumed", store=1)
"""Reporting how far a completion queue was emptied, in a page shared with the kernel."""
REPORT = Path("trap_report", load=2, store=1, branch=2, alu=2)
"""Reading how far the NIC has read the send ring."""
TIMER = Path("trap_timer", call=1, load=4, branch=4, alu=3)
"""Checking a VI's deadline."""


class TrapPrices(prices(globals())):
    """The kernel's paths as a CPU charges them."""
