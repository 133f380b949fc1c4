"""The event trace: which block did what to which message, and when."""

from enum import IntEnum
from typing import NamedTuple

__all__ = ["ARG_BITS", "BEGIN", "END", "OF_NODES", "OF_SWITCHES", "PORT_SHIFT", "TICKS", "Block",
           "Drop", "Kind", "Event", "Activity", "Mark"]

ARG_BITS = 32
PORT_SHIFT = 4
TICKS = 256
"""Marks of host programs count time in ticks: 1/TICKS of a target cycle."""


class Block(IntEnum):
    """Blocks of the target that emit events. HOST stands for the marks of host programs."""

    HOST = 0
    BUS = 1
    """A transaction. arg: its initiator: a DMA engine, from 1 on, in the order of the NIC's; or a
    host port, its CPU's number << PORT_SHIFT."""
    SEND_PIO = 2
    SEND_DMA = 3
    """BEGIN when the descriptor, which holds the number, has arrived. arg: low 32 bits of the cycle
    in which the fetch of the descriptor was requested; the service began then."""
    SEND_LINK = 4
    SWITCH = 5
    RECEIVE_LINK = 6
    RECEIVE_DMA = 7
    RECEIVE_PIO = 8
    MEMORY = 9
    """The memory port of a node with several CPUs is taken: BEGIN and END. No number (0)."""
    FAULT = 10
    TRUNK = 11
    DOORBELL = 12
    """BEGIN when a token is accepted. No number (0); arg: number of the work queue."""
    VI_FETCH = 13
    """A descriptor: BEGIN at its VI's turn (arg: work queue), END when it has been read."""
    VI_SEND = 14
    """Data of a packet: from its first translation until the packet is whole in its slot. AGAIN
    when the packet has left a second time."""
    VI_RECEIVE = 15
    """A packet: from its header until its data is in memory; DROP if it is refused."""
    TRANSLATION = 16
    """A table walk; arg of BEGIN: the index."""
    COMPLETION = 17
    """A descriptor's completion: from the request until its status, and its completion queue's
    entry, are in memory."""
    FIRMWARE = 18
    """Events that the firmware of the NIC processor emits."""
    H2N = 19
    """A transfer of the NIC processor from host memory: from its turn to its end."""
    N2H = 20
    NIC_SEND = 21
    """A piece of a packet: from its turn until it has left NIC memory."""
    NIC_RECEIVE = 22
    """A packet: from its header until it is whole in NIC memory; DROP if it did not fit."""
    PROCESSOR = 23
    """BEGIN when the NIC processor wakes, END when it falls asleep; no number (0)."""
    WATCH = 24
    """BEGIN when a CPU takes a watched line; arg: the line's address."""


class Kind(IntEnum):
    """Kinds of events. BEGIN and END bracket the service of one message by one block."""

    BEGIN = 0
    END = 1
    DROP = 2
    """arg: :class:`Drop`."""
    CORRUPT = 3
    DUPLICATE = 4
    DELAY = 5
    AGAIN = 6
    """A packet was sent again. arg: of VI_SEND the VI's number, of FIRMWARE the peer's node. Events
    AGAIN of these two blocks are recorded even if no others are. As a mark of HOST, number is the
    peer's node."""


BEGIN, END = int(Kind.BEGIN), int(Kind.END)
"""As plain numbers, for what packs many."""


OF_SWITCHES = frozenset({Block.SWITCH, Block.TRUNK})
"""Blocks whose events have the number of a switch as ``node``, and one of its outputs as ``arg``;
TRUNK is the link behind the output."""
OF_NODES = frozenset({Block.MEMORY})
"""Blocks whose events have the number of a node as ``node`` even where nodes have several NICs."""


class Drop(IntEnum):
    """Reasons for which packets are dropped: ``arg`` of an event DROP."""

    OVERFLOW = 0
    CRC = 1
    MISROUTED = 2
    MALFORMED = 3
    INJECTED = 4
    REFUSED = 5


class Event(NamedTuple):
    """One event. ``node`` is a wire address: where nodes have one NIC each, the node's number. For
    a block of OF_SWITCHES it is a switch, for a block of OF_NODES a node."""

    cycle: int
    node: int
    block: int
    kind: int
    number: int
    arg: int


class Activity(IntEnum):
    """Activities of a host program; a layer brackets each with marks BEGIN and END."""

    REQUEST_SEND = 1
    """o_s of a request: from the call to its last store having left the CPU."""
    REQUEST_HANDLE = 2
    """o_r of a request: from the poll finding it to its handler's end, the reply's o_s excluded."""
    REPLY_SEND = 3
    REPLY_HANDLE = 4
    EMPTY_POLL = 5
    WINDOW_WAIT = 6
    """Waiting for the window to open: idle, except for the messages handled meanwhile."""
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
    """The same call when it finds none."""
    BLOCKED = 16
    """Waiting for an interrupt."""
    COMMUNICATE = 17
    """A program's phase of communication; a phase of computation is COMPUTE. Number: the phase. Of
    MPI: a call of the library. Number: which."""
    WAITING = 18
    """A call of MPI waits for what others send."""
    COPY = 19
    """MPI copies data."""
    REGISTER = 20
    """MPI registers memory of a long message, or undoes it."""
    CHANNEL = 21
    """MPI gives a packet to its channel, or has the channel look."""
    LOOK = 22
    """A message processor looks for a message, or waits for room."""
    MOVE = 23
    """It moves one, one way: from the look that found it."""
    CHECK = 24
    """A step of a send of AM-II: arguments, translation and tag."""
    ADVANCE = 25
    """The next: a number is drawn from the tail of the receiver's queue."""
    CLAIM = 26
    """The next: the packet with this number is claimed."""
    FILL = 27
    """The next: it is filled, and given to the receiver."""


class Mark(NamedTuple):
    """One mark of a host program: at ``ticks`` (cycle * TICKS + fraction of its CPU's work)."""

    ticks: int
    node: int
    cpu: int
    activity: int
    kind: int
    number: int
