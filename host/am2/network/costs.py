"""Prices the network's way of AM-II: every path of library and driver is a sum of cost items.

Counted from the code a C implementation of each path needs; PIO, cache misses and bus time are
operations of their own and not in here.
"""

from ....layouts.am2 import ARGUMENTS
from ...port.costs import Path
from ...port.prices import prices

__all__ = ["Prices"]

# The library

POST = [Path(f"am2_net_post_{n}", call=1, load=5 + n, store=3, branch=4, alu=14 + n)
        for n in range(ARGUMENTS + 1)]
"""A message's words put together, the slot's address, the doorbell. Their writes are PIO."""
BUFFER = Path("am2_net_buffer", load=2, store=1, branch=2, alu=3)
"""The buffer for its data, beside their copy."""
ROOM = Path("am2_net_room", load=2, store=1, branch=1, alu=1)
"""Reading how many slots are done."""
LOOK = Path("am2_net_look", load=3, branch=2, alu=2)
"""The counts of both receive queues, beside the read."""
OUT = Path("am2_net_out", load=2, branch=2)
"""A look at an endpoint that is in no frame: what it had is known."""
READ = [Path(f"am2_net_read_{n}", load=2, store=2 + n, branch=2, alu=8 + n)
        for n in range(ARGUMENTS + 1)]
"""A message's words taken apart; their reads are PIO."""
FREE = Path("am2_net_free", load=1, store=1, branch=1, alu=2)
"""How many messages were taken, told to the NIC."""
ROUTE = Path("am2_net_route", load=3, store=2, branch=2, alu=6)
"""The NIC and the number of an endpoint, by its name."""

# The kernel

KERNEL = Path("am2_net_kernel", call=2, trap=1, load=6, store=6, branch=6, alu=6)
"""A call that enters the kernel, beside what it does there."""
SLEEP = Path("am2_net_sleep", call=2, trap=1, load=4, store=4, branch=4)
"""Giving up the CPU until the interrupt."""
FAULT = Path("am2_net_fault", trap=1, call=1, load=4, branch=4, alu=2)
"""A process uses a frame that its endpoint has lost: the kernel sees to it."""
EVICT = Path("am2_net_evict", call=2, load=6, store=4, branch=4, alu=4)
"""An endpoint is taken out of its frame: whose turn it is, its page unmapped."""
INTERRUPT = Path("am2_net_interrupt", interrupt=1, call=1, load=2, branch=2)


class Prices(prices(globals(), lambda description: description.am2.path_scale)):
    """The paths of library and driver as a CPU charges them."""
