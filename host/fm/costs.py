"""Prices Fast Messages: every path of the library is a sum of the CPU's cost items.

Counted from the code a C implementation of each path needs; PIO, cache misses, bus time and what
putting a slot costs (:mod:`nicbed.host.processor.costs`) are not in here.
"""

from ..port.costs import Path
from ..port.prices import prices

__all__ = ["Prices"]

SEND_4 = Path("fm_send_4", call=1, load=6, store=2, branch=4, alu=6)
"""FM_send_4: arguments, places and room, header, what is owed."""
SEND = Path("fm_send", call=1, load=6, store=2, branch=5, alu=7)
"""FM_send, beside copying the message."""
EXTRACT = Path("fm_extract", call=1, load=3, branch=3)
"""FM_extract, beside the check itself."""
HANDLE_4 = Path("fm_handle_4", call=1, load=8, store=3, branch=5, alu=5)
"""Header and words from the slot, places, dispatch."""
HANDLE = Path("fm_handle", call=1, load=5, store=3, branch=5, alu=5)
"""The same, beside copying the message to where the handler may keep using it."""
ACCEPTED = Path("fm_accepted", call=1, load=3, store=2, branch=2, alu=2)
"""A packet with nothing but places that are free again."""
OWED = Path("fm_owed", call=1, load=3, store=2, branch=2, alu=4)
"""Sending one."""
KEEP = Path("fm_keep", call=1, load=4, store=3, branch=3, alu=4)
"""A packet into a queue in host memory, beside copying it."""
GIVE_BACK = Path("fm_return", call=1, load=4, store=1, branch=2, alu=5)
"""Sending a packet back, or again."""
TAKEN = Path("fm_taken", load=2, store=1, alu=2)
"""Telling the NIC how many slots of the ring were taken."""
INITIALIZE = Path("fm_initialize", call=4, load=12, store=40, branch=12, alu=20)
FINALIZE = Path("fm_finalize", call=2, load=6, store=4, branch=6)


class Prices(prices(globals())):
    """The paths of the library as a CPU charges them."""
