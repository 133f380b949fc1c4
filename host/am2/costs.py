"""Prices AM-II: every path of the library is a sum of cost items.

Counted from the code that a C implementation of each path needs on a machine that issues two
instructions at a time. Loads, stores and swaps of shared words, misses, PIO and polls' checks are
operations of their own and not in here.
"""

from ...layouts.am2 import ARGUMENTS
from ..port.costs import Path
from ..port.prices import prices

__all__ = ["Prices"]

# A request

CALL = [Path(f"am2_call_{n}", call=1, load=1, alu=n // 2) for n in range(ARGUMENTS + 1)]
"""The call, its arguments in registers and on the stack."""
CHECK = Path("am2_check", load=4, branch=6, alu=5)
"""Endpoint, index, handler, the translation's entry; then the tag's copy."""
LOCATE = Path("am2_locate", load=3, branch=1, alu=4)
"""The receiver's queue, and the place of a number in it."""
DRAW = Path("am2_draw", load=1, branch=1)
"""Each attempt to draw a number from a tail."""
LOST = Path("am2_lost", load=1, store=1, alu=6, branch=1)
"""Somebody else has drawn that number: how long to wait."""
CLAIM = Path("am2_claim", branch=1)
"""Each attempt to claim a packet, or a block."""
FILL = [Path(f"am2_fill_{n}", load=6 + n, alu=15 + n, branch=2) for n in range(ARGUMENTS + 1)]
"""Head, source and arguments put together; their stores are the packet's."""
BACK_OFF = Path("am2_back_off", load=1, store=1, branch=2, alu=2)
"""Without room: how long to wait."""

# Replies

REPLY = [Path(f"am2_reply_{n}", call=1, load=3, branch=3, alu=2 + n // 2)
         for n in range(ARGUMENTS + 1)]
"""The call, its token and its checks."""
NULL_REPLY = Path("am2_null_reply", load=2, branch=1, alu=2)
KEEP = Path("am2_keep", call=1, load=4, store=10, branch=2, alu=4)
"""A reply without room, kept."""

# Messages that come

POLL = Path("am2_poll", call=1, load=2, branch=2, alu=2)
"""AM_Poll, or the poll in a request, beside the checks themselves."""
POLL_ENDPOINT = Path("am2_poll_endpoint", load=3, branch=1, alu=2)
"""Each endpoint of the bundle: where its queues' heads are."""
POLL_CHOICE = Path("am2_poll_choice", load=2, store=1, branch=2, alu=2)
"""With two protocols: whether it is the network's turn."""
TAKE = [Path(f"am2_take_{n}", call=1, load=6, store=1, branch=5, alu=6 + n // 2)
        for n in range(ARGUMENTS + 1)]
"""A message found: its head, its checks, its handler's call. Its loads are the packet's."""
SEGMENT = Path("am2_segment", load=2, branch=2, alu=2)
"""Where the data of a transfer go, and whether they may."""
BULK = Path("am2_bulk", call=1, load=2, branch=2, alu=3)
"""Bulk data, beside their copy: the copy's call."""

# Calls that do not send

OPEN = Path("am2_open", call=4, trap=1, load=40, store=600, branch=40, alu=40)
"""An endpoint is allocated: tables cleared, its segment of shared memory made."""
CLOSE = Path("am2_close", call=2, trap=1, load=20, store=20, branch=20, alu=20)
MAP = Path("am2_map", call=2, trap=1, load=8, store=8, branch=8, alu=8)
"""A name is mapped: its segment attached."""
SET = Path("am2_set", call=1, load=2, store=2, branch=2)
"""Tag, segment, handler, mask: a word or two of the control block."""
QUERY = Path("am2_query", call=1, load=2, branch=1)
WAIT = Path("am2_wait_sema", call=1, load=3, branch=3)


class Prices(prices(globals(), lambda description: description.am2.path_scale)):
    """The paths of AM-II as a CPU charges them."""
