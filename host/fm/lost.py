"""Counts the packets that the network has lost, outside the target. Nobody sends them again, so a
program would wait for them until its limit."""

from collections.abc import Callable
from typing import NamedTuple

from ...layouts.description import Description

__all__ = ["Lost", "losses"]

UNDER_WAY = 20_000
"""Cycles for which a packet may be under way to a node that waits."""


def losses(description: Description) -> str:
    """Returns what makes the network lose packets, as a knob and its value; "" if nothing does."""
    for fault in ("drop", "corrupt"):
        if probability := getattr(description.faults, fault):
            return f"faults.{fault} = {probability}"
    return ""


class Sent(NamedTuple):
    """A packet that was sent."""

    cycle: int
    what: str


class Lost:
    """The packets of all nodes that have been sent and not taken. One for a run, kept only where
    the network loses some.

    Attributes
    ----------
    waiting
        By node, whether nothing has arrived there that it has not taken.
    """

    def __init__(self) -> None:
        self.waiting: dict[int, Callable[[], bool]] = {}
        self.why = ""
        self._sent: dict[tuple[int, int, int], Sent] = {}

    def sent(self, source: int, destination: int, number: int, cycle: int, what: str) -> None:
        """A packet with the trace number ``number`` is sent."""
        self._sent[source, destination, number] = Sent(cycle, what)

    def arrived(self, source: int, destination: int, number: int) -> None:
        """It has arrived."""
        self._sent.pop((source, destination, number), None)

    def diagnosis(self, now: int) -> list[str]:
        """A line about the packets that were lost before cycle ``now``, with the first one."""
        lost = sorted((sent.cycle, source, destination, sent.what)
                      for (source, destination, _), sent in self._sent.items()
                      if sent.cycle + UNDER_WAY < now
                      and self.waiting.get(destination, lambda: False)())
        if not lost:
            return []
        cycle, source, destination, what = lost[0]
        packets = "1 packet" if len(lost) == 1 else f"{len(lost)} packets"
        return [f"the network lost {packets} of Fast Messages, which send nothing again "
                f"({self.why}): the first is {what} from node {source} to node {destination}, sent "
                f"at cycle {cycle}"]
