"""Counts of messages and bytes, by kind."""

from dataclasses import dataclass, field

__all__ = ["Count", "Statistics"]


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
    broadcast, reduce and scan are of the kind "collective"."""

    kinds: dict[str, Count] = field(default_factory=dict)

    def sent(self, kind: str, length: int) -> None:
        """Count a message with ``length`` bytes of the program."""
        count = self.kinds.setdefault(kind, Count())
        count.messages += 1
        count.bytes += length

    def stayed(self, kind: str) -> None:
        """Count a local access."""
        self.kinds.setdefault(kind, Count()).local += 1

    def plain(self) -> dict[str, dict[str, int]]:
        """The counts as plain data."""
        return {kind: {"messages": one.messages, "bytes": one.bytes, "local": one.local}
                for kind, one in sorted(self.kinds.items())}
