"""CPU costs of VIPL: every path of the library and of the kernel agent as a sum of cost items.

They are counted from the code that a C implementation of each path needs. PIO, cache misses and bus
time are separate operations and are not included.
"""

from ..port.costs import Path
from ..port.prices import prices

__all__ = ["Prices"]

# The user's library

DESCRIPTOR = Path("descriptor", call=1, store=4, alu=1)
"""Building a control segment."""
SEGMENT = Path("segment", store=2, alu=1, branch=1)
POST = Path("post", call=1, load=4, store=5, branch=4, alu=3, flush=1)
"""VipPostSend, VipPostRecv: checks, clearing the descriptor's status, the queue's record, the
token; the descriptor is in memory before the doorbell is rung."""
LINK = Path("link", load=1, store=2, branch=1)
"""Next and NextHandle of the previous descriptor."""
SINGLE = DESCRIPTOR, SEGMENT
POST_LINKED = POST, LINK
CHECK = Path("check", call=1, load=2, branch=2)
"""VipSendDone, VipRecvDone, besides the check itself."""
TAKE = Path("take", load=3, store=3, branch=2, alu=1)
"""Unlinking a completed descriptor and reading its status."""
WAIT = Path("wait", call=1, load=3, branch=3)
"""A blocking call, besides its checks."""
ARM = Path("arm", load=2, branch=1)
NOTIFY = Path("notify", call=1, load=2, store=3, branch=3)
HANDLER = Path("handler", call=1, load=3, store=1, branch=2)
"""Calling a handler of the user."""
CQ_CHECK = Path("cq_check", call=1, load=3, branch=2, alu=2)
CQ_TAKE = Path("cq_take", load=3, store=1, branch=2, alu=3)
CQ_CONSUMED = Path("cq_consumed", load=1, alu=1)
"""Reporting to the NIC how many entries were taken."""
SPLIT = Path("split", load=3, store=2, branch=3, alu=3)
"""Host-supplied physical addresses: looking up a page, and writing its segment."""
SHADOW = Path("shadow", load=2, store=4, branch=1, alu=2)
"""The control segment of the descriptor that the NIC reads."""
UNSHADOW = Path("unshadow", copy_word=2, alu=1)
QUERY = Path("query", call=1, load=4, branch=1)

# The kernel agent

KERNEL = Path("kernel", call=2, trap=1, load=6, store=6, branch=6, alu=6)
"""A call that enters the kernel, besides its work there."""
BLOCK = Path("block", call=2, trap=1, load=4, store=4, branch=4)
"""Giving up the CPU until the interrupt."""
INTERRUPT = Path("interrupt", interrupt=1, call=1, load=2, branch=2)
EVENT = Path("event", call=1, load=3, store=1, branch=3, alu=2)
COMMAND = Path("command", call=1, load=4, store=2, branch=3, alu=4)
"""A command to the VI engine, or a completion queue's registers."""
REGION = Path("region", call=1, load=4, store=6, branch=4, alu=6)
"""Finding a place in the table, or giving it back."""
PAGE = Path("page", register_page=1)
UNPIN = Path("unpin", load=2, store=2, branch=2, alu=2)
CONTROL_SEND = Path("control_send", call=1, load=8, store=8, branch=3, alu=8)
CONTROL_HANDLE = Path("control_handle", call=1, load=8, store=4, branch=6, alu=6)


class Prices(prices(globals())):
    """The paths of the library and of the kernel agent as a CPU charges them."""
