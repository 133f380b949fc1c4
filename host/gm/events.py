"""The events that gm_receive returns."""

from dataclasses import dataclass
from enum import IntEnum

from .status import GM_STATUS

__all__ = ["Event", "GM_EVENT", "NOTHING"]


class GM_EVENT(IntEnum):
    """Types of events."""

    GM_NO_RECV_EVENT = 0
    GM_RECV_EVENT = 2
    GM_HIGH_RECV_EVENT = 3
    GM_SENT_EVENT = 5
    """A send has ended: gm_unknown runs its callback."""
    GM_REFUSED_EVENT = 6
    """A receive buffer was refused: gm_unknown logs it."""


@dataclass(slots=True, unsafe_hash=True)
class Event:
    """An event; what is not of its type is 0. Nobody changes it, which is not checked: each message
    makes two. Events of the same content are equal, and have the same hash.

    Attributes
    ----------
    type
        GM_EVENT.
    buffer, length, size, tag
        GM_RECV_EVENT, GM_HIGH_RECV_EVENT: where the message is, how long, the buffer's size class
        and tag. GM_REFUSED_EVENT: the buffer.
    sender_node_id, sender_port_id
        Where it is from.
    status, token
        GM_SENT_EVENT, GM_REFUSED_EVENT: for gm_unknown.
    trace
        Trace number of the message.
    """

    type: GM_EVENT
    buffer: int = 0
    length: int = 0
    size: int = 0
    tag: int = 0
    sender_node_id: int = 0
    sender_port_id: int = 0
    status: GM_STATUS = GM_STATUS.GM_SUCCESS
    token: int = -1
    trace: int = 0


NOTHING = Event(GM_EVENT.GM_NO_RECV_EVENT)
"""There is none."""
