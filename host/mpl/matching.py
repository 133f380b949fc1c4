"""Messages by source and type: posted receives, and messages nobody asked for yet."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

__all__ = ["DONTCARE", "Envelope", "Matching", "MplError", "Receive", "Status", "Way"]

DONTCARE = -1
"""As a source or type of a receive: any."""


class MplError(Exception):
    """The program broke a rule of MPL."""


class Status(NamedTuple):
    """The result of a finished receive or send: the other node, type, bytes."""

    node: int
    type: int
    nbytes: int


class Way(Enum):
    """The way of a message: in words, in an eager buffer, or when it is asked for."""

    WORDS = auto()
    EAGER = auto()
    ASKED = auto()


class Envelope(NamedTuple):
    """A message at its receiver. ``at``: its words as a number, the number of its eager buffer, or
    the sender's number of the message."""

    source: int
    type: int
    nbytes: int
    way: Way
    at: int


@dataclass(eq=False, slots=True)
class Receive:
    """A posted receive."""

    number: int
    buffer: int
    length: int
    source: int
    type: int
    status: Status | None = None

    def takes(self, envelope: Envelope) -> bool:
        """Tells whether source and type of ``envelope`` are those asked for."""
        return (self.source in (DONTCARE, envelope.source)
                and self.type in (DONTCARE, envelope.type))


class Matching:
    """Both lists of a node, oldest first. ``searched`` is called for each record looked at."""

    __slots__ = ("posted", "unexpected", "_searched")

    def __init__(self, searched: Callable[[], None]) -> None:
        self.posted: list[Receive] = []
        self.unexpected: list[Envelope] = []
        self._searched = searched

    def arrived(self, envelope: Envelope) -> Receive | None:
        """The first posted receive that takes ``envelope``; without one it is kept."""
        for index, receive in enumerate(self.posted):
            self._searched()
            if receive.takes(envelope):
                return self.posted.pop(index)
        self.unexpected.append(envelope)
        return None

    def post(self, receive: Receive) -> Envelope | None:
        """The first kept message that ``receive`` takes; without one it is posted."""
        for index, envelope in enumerate(self.unexpected):
            self._searched()
            if receive.takes(envelope):
                return self.unexpected.pop(index)
        self.posted.append(receive)
        return None
