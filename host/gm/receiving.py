"""gm_provide_receive_buffer, gm_receive, gm_blocking_receive, gm_unknown and the like."""

import logging
from typing import Any

from ...layouts.gm import (
    COMMAND,
    COMMAND_END,
    EVENT,
    EVENT_BYTES,
    EVENT_END,
    EVENTS,
    MAX_SIZE,
    MIN_SIZE,
    CommandKind,
    EventKind,
)
from ...layouts.operations import BLOCK
from ...layouts.trace import Activity, Kind
from ..port.port import F_ONCE, TIMEOUT
from .events import GM_EVENT, Event
from .handles import Port, Provided
from .sending import Sends
from .status import GM_STATUS

__all__ = ["Receives"]

log = logging.getLogger("nicbed.gm")

BEGIN, END = int(Kind.BEGIN), int(Kind.END)
EMPTY_CHECK, BLOCKED = int(Activity.EMPTY_CHECK), int(Activity.BLOCKED)
POST_RECEIVE = int(Activity.POST_RECEIVE)
SEND_COMPLETE, RECEIVE_COMPLETE = int(Activity.SEND_COMPLETE), int(Activity.RECEIVE_COMPLETE)
RECEIVE, SENT = int(EventKind.RECEIVE), int(EventKind.SENT)
S_SIZE, S_PRIORITY = COMMAND.offset("size"), COMMAND.offset("priority")
S_TRACE, S_TOKEN = COMMAND.offset("trace"), COMMAND_END.offset("token")
E_KIND, E_TOKEN, E_TRACE = (EVENT.offset(name) for name in ("kind", "token", "trace"))
E_NODE, E_PORT, E_PRIORITY = (EVENT.offset(name) for name in ("node", "port", "priority"))
E_SIZE, E_TAG, E_STATUS = (EVENT_END.offset(name) for name in ("size", "tag", "status"))
SPIN_MILLISECONDS = 1
"""gm_blocking_receive spins for this long."""

NOTHING = Event(GM_EVENT.GM_NO_RECV_EVENT)


