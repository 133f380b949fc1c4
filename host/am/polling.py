"""Checking for messages, and spinning until there is one or a deadline has come."""

from ...layouts.operations import BLOCK
from ..port import F_ONCE, TIMEOUT
from .receiving import Receiving
from .state import BEGIN, EMPTY_POLL, END, FAR, REPLY_HANDLE

__all__ = ["Polling"]


class Polling(Receiving):
    """All of the layer below the public calls."""

    async def _check(self, number: int, path: int, most: int) -> None:
        """Check once for a message; handle it and those behind it, up to ``most``: peers that send
        as fast as this node handles must not keep it from what it does itself."""
        port = self.port
        begin = port.mark(EMPTY_POLL, BEGIN, number)
        if path >= 0:
            port.spend(path)
        while True:
            if port.count == BLOCK:
                await port.executed
            port.put_poll(self._slot, self._phase, 1, 0, F_ONCE)
            await port.executed
            if port.status & TIMEOUT:
                break
            await self._handle(begin)
            most -= 1
            if most <= 0:
                break
            begin = port.mark(EMPTY_POLL, BEGIN, 0)
        if most > 0:
            port.mark(EMPTY_POLL, END, begin[3])
            self._idle += 1
        if (self._owing or self._backlog or port.cycle >= self._deadline
                or self._idle >= self._keep_alive):
            await self._settle()

    async def _spin(self) -> None:
        """Wait for one message and handle it, or for a deadline and see to that."""
        port = self.port
        if self._owing or self._backlog or port.cycle >= self._deadline:
            await self._settle()
        opened = port.mark(EMPTY_POLL, BEGIN, 0)
        if port.count > BLOCK - 3:
            await port.executed
        timeout = 0
        if self._deadline != FAR:
            timeout = self._deadline - port.cycle
            if timeout < 1:
                timeout = 1
        if self._blocked:
            # The ring first in each round: what comes in makes room in the end.
            port.put_watch(self._slot, self._phase, 1)
            self._way.put_poll(self._want_space, self._want_ring, timeout)
        else:
            port.put_poll(self._slot, self._phase, 1, timeout)
        await port.executed
        status = port.status
        if status & (TIMEOUT | 0xF0):
            port.mark(EMPTY_POLL, END, opened[3])
            self._blocked = False
            return
        await self._handle(port.mark_check(EMPTY_POLL, REPLY_HANDLE))
