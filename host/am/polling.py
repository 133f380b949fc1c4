"""Checking for messages, and spinning until a message or a deadline comes."""

from collections.abc import Callable
from typing import Any

from ..port.words import F_ONCE, TIMEOUT
from ..port.work import Charge
from .acknowledging import Acknowledging
from .deadline import FAR, Deadline
from .marks import BEGIN, EMPTY_POLL, END, REPLY_HANDLE, WINDOW_WAIT
from .receive_ring import ReceiveRing
from .receiving import Receiving
from .sending import Sending
from .settling import Settling
from .window import Peer

__all__ = ["A_CALL", "Polling"]

A_CALL = 2
"""Messages that a call handles after it has sent its own. A peer sends two for each of ours: a
request and a reply. A larger number would keep a node that receives many messages from sending."""
POLL = 3
"""Most operations of a poll: of the ring, and of two places that tell of room."""
OTHER = TIMEOUT | 0xF0
"""Bits of a poll's status of which one is set unless its first watch held."""


class Polling:
    """Checks ``ring`` for messages, which ``receiving`` handles, and lets ``settling`` do postponed
    work."""

    __slots__ = ("_port", "_ring", "_sending", "_acknowledging", "_settling", "_receiving",
                 "_deadline")

    def __init__(self, ring: ReceiveRing, sending: Sending, acknowledging: Acknowledging,
                 settling: Settling, receiving: Receiving, deadline: Deadline) -> None:
        self._port = sending.port
        self._ring = ring
        self._sending = sending
        self._acknowledging = acknowledging
        self._settling = settling
        self._receiving = receiving
        self._deadline = deadline

    async def check(self, number: int, path: Charge | None, most: int) -> None:
        """Check once for a message. Handle it and those behind it, up to ``most``: peers that send
        as fast as this node handles must not keep the node from its own work."""
        port, settling, ring = self._port, self._settling, self._ring
        if path is not None:
            begin = port.begin(EMPTY_POLL, number, path)
            port.put_poll(ring.slot, ring.phase, 1, 0, F_ONCE)
        else:
            begin = port.put_check(EMPTY_POLL, number, ring.slot, ring.phase, 1)
        while True:
            await port.executed
            ring.looked = port.cycle
            if port.status & TIMEOUT:
                port.mark(EMPTY_POLL, END, begin[3])
                settling.idle += 1
                break
            await self._receiving.handle(
                ring.read(ring.slot) if ring.near else await ring.load(), begin)
            most -= 1
            if most <= 0:
                break
            begin = port.put_check(EMPTY_POLL, 0, ring.slot, ring.phase, 1)
        if (self._acknowledging.owing or self._sending.backlog or port.cycle >= self._deadline.at
                or settling.idle >= settling.keep_alive):
            await settling.settle()

    async def spin(self, condition: Callable[[], Any] | None = None) -> None:
        """Wait for a message and handle it, or for a deadline and do the work that is due. With a
        ``condition``, do so again until it is true."""
        port, settling, sending, ring = self._port, self._settling, self._sending, self._ring
        deadline, owing = self._deadline, self._acknowledging.owing
        while True:
            if owing or sending.backlog or port.cycle >= deadline.at:
                await settling.settle()
            if settling.blocked:
                await self._put_watches()
            else:
                while not port.put_spin(EMPTY_POLL, ring.slot, ring.phase, 1, deadline.at, POLL):
                    await port.executed
            ring.waits = True
            await port.executed
            ring.waits = False
            ring.looked = port.cycle
            if port.status & OTHER:
                port.mark(EMPTY_POLL, END, 0)
                settling.blocked = False
            else:
                begin = port.mark_check(EMPTY_POLL, REPLY_HANDLE)
                await self._receiving.handle(
                    ring.read(ring.slot) if ring.near else await ring.load(), begin)
            if condition is None or condition():
                return

    async def wait_for_credit(self, peer: Peer, number: int) -> None:
        """Wait for a credit of ``peer`` for packet ``number``, handling messages meanwhile.

        Raises
        ------
        PeerGone
            There will be none.
        """
        port = self._port
        if not peer.gone:
            port.mark(WINDOW_WAIT, BEGIN, number)
            port.waiting_for(f"credits from node {peer.number}")
            while peer.credits <= 0 and not peer.gone:
                await self.spin()
            port.waiting_for("")
            port.mark(WINDOW_WAIT, END, number)
        if peer.gone:
            raise self._settling.lost(peer)

    async def _put_watches(self) -> None:
        """Packets wait for room: have the poll watch for that, too. The ring is checked first in
        each round, because a received packet may make room."""
        port, settling, ring = self._port, self._settling, self._ring
        port.mark(EMPTY_POLL, BEGIN, 0)
        await port.room(POLL)
        at = self._deadline.at
        port.put_watch(ring.slot, ring.phase, 1)
        self._sending.way.watch_room(settling.want_space, settling.want_ring,
                                     0 if at == FAR else max(1, at - port.cycle))
