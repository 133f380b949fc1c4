"""CPU costs of Active Messages: every path of the layer as a sum of cost items.

They are counted from the code that a C implementation of each path needs. PIO, cache misses and bus
time are separate operations and are not included.
"""

from ..port.costs import Path
from ..port.prices import prices

__all__ = ["Prices"]

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
"""am_poll, besides the check itself."""
WAIT = Path("wait", call=1, load=1, branch=1)
CHECK_MISPLACED = Path("misplaced", call=1, load=8, store=1, branch=5, alu=5)
"""A packet out of sequence, dropped."""
CONTROL_SEND = Path("control_send", call=1, load=5, store=4, branch=2, alu=6)
CONTROL_HANDLE = Path("control_handle", call=1, load=7, store=3, branch=6, alu=6)
FREED = Path("freed", load=1, alu=1)
"""Clearing the flag of a slot of the message processor's receive queue, besides the store."""
TAKEN = Path("taken", load=2, store=1, alu=2)
"""Writing to the NIC how many slots were taken."""
FREE = Path("free", store=1, alu=2, branch=1)
"""Freeing a slot of a receive queue in NIC memory, and the next one's address."""
TIMERS = Path("timers", call=1, load=4, branch=3, alu=2)
TIMER_PEER = Path("timer_peer", load=6, branch=5, alu=3)
AGAIN = Path("again", call=1, load=8, store=1, branch=3, alu=4)
"""Sending a kept packet: for the first time after a lack of room, or again."""
SAMPLE = Path("sample", call=1, load=6, store=6, branch=5, alu=12)
"""Taking a sample of the round trip: which packet ended it, mean, deviation, time-out, and the next
packet to time. If the round trip of a peer is not measured, its acknowledgements run a routine
without this test."""
SPACE = Path("space", call=1, load=1, store=1, branch=1)
"""Reading the free space of a send queue from the NIC."""
TRANSFER = Path("transfer", call=2, load=8, store=10, branch=6, alu=6)
"""am_store, am_store_async, am_get: arguments, checks, the transfer's record."""
BULK_SEND = Path("bulk_send", call=1, load=10, store=9, branch=5, alu=12, flush=1)
"""Descriptor of a bulk packet, besides the lines it touches."""
SLOT = Path("slot", load=2, store=1, alu=4)
"""A small packet into a slot of a firmware's queue, in addition to REQUEST, REPLY and so on: the
slot's address, and the count of posted slots."""
BULK_SLOT = Path("bulk_slot", call=1, load=10, store=1, branch=5, alu=12)
"""A bulk packet into such a slot."""
PINNED = Path("pinned", load=2, store=1, branch=1, alu=4)
"""The place in the pinned region for a packet of bulk data, besides the copy."""
STORED_SLOT = Path("stored_slot", load=2, store=5, alu=7)
"""As SLOT, with the slot in host memory: its words are stores, and its first word has the phase
bit."""
STORED_BULK_SLOT = Path("stored_bulk_slot", call=1, load=10, store=5, branch=5, alu=15)
ENTRY = Path("entry", load=3, store=6, alu=10)
"""As STORED_SLOT, with the packet's length in place of a phase bit: it is put into the word of four
lengths."""
BULK_ENTRY = Path("bulk_entry", call=1, load=11, store=6, branch=5, alu=18)
"""A packet of bulk data into such an entry, besides the copy."""
MESSAGE_OUT = Path("message_out", load=5, branch=4, alu=8)
"""A message processor: a message of the send queue, its wire header, the NIC's room, the next
line."""
MESSAGE_OUT_BULK = Path("message_out_bulk", load=2, store=8, branch=2, alu=6)
"""In addition, where its data are to be fetched by the NIC: a descriptor of the send ring."""
MESSAGE_ROOM = Path("message_room", load=1, store=1, branch=1, alu=1)
"""Reading how much room the NIC has."""
MESSAGE_IN = Path("message_in", load=3, store=1, branch=4, alu=7)
"""A message processor: a packet of the receive window, its length, the slot, the flag."""
MESSAGE_WORD = Path("message_word", store=1, branch=1, alu=1)
"""Each word of it, besides the uncached read."""
MESSAGE_START = Path("message_start", call=2, load=8, store=12, branch=4, alu=10)
BULK_HANDLE = Path("bulk_handle", call=1, load=9, store=4, branch=7, alu=8)
BULK_LAST = Path("bulk_last", call=1, load=4, store=2, branch=2)
END = Path("end", call=1, load=3, branch=2)
"""End function of a finished store."""
QUERY = Path("query", call=1, load=1)
ENABLE = Path("enable", call=4, load=12, store=40, branch=12, alu=20)
ENABLE_PEER = Path("enable_peer", call=1, load=4, store=24, branch=2, alu=12)
DISABLE = Path("disable", call=2, load=6, store=4, branch=6)
BYE = Path("bye", call=1, load=6, store=6, branch=3, alu=7)
REGISTER = Path("register", call=1, store=2, branch=1, alu=1)


class Prices(prices(globals())):
    """The paths of the layer as a CPU charges them."""
