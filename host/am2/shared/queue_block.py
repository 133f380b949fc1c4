"""The shared-memory queue block of an endpoint: where everything in it is.

It begins with the line of the tag. Then it has two queues, of requests and of replies. A queue has
a line with its tail and one with the tail of its blocks, which senders write; a line with its head,
which the receiver writes; packets; a flag for each block; and blocks of bulk data. No two writers
share a line, except by turns.
"""

from enum import IntEnum

from ....layouts.am2 import HEAD, LONG, PACKET_BYTES
from ....layouts.description import Description
from ...port.node import Node
from ..endpoint_name import EndpointName

__all__ = ["DEAD", "Queue", "QueueBlock", "State", "block_bytes"]

DEAD = 1 << 63
"""In a tail: nobody draws a number any more."""
ROUND = HEAD.mask("type").bit_length()
TAG, STATE = 0, 8
"""Places in the first line."""


class State(IntEnum):
    """The second word of a queue block."""

    ABSENT = 0
    """Nobody has allocated the endpoint yet: fresh memory."""
    OPEN = 1
    CLOSED = 2
    ENDED = 3
    """Its process has ended without closing it."""


class Queue:
    """A queue at ``base`` of ``packets`` and ``blocks``; ``line`` is that of the caches. Numbers of
    packets and of blocks count without end.

    Attributes
    ----------
    tail, block_tail, head
        Addresses of the words.
    end
        The address behind it.
    """

    __slots__ = ("tail", "block_tail", "head", "packets", "blocks", "end", "_packet", "_slots",
                 "_flags", "_line", "_data")

    def __init__(self, base: int, line: int, packets: int, blocks: int) -> None:
        self.packets = packets
        self.blocks = blocks
        self._line = line
        self._packet = max(line, PACKET_BYTES)
        self.tail, self.block_tail, self.head = (base + line * index for index in range(3))
        self._slots = base + 3 * line
        self._flags = self._slots + packets * self._packet
        self._data = self._flags + blocks * line
        self.end = self._data + blocks * LONG

    def slot(self, number: int) -> int:
        """The address of packet ``number``."""
        return self._slots + number % self.packets * self._packet

    def free(self, number: int) -> int:
        """The head of packet ``number`` as long as it is free. It is another one each time around
        the queue: so packets are claimed in the order of their numbers, and what a sender sends
        stays in order, though the queue is full and several wait for the same slot."""
        return number // self.packets << ROUND

    def flag(self, block: int) -> int:
        """The address of the flag of a block: a word, not 0 if it is in use."""
        return self._flags + block % self.blocks * self._line

    def data(self, block: int) -> int:
        """The address of a block."""
        return self._data + block % self.blocks * LONG


class QueueBlock:
    """The queue block of endpoint ``name``, as processes on its node know it. Whoever comes first
    has the memory allocated.

    Attributes
    ----------
    tag, state
        Addresses of these words.
    requests, replies
        Its queues.

    Raises
    ------
    MemoryError
        The node's memory is full.
    """

    __slots__ = ("name", "tag", "state", "requests", "replies")

    def __init__(self, node: Node, name: EndpointName) -> None:
        line = _line(node.description)
        base = node.shared(f"AM-II {name.cpu}.{name.number}", block_bytes(node.description), line)
        self.name = name
        self.tag, self.state = base + TAG, base + STATE
        self.requests, self.replies = _queues(base, node.description)


def block_bytes(description: Description) -> int:
    """Bytes of a queue block."""
    return _queues(0, description)[1].end


def _line(description: Description) -> int:
    return max(description.cpu.line_bytes, PACKET_BYTES)


def _queues(base: int, description: Description) -> tuple[Queue, Queue]:
    """The queues of the block at ``base``."""
    line, knobs = _line(description), description.am2
    shape = line, knobs.queue_packets, knobs.queue_blocks
    requests = Queue(base + line, *shape)
    return requests, Queue(requests.end, *shape)
