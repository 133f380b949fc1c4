"""The words of entries and answers, as a port packs and reads them."""

from ...layouts.operations import ANSWER_WORDS, ENTRY, Flag, Op, Status

__all__ = ["ANSWER_BYTES", "DISCARDED", "ENTRY_BYTES", "FRACTION", "F_NOT_EQUAL", "F_ONCE", "IRQ",
           "LOW", "MAX_WORK", "OPERATION", "PROCESS", "STALE", "TIMEOUT", "UNUSUAL", "WORD",
           "W_BLOCK", "W_CAS", "W_CHECK", "W_DELAY", "W_FLUSH", "W_IRQ", "W_LOAD", "W_POLL",
           "W_POSTED", "W_READ", "W_STOP", "W_STORE", "W_WATCH", "W_WRITE"]

ENTRY_BYTES = ENTRY.size
ANSWER_BYTES = 4 * ANSWER_WORDS
MAX_WORK = (1 << 32) - 1
"""Most ticks of work in an entry; what is more goes in front, in delays."""
OPERATION = 15
"""Mask of the operation in an entry's first byte."""
LOW = 0xFFFF_FFFF
FRACTION = Status.FRACTION_SHIFT.value
IRQ = int(Status.IRQ)
PROCESS = 20
"""Lowest bit of the process in an entry's word 0."""

W_DELAY = int(Op.DELAY)
W_READ = int(Op.PIO_READ)
W_WRITE = int(Op.PIO_WRITE)
W_POSTED = int(Op.PIO_WRITE) | Flag.POSTED << 8
W_LOAD = int(Op.TOUCH)
W_STORE = int(Op.TOUCH) | Flag.STORE << 8
W_POLL = int(Op.POLL)
W_WATCH = int(Op.WATCH)
W_IRQ = int(Op.WAIT_IRQ)
W_CAS = int(Op.CAS)
W_STOP = int(Op.STOP)
W_FLUSH = W_LOAD | Flag.FLUSH << 8
W_BLOCK = W_STORE | Flag.BLOCK << 8
F_ONCE = Flag.ONCE << 8
W_CHECK = W_POLL | F_ONCE
F_NOT_EQUAL = Flag.NOT_EQUAL << 8
TIMEOUT = int(Status.TIMEOUT)
DISCARDED = int(Status.DISCARDED)
STALE = int(Status.STALE)
UNUSUAL = DISCARDED | STALE
"""If the last answer's status has one of these, those before it count (:meth:`.Port.look_back`)."""

WORD = (1 << 64) - 1
"""Mask of a whole word."""