class Receives(Sends):
    """Buffers take a receive token each, which comes back with the message in it.

    Events come in the order in which they happened: messages, and sends that have ended, which are
    for gm_unknown. A program gives gm_unknown every event that it does not know.
    """

    async def gm_provide_receive_buffer(self, port: Port, ptr: int, size: int,
                                        priority: int) -> GM_STATUS:
        """A buffer in registered memory for a message of exactly this size class and priority, at
        least ``gm_max_length_for_size(size)`` bytes. GM_TRY_AGAIN: there is no token."""
        return await self.gm_provide_receive_buffer_with_tag(port, ptr, size, priority, 0)

    async def gm_provide_receive_buffer_with_tag(self, port: Port, ptr: int, size: int,
                                                 priority: int, tag: int) -> GM_STATUS:
        """The same, with a ``tag`` of 8 bits that comes with its message."""
        if (not self._is_port(port) or not isinstance(size, int)
                or not MIN_SIZE <= size <= MAX_SIZE or priority not in (0, 1)
                or not isinstance(ptr, int) or not 0 <= ptr < 1 << 64
                or not isinstance(tag, int) or not 0 <= tag < 256):
            return GM_STATUS.GM_INVALID_PARAMETER
        if not port.free_receives:
            return GM_STATUS.GM_TRY_AGAIN
        cpu = self.port
        cpu.mark(POST_RECEIVE, BEGIN, 0)
        cpu.spend(self.paths.provide)
        token = port.free_receives.pop()
        port.receives[token] = Provided(ptr, size, priority, tag)
        await self._command(port, CommandKind.RECEIVE | size << S_SIZE | priority << S_PRIORITY,
                            ptr, tag, token << S_TOKEN, 0)
        cpu.mark(POST_RECEIVE, END, 0)
        return GM_STATUS.GM_SUCCESS

    def gm_num_receive_tokens(self, port: Port) -> int:
        """How many receive tokens a port has."""
        self.port.spend(self.paths.query)
        return port.receive_tokens

    async def gm_set_acceptable_sizes(self, port: Port, priority: int, mask: int) -> GM_STATUS:
        """Bit s of ``mask``: messages of size class s and this priority are taken. Others fail at
        their senders, GM_SEND_REJECTED. All are until this says otherwise."""
        if (not self._is_port(port) or priority not in (0, 1) or not isinstance(mask, int)
                or not 0 <= mask < 1 << 32):
            return GM_STATUS.GM_INVALID_PARAMETER
        return await self._control(port, CommandKind.ACCEPT | priority << S_PRIORITY, mask)

    async def gm_allow_remote_memory_access(self, port: Port) -> GM_STATUS:
        """Accept directed sends into the port's registered memory from now on."""
        if not self._is_port(port):
            return GM_STATUS.GM_INVALID_PARAMETER
        return await self._control(port, int(CommandKind.ALLOW), 1)

    # Events

    async def gm_receive(self, port: Port) -> Event:
        """The oldest event, or GM_NO_RECV_EVENT if there is none. It checks once."""
        cpu = self.port
        if not self._is_port(port):
            await self._pass()
            return NOTHING
        begin = cpu.mark(EMPTY_CHECK, BEGIN, 0)
        cpu.spend(self.paths.check)
        if not await self._look(port, 0):
            cpu.mark(EMPTY_CHECK, END, 0)
            return NOTHING
        return self._take(port, begin)

    async def gm_receive_pending(self, port: Port) -> bool:
        """Whether gm_receive would find one."""
        cpu = self.port
        if not self._is_port(port):
            await self._pass()
            return False
        cpu.mark(EMPTY_CHECK, BEGIN, 0)
        cpu.spend(self.paths.check)
        found = await self._look(port, 0)
        cpu.mark(EMPTY_CHECK, END, 0)
        return found

    async def gm_blocking_receive(self, port: Port) -> Event:
        """The next event: spins for a millisecond, then gives up the CPU until the interrupt."""
        return await self._wait(port, int(SPIN_MILLISECONDS * 1000
                                          * self.node.description.nic.clock_mhz))

    async def gm_blocking_receive_no_spin(self, port: Port) -> Event:
        """The next event; gives up the CPU at once if there is none."""
        return await self._wait(port, 0)

    async def gm_unknown(self, port: Port, event: Event) -> None:
        """Handle an event that the program does not handle itself. For a send that has ended it
        returns the send token and runs the callback."""
        cpu = self.port
        cpu.spend(self.paths.unknown)
        if event.type is GM_EVENT.GM_SENT_EVENT:
            sending = port.sends.pop(event.token, None)
            if sending is None:
                return
            port.free_sends.append(event.token)
            if sending.callback is not None:
                result = sending.callback(port, sending.context, event.status)
                if hasattr(result, "__await__"):
                    await result
        elif event.type is GM_EVENT.GM_REFUSED_EVENT:
            log.warning("port %d of node %d: buffer at %#x refused, %s", port.number,
                        self.node.number, event.buffer, event.status.name)

    # Helpers

    async def _control(self, port: Port, first: int, second: int) -> GM_STATUS:
        self.port.spend(self.paths.control)
        await self._command(port, first, second, 0, 0, 0)
        return GM_STATUS.GM_SUCCESS

    async def _look(self, port: Port, spin: int) -> bool:
        """Whether there is an event: one check, or ``spin`` cycles of them."""
        cpu = self.port
        if cpu.count > BLOCK - 2:
            await cpu.executed
        seen = port.seen
        cpu.put_poll(port.events + (seen & EVENTS - 1) * EVENT_BYTES,
                     1 - (seen // EVENTS & 1), 1, spin, 0 if spin else F_ONCE)
        await cpu.executed
        return not cpu.status & TIMEOUT

    async def _wait(self, port: Port, spin: int) -> Event:
        cpu = self.port
        if not self._is_port(port):
            await self._pass()
            return NOTHING
        begin: Any = cpu.mark(EMPTY_CHECK, BEGIN, 0)
        cpu.spend(self.paths.check)
        cpu.waiting_for(f"an event of port {port.number}")
        found = await self._look(port, spin)
        if found and spin:
            begin = cpu.mark_check(EMPTY_CHECK, RECEIVE_COMPLETE)
        while not found:
            await self._control(port, int(CommandKind.ARM), port.seen)
            cpu.mark(EMPTY_CHECK, END, 0)
            cpu.spend(self.paths.block)
            cpu.mark(BLOCKED, BEGIN, 0)
            await cpu.wait_irq()
            cpu.mark(BLOCKED, END, 0)
            await self.driver.interrupt()
            begin = cpu.mark(EMPTY_CHECK, BEGIN, 0)
            found = await self._look(port, 0)
        cpu.waiting_for("")
        return self._take(port, begin)

    def _take(self, port: Port, begin: list[int]) -> Event:
        """The event that a poll has just found."""
        cpu = self.port
        word = cpu.data
        end = self.memory.word(port.events + (port.seen & EVENTS - 1) * EVENT_BYTES + 8)
        port.seen += 1
        cpu.spend(self.paths.take)
        kind, token = word >> E_KIND & 127, word >> E_TOKEN & 0xFFFF
        trace = word >> E_TRACE & 0xFF_FFFF
        status = GM_STATUS(end >> E_STATUS & 255)
        activity = RECEIVE_COMPLETE
        if kind == RECEIVE:
            provided = port.receives.pop(token)
            port.free_receives.append(token)
            event = Event(GM_EVENT.GM_HIGH_RECV_EVENT if word >> E_PRIORITY & 1
                          else GM_EVENT.GM_RECV_EVENT, provided.buffer, end & 0xFFFF_FFFF,
                          end >> E_SIZE & 255, end >> E_TAG & 255, word >> E_NODE & 255,
                          word >> E_PORT & 15, trace=trace)
        elif kind == SENT:
            activity = SEND_COMPLETE
            event = Event(GM_EVENT.GM_SENT_EVENT, status=status, token=token, trace=trace)
        else:
            provided = port.receives.pop(token)
            port.free_receives.append(token)
            event = Event(GM_EVENT.GM_REFUSED_EVENT, provided.buffer, status=status, token=token)
        begin[1], begin[3] = activity, trace
        cpu.mark(activity, END, trace)
        return event
