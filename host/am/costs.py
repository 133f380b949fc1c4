"""What Active Messages cost: every path of the layer as a sum of the CPU's cost items.

Counted from the code a C implementation of each path needs; PIO, cache misses and bus time are
operations of their own and not in here.
"""

from ..port.costs import Path

__all__ = ["REQUEST", "REPLY", "NULL_REPLY", "REQUEST_HANDLE", "REPLY_HANDLE", "NULL_HANDLE"]

REQUEST = [Path(f"request_{n}", call=2, load=8 + n, store=7 + n, branch=6, alu=9 + n)
           for n in range(5)]
"""am_request_N: arguments, peer's state, credit and space tests, header, kept copy."""
REPLY = [Path(f"reply_{n}", call=2, load=6 + n, store=7 + n, branch=4, alu=8 + n)
         for n in range(5)]
NULL_REPLY = Path("null_reply", call=1, load=5, store=5, branch=2, alu=6)
REQUEST_HANDLE = [Path(f"request_handle_{n}", call=2, load=9 + n, store=3, branch=6, alu=6)
                  for n in range(5)]
"""Header and arguments from the slot, sequence and acknowledgements, dispatch."""
REPLY_HANDLE = [Path(f"reply_handle_{n}", call=2, load=9 + n, store=4, branch=6, alu=6)
                for n in range(5)]
NULL_HANDLE = Path("null_handle", call=1, load=8, store=4, branch=5, alu=6)
POLL = Path("poll", call=1, load=2, branch=2)
"""am_poll, beside the check itself."""
WAIT = Path("wait", call=1, load=1, branch=1)
CHECK_MISPLACED = Path("misplaced", call=1, load=8, store=1, branch=5, alu=5)
"""A packet out of sequence, dropped."""
CONTROL_SEND = Path("control_send", call=1, load=5, store=4, branch=2, alu=6)
CONTROL_HANDLE = Path("control_handle", call=1, load=7, store=3, branch=6, alu=6)
TAKEN = Path("taken", load=2, store=1, alu=2)
"""Telling the NIC how many slots were taken."""
TIMERS = Path("timers", call=1, load=4, branch=3, alu=2)
TIMER_PEER = Path("timer_peer", load=6, branch=5, alu=3)
AGAIN = Path("again", call=1, load=8, store=1, branch=3, alu=4)
"""Sending a kept packet: later for want of room, or again."""
SAMPLE = Path("sample", call=1, load=6, store=6, branch=5, alu=12)
"""A round trip taken: which packet ended it, mean, deviation, time-out, the next to be timed. A
peer whose round trip is not measured has a routine for its acknowledgements that does not ask."""
SPACE = Path("space", call=1, load=1, store=1, branch=1)
"""Asking the NIC for the room in a send queue."""
TRANSFER = Path("transfer", call=2, load=8, store=10, branch=6, alu=6)
"""am_store, am_store_async, am_get: arguments, checks, the transfer's record."""
BULK_SEND = Path("bulk_send", call=1, load=10, store=9, branch=5, alu=12, flush=1)
"""A bulk packet's descriptor, beside the lines it touches."""
SLOT = Path("slot", load=2, store=1, alu=4)
"""A small packet into a slot of a firmware's queue, beside REQUEST, REPLY and so on: the slot's
address, the count posted."""
BULK_SLOT = Path("bulk_slot", call=1, load=10, store=1, branch=5, alu=12)
"""A bulk packet into such a slot."""
STORED_SLOT = Path("stored_slot", load=2, store=5, alu=7)
"""The same as SLOT in host memory: its words are stores, and its first tells the lap."""
STORED_BULK_SLOT = Path("stored_bulk_slot", call=1, load=10, store=5, branch=5, alu=15)
BULK_HANDLE = Path("bulk_handle", call=1, load=9, store=4, branch=7, alu=8)
BULK_LAST = Path("bulk_last", call=1, load=4, store=2, branch=2)
END = Path("end", call=1, load=3, branch=2)
"""A finished store's end function."""
QUERY = Path("query", call=1, load=1)
ENABLE = Path("enable", call=4, load=12, store=40, branch=12, alu=20)
ENABLE_PEER = Path("enable_peer", call=1, load=4, store=24, branch=2, alu=12)
DISABLE = Path("disable", call=2, load=6, store=4, branch=6)
BYE = Path("bye", call=1, load=6, store=6, branch=3, alu=7)
REGISTER = Path("register", call=1, store=2, branch=1, alu=1)
