"""Prices VMMC: every path of the library and of the driver is a sum of cost items.

Counted from the code a C implementation of each path needs; PIO, cache misses and bus time are
operations of their own and not in here.
"""

from ..port.costs import Path
from ..port.prices import prices

__all__ = ["Prices"]

# The user's library

SEND = Path("vmmc_send", call=1, load=5, store=3, branch=4, alu=8)
"""Checks, the import, the command's words."""
INLINE = Path("vmmc_inline", load=1, branch=1, alu=2)
"""A word of a short send, read into a register."""
LOOKUP = Path("vmmc_lookup", load=2, branch=1, alu=4)
"""A page of a long send, in the process' table of what is pinned."""
ROOM = Path("vmmc_room", load=2, store=1, alu=2, branch=1)
"""Reading how many slots are done."""
CHECK = Path("vmmc_check", call=1, load=2, branch=1, alu=2)
"""A look for an event, beside the check itself."""
TAKE = Path("vmmc_take", load=5, store=2, branch=2, alu=6)
"""An event read."""
REDIRECT = Path("vmmc_redirect", call=1, load=4, store=4, branch=3, alu=8)
CANCEL = Path("vmmc_cancel", call=1, load=2, store=2, branch=1, alu=4)
SIGNAL = Path("vmmc_signal", call=2, trap=1, load=6, store=6, branch=3)
"""A handler's call on top of the interrupt, and its return."""
BLOCK = Path("vmmc_block", call=2, trap=1, load=4, store=4, branch=4)
"""Giving up the CPU until the interrupt."""

# The driver

KERNEL = Path("vmmc_kernel", call=2, trap=1, load=6, store=6, branch=6, alu=6)
"""A call that enters the kernel, beside what it does there."""
INTERRUPT = Path("vmmc_interrupt", interrupt=1, call=1, load=2, branch=2)
PAGE = Path("vmmc_page", register_page=1)


class Prices(prices(globals())):
    """The paths of library and driver as a CPU charges them."""
