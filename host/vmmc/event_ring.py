"""The events of a port: messages that were told of, ends of redirections."""

from typing import NamedTuple

from ...layouts.vmmc import EVENT, EVENT_BYTES, EVENTS
from ..port.node import Node
from ..port.port import Watch
from ..port.words import F_ONCE, TIMEOUT
from .driver import Opened

__all__ = ["EventRing", "Record"]

TOLD = EVENTS // 4
"""Events after which the NIC is told how many were taken."""
E_KIND, E_EXPORT, E_NODE, E_TRACE = (EVENT.offset(name)
                                     for name in ("kind", "export", "node", "trace"))
REDIRECTED, NOTIFY, LOST, FAULTED = (EVENT.mask(name) for name in (
    "redirected", "notify", "lost", "faulted"))


class Record(NamedTuple):
    """An event as the NIC writes it."""

    kind: int
    export: int
    node: int
    trace: int
    redirected: bool
    notify: bool
    lost: bool
    faulted: bool
    place: int
    length: int
    key: int


class EventRing:
    """The ring of ``opened``. ``taken`` is the PIO address of the word that tells the NIC how many
    events were taken.

    Attributes
    ----------
    seen
        Events taken so far.
    """

    def __init__(self, node: Node, opened: Opened, taken: int) -> None:
        self._port = node.port
        self._memory = node.memory
        self._opened = opened
        self._taken = taken
        self.seen = 0

    def watch(self) -> Watch:
        """The word that says that there is one."""
        seen = self.seen
        return Watch(self._opened.events + (seen % EVENTS) * EVENT_BYTES,
                     1 - (seen // EVENTS & 1), 1)

    async def look(self) -> bool:
        """Check once."""
        port, watch = self._port, self.watch()
        port.put_poll(watch.address, watch.compare, watch.mask, 0, F_ONCE)
        await port.executed
        return not port.status & TIMEOUT

    async def take(self) -> Record:
        """The oldest event, which a check has found."""
        port, at = self._port, self.watch().address
        word, second, third = (self._memory.word(at + 8 * index) for index in range(3))
        self.seen += 1
        if not self.seen % TOLD:
            process = self._opened.process
            assert process is not None
            await port.room(1)
            port.put_write(self._taken, 1, self.seen & 0xFFFF_FFFF, process=process.number)
        return Record(word >> E_KIND & 7, word >> E_EXPORT & 255, word >> E_NODE & 255,
                      word >> E_TRACE & 0xFF_FFFF, bool(word & REDIRECTED), bool(word & NOTIFY),
                      bool(word & LOST), bool(word & FAULTED), second & 0xFFFF_FFFF, second >> 32,
                      third & 0xFFFF_FFFF)
