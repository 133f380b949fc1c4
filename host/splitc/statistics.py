"""Counts of messages and bytes, by kind, and of messages by where they went."""

from collections import Counter
from dataclasses import dataclass, field

__all__ = ["COLLECTIVE", "Count", "Statistics"]

COLLECTIVE = "collective"
"""The kind of the messages of barrier, broadcast, reduce and scan."""


@dataclass(slots=True)
class Count:
    """Accesses of one kind.

    Attributes
    ----------
    messages
        Accesses that became a message: a request, a store or a get of Active Messages. Replies are
        not counted.
    bytes
        The program's bytes that these read or wrote.
    local
        Accesses that were local, and sent nothing.
    """

    messages: int = 0
    bytes: int = 0
    local: int = 0


@dataclass(slots=True)
class Statistics:
    """The requests of one process. Kinds have the names of the calls; the messages of barrier,
    broadcast, reduce and scan are of the kind "collective".

    Attributes
    ----------
    to
        Messages by the process that they went to, those of collective calls not among them.
    """

    kinds: dict[str, Count] = field(default_factory=dict)
    to: Counter[int] = field(default_factory=Counter)

    def sent(self, kind: str, length: int, dest: int) -> None:
        """Count a message to process ``dest``, with ``length`` bytes of the program."""
        count = self.kinds.setdefault(kind, Count())
        count.messages += 1
        count.bytes += length
        if kind != COLLECTIVE:
            self.to[dest] += 1

    def stayed(self, kind: str) -> None:
        """Count a local access."""
        self.kinds.setdefault(kind, Count()).local += 1

    def plain(self) -> dict[str, dict[str, int]]:
        """The counts as plain data."""
        return {kind: {"messages": one.messages, "bytes": one.bytes, "local": one.local}
                for kind, one in sorted(self.kinds.items())}
