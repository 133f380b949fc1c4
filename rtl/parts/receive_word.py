"""Received packets within a NIC: words that say where in their packet they are."""

from amaranth.lib import data

from ...layouts.packet import TRACE_BITS

__all__ = ["ReceiveWord"]


class ReceiveWord(data.Struct):
    """A word of a packet and where in it: ``first`` the header, ``last`` the end. ``following`` is
    how many words come after it, in the header word only. ``bad``, with ``last`` only: the packet
    is not to be used; it may have ended before its header says, and this word is any."""

    data: 64
    following: 14
    first: 1
    last: 1
    bad: 1
    trace: TRACE_BITS
