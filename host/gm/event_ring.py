"""gm_receive, gm_blocking_receive, gm_unknown: the events of a port."""

import logging
from typing import Any

from ...layouts.gm import EVENT, EVENT_BYTES, EVENT_END, EVENTS, CommandKind, EventKind
from ...layouts.trace import BEGIN, END, Activity
from ..kernel.sleeping import sleep
from ..port.port import Watch
from ..port.words import F_ONCE, TIMEOUT
from .caller import Caller
from .commands import Commands
from .events import GM_EVENT, NOTHING, Event
from .handles import Port
from .status import GM_STATUS

__all__ = ["EventRing"]

log = logging.getLogger("nicbed.gm")

EMPTY_CHECK = int(Activity.EMPTY_CHECK)
SEND_COMPLETE, RECEIVE_COMPLETE = int(Activity.SEND_COMPLETE), int(Activity.RECEIVE_COMPLETE)
RECEIVE, SENT = int(EventKind.RECEIVE), int(EventKind.SENT)
STATUSES = {int(status): status for status in GM_STATUS}
E_KIND, E_TOKEN, E_TRACE = (EVENT.offset(name) for name in ("kind", "token", "trace"))
E_NODE, E_PORT, E_PRIORITY = (EVENT.offset(name) for name in ("node", "port", "priority"))
E_SIZE, E_TAG, E_STATUS = (EVENT_END.offset(name) for name in ("size", "tag", "status"))


class EventRing:
    """Events come in the order in which they happened: messages, and sends that have ended."""

    def __init__(self, caller: Caller, commands: Commands) -> None:
        self._caller = caller
        self._commands = commands
        self._port = caller.port
        self._paths = caller.paths

    async def check(self, port: Port) -> Event:
        """Take the oldest event, if there is one."""
        cpu = self._port
        begin = cpu.mark(EMPTY_CHECK, BEGIN, 0)
        cpu.spend(self._paths.check)
        if not await self._look(port, 0):
            cpu.mark(EMPTY_CHECK, END, 0)
            return NOTHING
        return self._take(port, begin)

    async def pending(self, port: Port) -> bool:
        """Tells whether there is one."""
        cpu = self._port
        cpu.mark(EMPTY_CHECK, BEGIN, 0)
        cpu.spend(self._paths.check)
        found = await self._look(port, 0)
        cpu.mark(EMPTY_CHECK, END, 0)
        return found

    async def wait(self, port: Port, spin: int) -> Event:
        """Take the next event: check for ``spin`` cycles, then give up the CPU."""
        cpu = self._port
        begin: Any = cpu.mark(EMPTY_CHECK, BEGIN, 0)
        cpu.spend(self._paths.check)
        cpu.waiting_text = port.awaited
        found = await self._look(port, spin)
        if found and spin:
            begin = cpu.mark_check(EMPTY_CHECK, RECEIVE_COMPLETE)
        lock = self._caller.driver.lock
        while not found:
            async with lock.held():
                await self._commands.control(port, int(CommandKind.ARM), port.seen)
                cpu.mark(EMPTY_CHECK, END, 0)
                cpu.spend(self._paths.block)
                if await sleep(cpu, lock):
                    await self._caller.driver.interrupt()
            begin = cpu.mark(EMPTY_CHECK, BEGIN, 0)
            found = await self._look(port, 0)
        cpu.waiting_text = ""
        return self._take(port, begin)

    def awaits(self, port: Port) -> Watch:
        """See :meth:`.gm.Gm.awaits`."""
        seen = port.seen
        return Watch(port.events + (seen & EVENTS - 1) * EVENT_BYTES,
                     1 - (seen // EVENTS & 1), 1)

    def unknown(self, port: Port, event: Event) -> Any:
        """Give a send token back and run its callback; what that returned."""
        self._port.spend(self._paths.unknown)
        if event.type is GM_EVENT.GM_SENT_EVENT:
            sending = port.sends.pop(event.token, None)
            if sending is None:
                return None
            port.free_sends.append(event.token)
            if sending.callback is not None:
                return sending.callback(port, sending.context, event.status)
        elif event.type is GM_EVENT.GM_REFUSED_EVENT:
            log.warning("port %d of node %d: buffer at %#x refused, %s", port.number,
                        self._caller.node.number, event.buffer, event.status.name)
        return None

    async def _look(self, port: Port, spin: int) -> bool:
        """Whether there is an event: one check, or ``spin`` cycles of them."""
        cpu = self._port
        seen = port.seen
        cpu.put_poll(port.events + (seen & EVENTS - 1) * EVENT_BYTES, 1 - (seen // EVENTS & 1), 1,
                     spin, 0 if spin else F_ONCE)
        await cpu.executed
        return not cpu.status & TIMEOUT

    def _take(self, port: Port, begin: list[int]) -> Event:
        """The event that a poll has just found."""
        cpu = self._port
        word = cpu.data
        end = self._caller.memory.word(port.events + (port.seen & EVENTS - 1) * EVENT_BYTES + 8)
        port.seen += 1
        cpu.spend(self._paths.take)
        kind, token = word >> E_KIND & 127, word >> E_TOKEN & 0xFFFF
        trace = word >> E_TRACE & 0xFF_FFFF
        status = STATUSES[end >> E_STATUS & 255]
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
        cpu.finish(begin, activity, trace)
        return event
