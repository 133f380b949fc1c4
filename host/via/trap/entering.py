"""Kernel-trap design point: serves what the kernel has to do when it is entered."""

from collections.abc import Awaitable, Callable

from ....layouts.via import Event
from ...kernel.lock import kernel_lock
from ...nic.receive_ring import ReceiveRing
from ..costs import Prices
from .completing import Completing
from .packets import Packets
from .retransmission import Retransmission
from .trap_context import TrapContext
from .turns import Turns

__all__ = ["Entering"]

A_LOOK = 8
"""Packets that a check handles if it has found nothing. Their messages are handed out before more
packets are handled."""
GLANCE = 500
"""Cycles between two checks of a sleeping kernel whether the NIC has read more of the send ring."""


class Entering:
    """Handles packets of ``receive_ring`` and time-outs, and sends what waits for room. ``event``
    is called with each event, which is its code and the number of its VI or completion queue."""

    def __init__(self, context: TrapContext, receive_ring: ReceiveRing, packets: Packets,
                 completing: Completing, turns: Turns, retransmission: Retransmission,
                 event: Callable[[Event, int], Awaitable[None]]) -> None:
        self._port = context.port
        self._paths = context.node.service(Prices)
        self._prices = context.prices
        self._lock = kernel_lock(context.node)
        self._ring = context.ring
        self._timers = context.timers
        self._receive_ring = receive_ring
        self._packets = packets
        self._completing = completing
        self._turns = turns
        self._retransmission = retransmission
        self._event = event

    async def serve(self) -> bool:
        """Enter the kernel if it has work; return whether it had."""
        port, ring = self._port, self._receive_ring
        if not ring.arrived() and not (self._packets.starved and self._ring.moved()):
            late = self._timers.late()
            if late:
                async with self._lock.held():
                    await self.tick()
            return late
        port.spend(self._prices.enter)
        async with self._lock.held():
            if ring.arrived():
                await ring.drain(A_LOOK)
                self._lock.news()
            if self._packets.starved:
                await self._ring.look()
                await self._turns.feed()
            if self._completing.happened:
                await self.tell()
            await self.tick()
        return True

    def deadline(self) -> int:
        self._timers.late()
        # Room in the send ring raises no interrupt, so a sleeping kernel checks for it.
        if self._completing.happened or self._packets.starved and self._ring.moved():
            return self._port.cycle
        if self._packets.starved and self._ring.reading:
            return min(self._timers.due, self._port.cycle + GLANCE)
        return self._timers.due

    async def tick(self) -> None:
        """Handle time-outs, and packets that wait for room."""
        if self._packets.starved and self._ring.moved():
            self._port.spend(self._paths.interrupt)
            await self._ring.look()
            await self._turns.feed()
        elif self._timers.late():
            self._port.spend(self._paths.interrupt)
        if self._timers.late():
            await self._retransmission.late()
        if self._completing.happened:
            await self.tell()

    async def tell(self) -> None:
        """Report the events to the kernel agent."""
        while self._completing.happened:
            event, number = self._completing.happened.pop(0)
            self._port.spend(self._paths.event)
            await self._event(event, number)
