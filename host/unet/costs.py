"""Prices U-Net: every path of the library and of the driver is a sum of cost items.

Counted from the code a C implementation of each path needs; PIO, cache misses and bus time are
operations of their own and not in here.
"""

from ..port.costs import Path
from ..port.prices import prices

__all__ = ["Prices"]

# The user's library

SEND = Path("unet_send", call=1, load=5, store=3, branch=4, alu=7)
"""Checks, the slot's place, the descriptor's words, the done flag of the slot's last send."""
INLINE = Path("unet_inline", load=1, branch=1, alu=1)
"""Eight bytes of a message read into registers."""
FREE = Path("unet_free", call=1, load=3, store=1, branch=2, alu=4)
CHECK = Path("unet_check", call=1, load=2, branch=1, alu=2)
"""A look at the receive queue, beside the check itself."""
TAKE = Path("unet_take", load=4, store=2, branch=3, alu=5)
"""A descriptor read, and the queue's head moved on."""
DONE = Path("unet_done", call=1, load=2, branch=2, alu=2)
"""A look at the done flag of the oldest send."""
COPY = Path("unet_copy", call=1, load=1, branch=2, alu=3)
"""A copy between a buffer and the segment, beside the words."""
BLOCK = Path("unet_block", call=2, trap=1, load=4, store=4, branch=4)
"""Giving up the CPU until the interrupt."""
UPCALL = Path("unet_upcall", call=2, load=2, store=2, branch=2)
"""From the interrupt to the process's function, and back."""
QUERY = Path("unet_query", call=1, load=1, alu=1)

# The driver

KERNEL = Path("unet_kernel", call=2, trap=1, load=6, store=6, branch=6, alu=6)
"""A call that enters the kernel, beside what it does there."""
INTERRUPT = Path("unet_interrupt", interrupt=1, call=1, load=2, branch=2)
PAGE = Path("unet_page", register_page=1)
UNPIN = Path("unet_unpin", load=2, store=2, branch=2, alu=2)
MISS = Path("unet_miss", call=1, load=6, store=4, branch=5, alu=5)
"""A translation that the NIC asks for, beside the page's pinning."""


class Prices(prices(globals())):
    """The paths of library and driver as a CPU charges them."""
