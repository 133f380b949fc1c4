"""CPU costs of Split-C: what each call and handler adds to Active Messages.

They are counted from the code that a C implementation of each path needs. The costs of Active
Messages, accesses to memory, cache misses and bus time come besides.
"""

from ..port.costs import Path
from ..port.prices import prices

__all__ = ["Prices"]

LOCAL = Path("splitc_local", branch=1, alu=1)
"""Whether a pointer is local, and that it is; the access itself is a load or store."""
REMOTE = Path("splitc_remote", call=1, branch=1, alu=2, store=1)
"""A word elsewhere: the test, the process's number and the address, the counter of what is under
way."""
AWAITED = Path("splitc_awaited", load=2, branch=1)
"""The value that a blocking access waited for."""
SERVE = Path("splitc_serve", load=1, store=1, alu=1)
"""A handler's access to memory, beside the touched line."""
COUNTED = Path("splitc_counted", load=1, alu=1, store=1)
"""A handler counts an answer, or bytes."""
BULK = Path("splitc_bulk", call=1, branch=2, alu=2, store=1)
"""A bulk access elsewhere: as REMOTE, and whether there are bytes at all."""
COPY = Path("splitc_copy", call=1, branch=2)
"""A bulk access that is local, besides the copied words."""
PROCEDURE = Path("splitc_procedure", call=1, load=1, branch=1)
"""Calling a procedure in a handler, or locally."""
COLLECTIVE = Path("splitc_collective", call=1, load=2, store=1, branch=2, alu=3)
"""Each message that a collective call sends or takes: who is next in the tree, the call's number,
the slot of the value."""
COMBINE = Path("splitc_combine", call=1, load=2, alu=1, store=1)


class Prices(prices(globals())):
    """The paths of the calls and handlers as a CPU charges them."""
