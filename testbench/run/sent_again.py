"""Checks whether packets were sent again, which must not happen on a network without losses."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from ...host.port.port import Port
from ...host.port.sent_again import Cause
from ...layouts.description import Description
from ...layouts.trace import Block, Event, Kind
from ..estimate.compare import check

__all__ = ["NAME", "Account", "Resent", "loses", "sent_again"]

NAME = "nothing is sent again"
MOST = 6
"""Most lines of an account that are listed singly."""


class Resent(NamedTuple):
    """Packets that ``layer`` on ``node`` sent again to ``to`` ("node 3", "the peer of VI 5"), for
    one ``cause``."""

    layer: str
    node: int
    to: str
    cause: str

    def __str__(self) -> str:
        return f"node {self.node} to {self.to} ({self.layer}: {self.cause})"


def loses(description: Description) -> bool:
    """Tells whether faults are injected that delay, lose or duplicate packets."""
    faults = description.faults
    return any((faults.drop, faults.corrupt, faults.duplicate, faults.delay))


def sent_again(ports: Iterable[Port], events: Iterable[Event]) -> Counter[Resent]:
    """Packets sent again in a run: by layers of the host on ``ports``, and by VI engines and
    firmware, which emit ``events`` for them."""
    found: Counter[Resent] = Counter()
    for port in ports:
        for again in port.sent_again:
            for (peer, cause), count in again.counts.items():
                found[Resent(again.layer, again.sender, f"node {peer}", cause)] += count
    for event in events:
        if event.kind != Kind.AGAIN:
            continue
        if event.block == Block.VI_SEND:
            resent = Resent("VI engine", event.node, f"the peer of VI {event.arg}",
                            "NAK, or answer to a probe")
        else:
            resent = Resent("firmware", event.node, f"node {event.arg}", "NACK or time-out")
        found[resent] += 1
    return found


class Account:
    """Packets sent again in all runs of a lab without faults.

    Packets returned for lack of room do not count: they are the flow control of a layer (Fast
    Messages), and nothing was lost.

    Attributes
    ----------
    runs
        Number of runs.
    found
        Packets, by sender.
    """

    def __init__(self) -> None:
        self.runs = 0
        self.found: Counter[Resent] = Counter()

    def note(self, description: Description, again: Counter[Resent]) -> None:
        """Note the end of a run with the settings of ``description``."""
        if not loses(description):
            self.runs += 1
            self.found += Counter({who: count for who, count in again.items()
                                   if who.cause != Cause.RETURNED})

    def join(self, other: "Account") -> None:
        """Add the runs of ``other``."""
        self.runs += other.runs
        self.found += other.found

    def checks(self) -> list[dict[str, Any]]:
        """The check in the form of a result file; none if every run had faults."""
        if not self.runs:
            return []
        detail = f"no packet in {self.runs} runs without faults"
        if self.found:
            told = [f"{count} by {who}" for who, count in self.found.most_common(MOST)]
            if len(self.found) > MOST:
                told.append(f"{len(self.found) - MOST} more")
            detail = f"{self.found.total()} packets without a fault: {'; '.join(told)}"
        return [check(NAME, not self.found, detail)]
