"""Messages on their way: as a call sends them, and as a way has found them."""

from dataclasses import dataclass
from typing import Any

from ...layouts.am2 import Opcode
from .endpoint_name import EndpointName

__all__ = ["BULK", "REPLIES", "Arrived", "Packet"]

BULK = frozenset({Opcode.REQUEST_I, Opcode.REQUEST_XFER, Opcode.REPLY_I, Opcode.REPLY_XFER})
REPLIES = frozenset({Opcode.REPLY, Opcode.REPLY_I, Opcode.REPLY_XFER})


@dataclass(slots=True)
class Packet:
    """A message that is to be sent.

    Attributes
    ----------
    tag
        The destination's, as the sender knows it.
    source, length, offset
        Bulk data: their physical address here, their bytes, their place in the receiver's segment.
    returned
        0, or why this message, which has come from there, goes back (:class:`.Returned`). A request
        goes back to the queue of replies, as the end of that request; a reply to that of requests.
    epoch
        Of a request: the number of its sender's tag. Of a reply: what its request had.
    trace
        Its trace number.
    """

    opcode: Opcode
    handler: int
    arguments: tuple[int, ...] = ()
    tag: int = 0
    source: int = 0
    length: int = 0
    offset: int = 0
    returned: int = 0
    epoch: int = 0
    trace: int = 0


@dataclass(slots=True)
class Arrived:
    """A message that a way has found: fields as of :class:`Packet`.

    Attributes
    ----------
    data
        Physical address of the bulk data, which are there until the message has been handled.
    sender
        Whom it is from.
    back
        The way's own: where a reply goes.
    """

    opcode: Opcode
    handler: int
    arguments: tuple[int, ...]
    tag: int
    data: int
    length: int
    offset: int
    returned: int
    epoch: int
    trace: int
    sender: EndpointName
    back: Any
