"""Prices the kernel's path: each part is a sum of cost items, counted from the code that a kernel
in C needs, times ``tcp.path_scale``.

Copies, checksums, cache misses, PIO, the context switch and select's descriptors are charged where
they happen.
"""

from ..port.costs import Path
from ..port.prices import prices

__all__ = ["Prices"]

CALL = Path("tcp_call", trap=1, call=4, load=20, store=10, branch=12, alu=6)
"""A call on a socket: into the kernel, the socket found, arguments checked."""
OPEN = Path("tcp_open", call=12, load=60, store=90, branch=30, alu=20)
"""A socket or a connection made or undone: its structures, its port, its place in the tables."""
WRITE = Path("tcp_write", call=6, load=40, store=40, branch=25, alu=15)
"""Data of one segment into the send buffer, beside their copy: a buffer taken and queued."""
OUTPUT = Path("tcp_output", call=8, load=70, store=55, branch=40, alu=45)
"""A segment: what may go by the windows, its header, the header's part of the checksum."""
IP_OUTPUT = Path("tcp_ip_output", call=6, load=45, store=35, branch=25, alu=35)
"""The way to the destination (in the cache of routes), the IP header and its checksum."""
DRIVER_SEND = Path("tcp_driver_send", call=5, load=20, store=20, branch=12, alu=10, flush=1)
"""The driver: room in the ring, the descriptor."""
REPORT = Path("tcp_report", load=2, store=1, branch=2, alu=2)
"""Reading how far the NIC has read the send ring."""
INTERRUPT = Path("tcp_interrupt", interrupt=1, call=3, load=10, store=6, branch=8)
DRIVER_RECEIVE = Path("tcp_driver_receive", call=6, load=25, store=25, branch=15, alu=8)
"""The driver: a buffer for the packet, which goes to the queue of the network's software
interrupt."""
IP_INPUT = Path("tcp_ip_input", call=5, load=35, store=12, branch=25, alu=35)
"""The IP header checked, its checksum, whom it is for."""
INPUT = Path("tcp_input", call=8, load=80, store=45, branch=55, alu=50)
"""The connection found, its state, sequence numbers, acknowledgement and window."""
QUEUE = Path("tcp_queue", call=3, load=12, store=12, branch=8, alu=4)
"""Data into the receive buffer, beside their copy."""
ACKNOWLEDGED = Path("tcp_acknowledged", call=2, load=8, store=8, branch=5, alu=2)
"""A buffer of the send queue is free."""
WAKE = Path("tcp_wake", call=4, load=18, store=14, branch=10, alu=4)
"""The process that waits into the queue of those that can run."""
SLEEP = Path("tcp_sleep", call=4, load=16, store=16, branch=8, alu=4)
"""The process waits for its socket."""
READ = Path("tcp_read", call=4, load=25, store=16, branch=18, alu=8)
"""Data out of the receive buffer, beside their copy."""
TIMER = Path("tcp_timer", call=3, load=12, store=8, branch=8, alu=4)
"""A timer has run out."""
SELECT = Path("tcp_select", trap=1, call=6, load=30, store=30, branch=18, alu=10)
"""select, beside what each descriptor takes."""


class Prices(prices(globals(), lambda description: description.tcp.path_scale)):
    """The kernel's path as a CPU charges it."""
