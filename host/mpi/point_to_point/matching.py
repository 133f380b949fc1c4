"""Matching: posted receives, and messages that nobody waits for, by context."""

from dataclasses import dataclass

from ...port.port import Port
from ...port.work import Charge
from ..constants import ANY_SOURCE, ANY_TAG
from ..progress.packets import Header
from .requests import Receive

__all__ = ["Matching", "Unexpected"]


@dataclass(slots=True)
class Unexpected:
    """A message that has come before its receive: its header, the sender among all ranks, and where
    its data are, if it came with them."""

    header: Header
    world_rank: int
    place: int = 0


class Matching:
    """Both queues of each context, oldest first. ``port`` is charged ``search`` for each entry
    compared, and ``match`` besides for the posted receive of a message that arrives."""

    __slots__ = ("posted", "unexpected", "_port", "_search", "_found")

    def __init__(self, port: Port, search: Charge, match: Charge) -> None:
        self.posted: dict[int, list[Receive]] = {}
        self.unexpected: dict[int, list[Unexpected]] = {}
        self._port = port
        self._search = search
        self._found = port.joint(search, match)

    def arrived(self, header: Header) -> Receive | None:
        """The first posted receive that takes the message, which is then no longer posted."""
        posted = self.posted.get(header.context)
        if posted:
            source, tag = header.source, header.tag
            for index, receive in enumerate(posted):
                if receive.takes(source, tag):
                    self._port.spend(self._found)
                    return posted.pop(index)
                self._port.spend(self._search)
        return None

    def keep(self, message: Unexpected) -> None:
        """Nobody waits for it."""
        self.unexpected.setdefault(message.header.context, []).append(message)

    def post(self, receive: Receive) -> Unexpected | None:
        """The first kept message that ``receive`` takes; without one it is posted."""
        kept = self.unexpected.get(receive.context)
        if kept:
            for index, message in enumerate(kept):
                self._port.spend(self._search)
                if receive.takes(message.header.source, message.header.tag):
                    return kept.pop(index)
        self.posted.setdefault(receive.context, []).append(receive)
        return None

    def withdraw(self, receive: Receive) -> bool:
        """``receive`` is no longer posted; whether it was."""
        posted = self.posted.get(receive.context, [])
        if receive not in posted:
            return False
        self._port.spend(self._search)
        posted.remove(receive)
        return True

    def find(self, context: int, source: int, tag: int) -> Unexpected | None:
        """The first kept message from ``source`` with ``tag``; it stays."""
        for message in self.unexpected.get(context, ()):
            self._port.spend(self._search)
            header = message.header
            if source in (ANY_SOURCE, header.source) and tag in (ANY_TAG, header.tag):
                return message
        return None
