"""Counts of packets that a layer sent again, by peer and cause."""

from collections import Counter
from enum import StrEnum
from typing import Any, Protocol

from ...layouts.trace import Activity, Kind

__all__ = ["Cause", "SentAgain"]


class Cause(StrEnum):
    """What made a layer send a packet again."""

    NACK = "NACK"
    """The receiver got a later packet and reported this one as missing."""
    ANSWER = "answer to a probe"
    """After a time-out, the receiver answered that it does not have the packet."""
    TIMEOUT = "time-out"
    """No acknowledgement came; the packet may have arrived."""
    RETURNED = "returned"
    """The receiver had no room for it, and sent it back."""


class Marking(Protocol):
    """What a port is to this: it keeps marks, and knows who counts."""

    sent_again: list["SentAgain"]

    def mark(self, activity: int, kind: int, number: int) -> Any: ...


class SentAgain:
    """Counts packets that ``layer`` sent again, by peer and cause, and marks each in the trace.
    Each layer that sends again has one, its attribute ``again``; the port through which it sends
    knows them all. Counting costs no target time.

    On a network that loses nothing all counts are 0, but those of ``Cause.RETURNED``.
    """

    def __init__(self, port: Marking, layer: str) -> None:
        self.layer = layer
        """As people call it."""
        self._port = port
        port.sent_again.append(self)
        self.counts: Counter[tuple[int, Cause]] = Counter()
        """Packets, by node number of the peer and cause. No entry is 0."""

    def note(self, peer: int, cause: Cause) -> None:
        """A packet was sent again to node ``peer``."""
        self.counts[peer, cause] += 1
        self._port.mark(Activity.CONTROL, Kind.AGAIN, peer)

    def by_peer(self, *causes: Cause) -> dict[int, int]:
        """Packets sent again to each node, for ``causes`` alone if there are any."""
        found: Counter[int] = Counter()
        for (peer, cause), count in self.counts.items():
            if not causes or cause in causes:
                found[peer] += count
        return dict(found)

    def total(self, *causes: Cause) -> int:
        """Packets sent again, for ``causes`` alone if there are any."""
        return sum(self.by_peer(*causes).values())
