"""An endpoint of its own process, as the shared way knows it."""

from collections import deque
from dataclasses import dataclass, field

from ..kept_replies import Kept
from ..packets import Arrived
from .filling import Filling
from .queue_block import QueueBlock

__all__ = ["Back", "Part"]


@dataclass(slots=True, eq=False)
class Back:
    """The way of a reply: to the queue block of the sender, whose message was ``arrived``;
    ``replied`` when it has got one."""

    block: QueueBlock
    arrived: Arrived | None = None
    replied: bool = False


@dataclass(slots=True, eq=False)
class Part:
    """The queue block of an endpoint, as its owner knows it.

    Attributes
    ----------
    requesting, replying, returning
        The sends that may be under way at a time: of a request, of a reply, of a reply that goes
        back.
    heads
        Packets taken from the queue of requests, and from that of replies. One that is being
        handled is still there.
    handling
        What is at the head of the queue of requests, while it is being handled.
    answering
        Where the last reply went.
    kept
        Replies that have found no room yet, oldest first.
    """

    block: QueueBlock
    requesting: Filling
    replying: Filling
    returning: Filling
    heads: list[int] = field(default_factory=lambda: [0, 0])
    handling: Arrived | None = None
    answering: Back | None = None
    kept: Kept = field(default_factory=deque)
