"""Prices GM: every path of the library and of the driver is a sum of cost items.

Counted from the code a C implementation of each path needs; PIO, cache misses and bus time are
operations of their own and not in here.
"""

from ..port.costs import Path
from ..port.prices import prices

__all__ = ["Prices"]

# The user's library

SEND = Path("gm_send", call=1, load=6, store=6, branch=5, alu=10)
"""Checks, a token with its callback, the command's words."""
INLINE = Path("gm_inline", load=3, branch=2, alu=2)
"""A short message read into registers."""
CONTROL = Path("gm_control", call=1, load=4, store=4, branch=3, alu=6)
"""Commands that carry no data: resume, drop, acceptable sizes."""
PROVIDE = Path("gm_provide", call=1, load=5, store=6, branch=4, alu=8)
CHECK = Path("gm_check", call=1, load=3, branch=2, alu=2)
"""gm_receive, beside the check itself."""
TAKE = Path("gm_take", load=5, store=6, branch=3, alu=8)
"""An event read and its token looked up."""
UNKNOWN = Path("gm_unknown", call=1, load=4, store=3, branch=3, alu=2)
"""The callback's call among it."""
TOKEN = Path("gm_token", call=1, load=1, store=1, branch=1)
QUERY = Path("gm_query", call=1, load=1, alu=1)
BLOCK = Path("gm_block", call=2, trap=1, load=4, store=4, branch=4)
"""Giving up the CPU until the interrupt."""

# The driver

KERNEL = Path("gm_kernel", call=2, trap=1, load=6, store=6, branch=6, alu=6)
"""A call that enters the kernel, beside what it does there."""
INTERRUPT = Path("gm_interrupt", interrupt=1, call=1, load=2, branch=2)
PAGE = Path("gm_page", register_page=1)
UNPIN = Path("gm_unpin", load=2, store=2, branch=2, alu=2)


class Prices(prices(globals())):
    """The paths of library and driver as a CPU charges them."""
