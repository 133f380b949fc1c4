"""The event trace: who did what to which message, when."""

from enum import IntEnum
from typing import NamedTuple

__all__ = ["ARG_BITS", "TICKS", "Block", "Kind", "Event", "Activity", "Mark"]

ARG_BITS = 32
TICKS = 256
"""Marks of host programs count time in ticks: 1/TICKS of a target cycle."""


class Block(IntEnum):
    """Blocks of the target that emit events; HOST are the marks of host programs."""

    HOST = 0
    BUS = 1
    SEND_PIO = 2
    SEND_DMA = 3
    """BEGIN when the descriptor, which holds the number, has come; its arg: the low 32 bits of the
    cycle in which the descriptor's fetch was requested, where its service really began."""
    SEND_LINK = 4
    SWITCH = 5
    RECEIVE_LINK = 6
    RECEIVE_DMA = 7
    RECEIVE_PIO = 8
    MEMORY = 9
    FAULT = 10
    TRUNK = 11
    DOORBELL = 12
    """BEGIN when a token is accepted; no number (0): arg is the work queue's."""
    VI_FETCH = 13
    """Of a descriptor, from its VI's turn (BEGIN, arg: the work queue) to it being there (END)."""
    VI_SEND = 14
    """Of a packet's data: from its first translation to the packet being whole in its slot. AGAIN
    when it has left a second time."""
    VI_RECEIVE = 15
    """Of a packet: from its header to its data having landed; DROP for what is refused."""
    TRANSLATION = 16
    """Of a table walk; arg of BEGIN: the index."""
    COMPLETION = 17
    """Of a descriptor: from the request to its status, and its queue's entry, having landed."""
    FIRMWARE = 18
    """Whatever the firmware of the NIC processor marks."""
    H2N = 19
    """Of a NIC processor's transfer from host memory: from its turn to its end."""
    N2H = 20
    NIC_SEND = 21
    """Of a packet's piece, from its turn to it having left NIC memory."""
    NIC_RECEIVE = 22
    """Of a packet, from its header to it being whole in NIC memory; DROP where it did not fit."""
    PROCESSOR = 23
    """BEGIN when the NIC processor wakes, END when it falls asleep; no number (0)."""
    WATCH = 24
    """BEGIN when a CPU takes a watched line; arg: the line's address."""


class Kind(IntEnum):
    """What happened. BEGIN and END bracket the service of one message by one block."""

    BEGIN = 0
    END = 1
    DROP = 2
    """arg: 0 overflow, 1 CRC, 2 misrouted, 3 malformed, 4 injected, 5 refused."""
    CORRUPT = 3
    DUPLICATE = 4
    DELAY = 5
    AGAIN = 6
    """A packet was sent again. Of VI_SEND: arg is the VI's number; of FIRMWARE: the peer's node; of
    these the event is recorded even where others are not. Of HOST, a mark: its number is the
    peer's node."""


class Event(NamedTuple):
    """One event. ``node`` is the switch's number for the blocks SWITCH and TRUNK (the link behind
    one of its outputs), with ``arg`` its output."""

    cycle: int
    node: int
    block: int
    kind: int
    number: int
    arg: int


class Activity(IntEnum):
    """What a host program was doing; a layer brackets each with marks BEGIN and END."""

    REQUEST_SEND = 1
    """o_s of a request: from the call to its last store having left the CPU."""
    REQUEST_HANDLE = 2
    """o_r of a request: from the poll finding it to its handler's end, the reply's o_s excluded."""
    REPLY_SEND = 3
    REPLY_HANDLE = 4
    EMPTY_POLL = 5
    WINDOW_WAIT = 6
    """Waiting for the window to open: idle, but for what it handles meanwhile."""
    COMPUTE = 7
    BULK_SEND = 8
    BULK_HANDLE = 9
    CONTROL = 10
    """Acknowledgements, NACKs, keep-alives, time-outs; interrupts, with what they call."""
    POST_SEND = 11
    """VipPostSend: from the call to its doorbell having left the CPU."""
    POST_RECEIVE = 12
    SEND_COMPLETE = 13
    """A VipSendDone (or CQ) call that finds a completion."""
    RECEIVE_COMPLETE = 14
    EMPTY_CHECK = 15
    """One that finds none."""
    BLOCKED = 16
    """Waiting for an interrupt."""


class Mark(NamedTuple):
    """One mark of a host program: at ``ticks`` (cycle * TICKS + fraction of its CPU's work)."""

    ticks: int
    node: int
    cpu: int
    activity: int
    kind: int
    number: int
