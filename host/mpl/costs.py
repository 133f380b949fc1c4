"""CPU costs of MPL: what each call and handler adds to Active Messages.

They are counted from the code that a C implementation of each path needs, times
``mpl.path_scale``. Copies, cache misses and bus time come besides.
"""

from ..port.costs import Path
from ..port.prices import prices

__all__ = ["Prices"]

SEND = Path("mpl_send", call=2, load=8, store=10, branch=8, alu=8)
"""mp_send: arguments, the message's record and number, the way by its length."""
RECEIVE = Path("mpl_receive", call=2, load=6, store=8, branch=6, alu=4)
"""mp_recv: arguments, the receive's record, into the list of those posted."""
ARRIVED = Path("mpl_arrived", call=2, load=8, store=4, branch=6, alu=6)
"""An envelope in a handler: its words, its place in the order."""
SEARCH = Path("mpl_search", load=3, branch=3, alu=1)
"""A record looked at: source and type compared."""
KEEP = Path("mpl_keep", call=1, load=2, store=8, branch=2, alu=2)
"""An envelope that no receive matches, kept."""
DELIVER = Path("mpl_deliver", call=1, load=6, store=8, branch=4, alu=3)
"""A message and its receive: the length tested, records taken from their lists, the status."""
GO = Path("mpl_go", call=1, load=4, store=2, branch=2, alu=2)
"""A step of a long message, or eager buffers returned: the arguments of the request."""
SENT = Path("mpl_sent", call=1, load=2, store=2, branch=1)
"""The end of a send or of a long message: its record."""
WAIT = Path("mpl_wait", call=2, load=6, store=4, branch=4, alu=2)
"""mp_wait: the record found, its status taken, the record freed."""
POLLED = Path("mpl_status", call=1, load=2, branch=2)
QUERY = Path("mpl_environ", call=1, load=2, store=2)
ENABLE = Path("mpl_enable", call=4, load=12, store=40, branch=12, alu=20)
ENABLE_PEER = Path("mpl_enable_peer", call=1, load=2, store=12, branch=2, alu=6)


class Prices(prices(globals(), lambda description: description.mpl.path_scale)):
    """The paths of the library as a CPU charges them."""
