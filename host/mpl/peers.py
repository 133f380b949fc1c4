"""Keeps a node's state about another node: the order of messages, and its eager buffers."""

from .matching import Envelope

__all__ = ["NUMBERS", "SLOTS", "Peer"]

SLOTS = 8
"""Eager buffers that a node has for each other node."""
NUMBERS = 256
"""Numbers of the messages between two nodes, after which they begin again."""


class Peer:
    """State about one other node. Messages are numbered, because words and bulk data have
    sequences of their own in Active Messages and may overtake each other."""

    __slots__ = ("base", "slots", "freed", "next", "open", "expected", "early")

    def __init__(self) -> None:
        self.base: int | None = None
        """Address of this node's eager buffers at the other; None until it has told."""
        self.slots = list(range(SLOTS))
        """Those of them that are free."""
        self.freed: list[int] = []
        """Eager buffers of the other here that are free again, which it does not know yet."""
        self.next = 0
        """Number of the next message to the other; it does not wrap."""
        self.open: list[int] = []
        """Numbers of the eager messages that are not acknowledged."""
        self.expected = 0
        self.early: dict[int, Envelope] = {}
        """Messages that have overtaken the expected one."""

    @property
    def full(self) -> bool:
        """Tells whether another message might be confused with one that is not acknowledged."""
        return bool(self.open) and self.next - self.open[0] >= NUMBERS // 2

    def in_order(self, number: int, envelope: Envelope) -> list[Envelope]:
        """Note ``envelope``, message ``number``; return those whose turn has come."""
        self.early[number] = envelope
        found = []
        while (ready := self.early.pop(self.expected, None)) is not None:
            found.append(ready)
            self.expected = (self.expected + 1) % NUMBERS
        return found
