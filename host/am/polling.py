"""Checking for messages, and spinning until a message or a deadline comes."""

from collections.abc import Callable
from typing import Any

from ...layouts.operations import BLOCK
from ..port.port import F_ONCE, TIMEOUT, UNKEPT
from ..port.work import Charge
from .acknowledging import Acknowledging
from .deadline import FAR, Deadline
from .marks import BEGIN, EMPTY_POLL, END, REPLY_HANDLE
from .receive_ring import ReceiveRing
from .receiving import Receiving
from .sending import Sending
from .settling import Settling

__all__ = ["Polling"]


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
        if port.marking:
            begin = port.mark(EMPTY_POLL, BEGIN, number)
        else:
            begin = UNKEPT
            port.rounded = port.parts
        if path is not None:
            port.spend(path)
        while True:
            if port.count == BLOCK:
                await port.executed
            port.put_poll(ring.slot, ring.phase, 1, 0, F_ONCE)
            await port.executed
            ring.looked = port.cycle
            if port.status & TIMEOUT:
                break
            await self._receiving.handle(begin)
            most -= 1
            if most <= 0:
                break
            begin = port.mark(EMPTY_POLL, BEGIN, 0)
        if most > 0:
            if port.marking:
                port.mark(EMPTY_POLL, END, begin[3])
            settling.idle += 1
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
            if port.marking:
                opened = port.mark(EMPTY_POLL, BEGIN, 0)
            else:
                opened = UNKEPT
                port.rounded = port.parts
            if port.count > BLOCK - 3:
                await port.executed
            timeout = 0
            if deadline.at != FAR:
                timeout = deadline.at - port.cycle
                if timeout < 1:
                    timeout = 1
            if settling.blocked:
                # The ring is checked first in each round, because a received packet may make room.
                port.put_watch(ring.slot, ring.phase, 1)
                sending.way.put_poll(settling.want_space, settling.want_ring, timeout)
            else:
                port.put_poll(ring.slot, ring.phase, 1, timeout)
            ring.waits = True
            await port.executed
            ring.waits = False
            ring.looked = port.cycle
            if port.status & (TIMEOUT | 0xF0):
                port.mark(EMPTY_POLL, END, opened[3])
                settling.blocked = False
            else:
                await self._receiving.handle(port.mark_check(EMPTY_POLL, REPLY_HANDLE)
                                             if port.marking else UNKEPT)
            if condition is None or condition():
                return
