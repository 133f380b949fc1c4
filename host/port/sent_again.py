"""Counts of packets that a layer sent again, by peer and cause."""

from collections import Counter
from enum import StrEnum
from typing import Any, Protocol

from ...layouts.trace import Activity, Kind

__all__ = ["Cause", "SentAgain"]


class Cause(StrEnum):
    """The reason for which a layer sent a packet again."""

    NACK = "NACK"
    """The receiver got a later packet and reported this one as missing."""
    ANSWER = "answer to a probe"
    """After a time-out, the receiver answered that it does not have the packet."""
    TIMEOUT = "time-out"
    """No acknowledgement came; the packet may have arrived."""
    RETURNED = "returned"
    """The receiver had no room for the packet and sent it back."""


class Marking(Protocol):
    """The part of a port that this module needs: it keeps marks and knows the counters."""

    sent_again: list["SentAgain"]

    def mark(self, activity: int, kind: int, number: int) -> Any: ...


class SentAgain:
    """Counts packets that ``layer`` sent again, by peer and cause, and marks each in the trace.
    Each layer that retransmits has one, in its attribute ``again``; the port through which the
    layer sends has a list of all. Counting costs no target time.

    On a network without losses all counts are 0, except those of ``Cause.RETURNED``.
    """

    def __init__(self, port: Marking, layer: str, sender: int) -> None:
        self.layer = layer
        """The layer's name in messages to the user."""
        self.sender = sender
        """The sending node, as the layer numbers it and its peers: with several NICs the wire
        address."""
        self._port = port
        port.sent_again.append(self)
        self.counts: Counter[tuple[int, Cause]] = Counter()
        """Packets, by the peer's node number and cause. Entries are never 0."""

    def note(self, peer: int, cause: Cause) -> None:
        """A packet was sent again to node ``peer``."""
        self.counts[peer, cause] += 1
        self._port.mark(Activity.CONTROL, Kind.AGAIN, peer)

    def by_peer(self, *causes: Cause) -> dict[int, int]:
        """Packets sent again to each node, for all causes or only for ``causes``."""
        found: Counter[int] = Counter()
        for (peer, cause), count in self.counts.items():
            if not causes or cause in causes:
                found[peer] += count
        return dict(found)

    def total(self, *causes: Cause) -> int:
        """Packets sent again, for all causes or only for ``causes``."""
        return sum(self.by_peer(*causes).values())
