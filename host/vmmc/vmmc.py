"""VMMC: the library of one process."""

from collections.abc import Callable
from typing import Any

from ...layouts.trace import BEGIN, END, Activity
from ...layouts.vmmc import (
    COMMAND,
    DESTINATION,
    NODES,
    REDIRECTION,
    TAKEN_OFFSET,
    CommandKind,
    EventKind,
    Slot,
    Status,
)
from ..kernel.process import Process
from ..kernel.sleeping import sleep
from ..port.port import Watch
from .costs import Prices
from .driver import Driver, Opened
from .event_ring import EventRing
from .handles import Event, Export, Import, Redirection, Sending
from .knobs import Knobs
from .send_queue import SendQueue

__all__ = ["EVERYBODY", "Vmmc"]

EVERYBODY = (1 << NODES) - 1
"""All nodes may import."""
POST_SEND, SEND_COMPLETE = int(Activity.POST_SEND), int(Activity.SEND_COMPLETE)
POST_RECEIVE, RECEIVE_COMPLETE = int(Activity.POST_RECEIVE), int(Activity.RECEIVE_COMPLETE)
EMPTY_CHECK = int(Activity.EMPTY_CHECK)
SEND, TELL, NOTIFY = int(CommandKind.SEND), COMMAND.mask("tell"), COMMAND.mask("notify")
KEY, PLACE = int(Slot.KEY), int(Slot.DESTINATION)
CHUNK = 400
"""Cycles of a poll after which the CPU looks whether the NIC has interrupted it."""
AGAIN = 2000
"""Cycles after which an import of what is not exported yet is tried again."""


class Vmmc:
    """``vmmc = Vmmc(process)``; ``await vmmc.open()``.

    A buffer that one process exports another one imports, and sends into it: the data land in the
    receiver's memory, with no call of it and no interrupt. Calls that access the NIC or memory are
    coroutines. What goes wrong is a :class:`.Status`; none raises for what a program does.

    Attributes
    ----------
    on_signal
        ``on_signal(event)`` runs, in whatever call the process is, for a message whose sender wants
        a signal; None: such messages are events as others are.
    exports, imports
        What is open, by number and by name.
    """

    def __init__(self, process: Process) -> None:
        self.process = process
        self.node = node = process.node
        self.port = process.port
        self.driver = node.kernel(Driver)
        self._paths = node.service(Prices)
        self._settings = node.description.section(Knobs)
        self._utlb = self._settings.translation == "utlb"
        self.exports: dict[int, Export] = {}
        self.imports: set[Import] = set()
        self.on_signal: Callable[[Event], Any] | None = None
        self._early: list[Event] = []
        """Events that were taken in search of signals."""
        self._opened: Opened | None = None
        self._queue: SendQueue = None  # type: ignore[assignment]
        self._ring: EventRing = None  # type: ignore[assignment]

    # Opening and closing

    async def open(self) -> Status:
        """Become a user of the NIC. NO_ROOM: it has no port left."""
        self.port.spend(self._paths.kernel)
        async with self.driver.lock.held():
            await self.driver.start()
            opened = await self.driver.open(self.process)
        if opened is None:
            return Status.NO_ROOM
        self._opened = opened
        processor = self.driver.processor
        assert processor is not None
        page = processor.address("port_pages", opened.number * 4096)
        self._queue = SendQueue(self.node, opened, page, self._settings.queue_slots)
        self._ring = EventRing(self.node, opened, page + TAKEN_OFFSET)
        return Status.SUCCESS

    async def close(self) -> Status:
        """End it: exports and imports, too. What is under way is abandoned."""
        opened = self._opened
        if opened is None:
            return Status.CLOSED
        self.port.spend(self._paths.kernel)
        async with self.driver.lock.held():
            await self.driver.close(opened, list(self.exports.values()), list(self.imports))
        self.exports.clear()
        self.imports.clear()
        self._opened = None
        return Status.SUCCESS

    # Exports and imports

    def allocate(self, length: int) -> int:
        """Address of ``length`` bytes in pages of their own."""
        address = self.process.allocate(length, fresh=True)
        self.process.allocate(-length % self.process.page_bytes, 1)
        return address

    async def export(self, address: int, length: int, name: int, nodes: int = EVERYBODY
                     ) -> tuple[Status, Export | None]:
        """Let ``nodes``, a bit each, import the ``length`` bytes at ``address``, which begin with a
        page, as ``name``, 32 bits that no other export of the node has."""
        opened = self._opened
        if opened is None:
            return Status.CLOSED, None
        if (length < 1 or address % self.process.page_bytes or not 0 <= name < 1 << 32
                or not 0 <= nodes <= EVERYBODY or not self.process.mapped(address, length)):
            return Status.INVALID, None
        self.port.spend(self._paths.kernel)
        async with self.driver.lock.held():
            found = await self.driver.export(opened, address, length, name, nodes)
        await self._take_time()
        if isinstance(found, Status):
            return found, None
        self.exports[found.number] = found
        return Status.SUCCESS, found

    async def unexport(self, export: Export) -> Status:
        """End an export: sends to it are refused from now on."""
        if self._opened is None or self.exports.get(export.number) is not export:
            return Status.INVALID
        self.port.spend(self._paths.kernel)
        async with self.driver.lock.held():
            await self.driver.unexport(export)
        del self.exports[export.number]
        return Status.SUCCESS

    async def import_(self, node: int, name: int, length: int, patience: int = 0
                      ) -> tuple[Status, Import | None]:
        """Import what node ``node`` exports as ``name``, of at most ``length`` bytes. It is tried
        again for ``patience`` cycles while nothing of that name is there."""
        opened = self._opened
        if opened is None:
            return Status.CLOSED, None
        if not 0 <= node < self.node.nodes or not 0 <= name < 1 << 32 or length < 1:
            return Status.INVALID, None
        deadline = self.port.cycle + patience
        while True:
            self.port.spend(self._paths.kernel)
            async with self.driver.lock.held():
                found = await self.driver.import_(opened, node, name, length)
            await self._take_time()
            if isinstance(found, Import):
                self.imports.add(found)
                return Status.SUCCESS, found
            if found not in (Status.NOT_EXPORTED, Status.UNREACHABLE) or (
                    self.port.cycle >= deadline):
                return found, None
            await self.port.delay(AGAIN)

    async def unimport(self, one: Import) -> Status:
        """End an import."""
        if self._opened is None or one not in self.imports:
            return Status.INVALID
        self.port.spend(self._paths.kernel)
        async with self.driver.lock.held():
            await self.driver.unimport(one)
        self.imports.discard(one)
        return Status.SUCCESS

    # Sends

    async def send(self, address: int, to: Import, offset: int, length: int, *,
                   key: int | None = None, notify: bool = False, trace: int = 0) -> Sending:
        """Send ``length`` bytes at ``address`` to byte ``offset`` of an import. With a ``key`` of
        32 bits the receiver is told by an event, with ``notify`` also by a signal. What was sent
        may be changed when the send is over (:meth:`wait`); at once if it is short
        (``vmmc.short``)."""
        status = self._refused(address, to, offset, length, key)
        if status is not None:
            await self._take_time()
            return Sending(0, 0, 0, status)
        cpu = self.port
        trace = trace or self.node.trace_number()
        cpu.mark(POST_SEND, BEGIN, trace)
        cpu.spend(self._paths.send)
        command, words = SEND, [DESTINATION.pack(proxy=to.proxy + offset, length=length)]
        if key is not None or notify:
            words = [key or 0, *words]
            command |= TELL | (NOTIFY if notify else 0)
        data, slots = None, 1
        if length <= self._settings.short:
            slots = self._queue.inline_slots(length, PLACE + 1 - len(words))
            for _ in range(-(-length // 8)):
                cpu.spend(self._paths.inline)
            if length:
                await self.process.touch(address, length)
            data = self.process.read(address, length)
        else:
            await self._translated(address, length)
            words = [address, *words]
        await self._room(slots)
        sending = await self._queue.put(command, words, data, trace)
        cpu.mark(POST_SEND, END, trace)
        return sending

    def _refused(self, address: int, to: Import, offset: int, length: int, key: int | None
                 ) -> Status | None:
        if self._opened is None:
            return Status.CLOSED
        if to not in self.imports:
            return Status.NOT_IMPORTED
        if length < 0 or offset < 0 or not 0 <= (key or 0) < 1 << 32:
            return Status.INVALID
        if offset + length > to.length:
            return Status.OUT_OF_BOUNDS
        return None if self.process.mapped(address, length) else Status.FAULT

    async def _translated(self, address: int, length: int) -> None:
        """The pages are in the process' table: user code looks, and the driver adds those that are
        not."""
        if not self._utlb:
            return
        opened, size = self._opened, self.process.page_bytes
        assert opened is not None
        pages = range(address // size, (address + length - 1) // size + 1)
        for _ in pages:
            self.port.spend(self._paths.lookup)
        if any(page not in opened.pinned for page in pages):
            self.port.spend(self._paths.kernel)
            async with self.driver.lock.held():
                await self.driver.pin(opened, pages)

    async def _room(self, slots: int) -> None:
        """Wait for free slots."""
        queue = self._queue
        if queue.free < slots:
            self.port.waiting_for("room in a send queue")
            await queue.until(lambda: queue.free >= slots, self._spin)
            self.port.waiting_for("")

    async def wait(self, sending: Sending) -> Status:
        """Wait until a send has ended, and return how. With ``vmmc.reliable`` SUCCESS is for what
        has arrived, else for what has left."""
        if sending.status is None:
            self.port.waiting_for("the end of a send")
            await self._queue.until(lambda: sending.status is not None, self._spin)
            self.port.waiting_for("")
        assert sending.status is not None
        return sending.status

    async def look(self) -> None:
        """Read which sends are over: their :attr:`.Sending.status` says so."""
        await self._queue.look()

    def sends(self) -> Watch:
        """The word of memory that changes when a send is over."""
        return self._queue.watch()

    async def idle(self) -> None:
        """Wait until all sends are over."""
        await self._queue.until(lambda: self._queue.idle, self._spin)

    # Redirection

    async def redirect(self, export: Export, address: int, limit: int, *, key: int = 0,
                       skip: int = 0) -> Status:
        """The next message of ``key`` that its owner has not been told of yet goes to ``address``
        instead of the export, but for its first ``skip`` bytes, if there are at most ``limit``
        others. If one has begun to arrive already it goes where it was sent to. The message's event
        says what has happened, and ends the redirection."""
        if self._opened is None or self.exports.get(export.number) is not export:
            return Status.INVALID
        if not self._utlb:
            return Status.NOT_SUPPORTED
        if export.redirection is not None:
            return Status.BUSY
        if (limit < 1 or not 0 <= skip < 256 or not 0 <= key < 1 << 32
                or not self.process.mapped(address, limit)):
            return Status.INVALID
        cpu = self.port
        cpu.mark(POST_RECEIVE, BEGIN, 0)
        cpu.spend(self._paths.redirect)
        await self._translated(address, limit)
        await self._room(1)
        export.redirection = Redirection(address, limit, key, skip)
        await self._queue.put(int(CommandKind.REDIRECT), [address, key, REDIRECTION.pack(
            export=export.number, skip=skip, number=export.seen & 0xFFFF, limit=limit)], None, 0)
        cpu.mark(POST_RECEIVE, END, 0)
        return Status.SUCCESS

    async def cancel(self, export: Export) -> Status:
        """End the redirection, if it has not been taken: an event with ``cancelled`` follows,
        behind that of a message that has."""
        if self._opened is None or self.exports.get(export.number) is not export:
            return Status.INVALID
        self.port.spend(self._paths.cancel)
        await self._room(1)
        await self._queue.put(int(CommandKind.CANCEL),
                              [REDIRECTION.pack(export=export.number)], None, 0)
        return Status.SUCCESS

    # Events

    async def check(self) -> Event | None:
        """The oldest event; None if there is none. It checks once."""
        if self.port.interrupted:
            await self._interrupted()
        if self._early:
            return self._early.pop(0)
        cpu = self.port
        begin = cpu.mark(EMPTY_CHECK, BEGIN, 0)
        cpu.spend(self._paths.check)
        if not await self._ring.look():
            cpu.mark(EMPTY_CHECK, END, 0)
            return None
        return await self._taken(begin)

    async def next(self, *, block: bool = False) -> Event:
        """The next event: spin until it comes; or give up the CPU until the NIC interrupts."""
        cpu, lock = self.port, self.driver.lock
        cpu.waiting_for("an event")
        while (event := await self.check()) is None:
            if not block:
                await self._spin(*self._ring.watch()[:3], equal=True)
                continue
            async with lock.held():
                await self._room(1)
                await self._queue.put(int(CommandKind.ARM),
                                      [DESTINATION.pack(length=self._ring.seen)], None, 0)
                cpu.spend(self._paths.block)
                if await sleep(cpu, lock):
                    await self.driver.interrupt()
        cpu.waiting_for("")
        return event

    def watch(self) -> Watch | None:
        """The word of memory that tells of the next event, for a process that waits for something
        else, too; None: there is one."""
        return None if self._early else self._ring.watch()

    async def attend(self) -> None:
        """Serve the NIC's interrupt, if there is one: a process that computes for long, or polls
        its memory, calls this meanwhile."""
        await self.port.flush()
        if self.port.interrupted:
            await self._interrupted()

    async def _interrupted(self) -> None:
        """The NIC has interrupted the CPU; signals are delivered."""
        await self.driver.interrupt()
        if self.on_signal is None or self._opened is None:
            return
        while await self._ring.look():
            event = await self._taken(self.port.mark(EMPTY_CHECK, BEGIN, 0))
            if not event.notify:
                self._early.append(event)
                continue
            self.port.spend(self._paths.signal)
            result = self.on_signal(event)
            if hasattr(result, "__await__"):
                await result

    async def _taken(self, begin: list[int]) -> Event:
        """The event that a check has just found."""
        cpu = self.port
        record = await self._ring.take()
        cpu.spend(self._paths.take)
        export = self.exports.get(record.export)
        event = Event(export, self.node.node_of(record.node), record.place, record.length,
                      record.key, None, record.notify, record.lost, trace=record.trace)
        if record.kind == EventKind.CANCELLED:
            event.cancelled = True
            if export is not None:
                export.redirection = None
        elif export is not None:
            export.seen += 1
            redirection = export.redirection
            if redirection is not None and redirection.key == record.key:
                export.redirection = None
                if record.redirected:
                    event.redirection = redirection
        cpu.finish(begin, RECEIVE_COMPLETE, record.trace)
        return event

    # Waiting

    async def _spin(self, address: int, compare: int, mask: int, *, equal: bool = False) -> bool:
        """Poll a word until it differs from ``compare``, or is ``equal`` to it; or the NIC has
        interrupted, which is served. Whether the word is as wanted."""
        cpu = self.port
        while True:
            poll = await cpu.poll(Watch(address, compare, mask, not_equal=not equal), timeout=CHUNK)
            if cpu.interrupted:
                await self._interrupted()
                return not poll.timed_out
            if not poll.timed_out:
                return True

    async def spin(self, watches: list[Watch]) -> int:
        """Poll words of memory until one is as wanted; its index. The NIC's interrupts are served
        meanwhile."""
        cpu = self.port
        while True:
            poll = await cpu.poll(watches, timeout=CHUNK)
            if cpu.interrupted:
                await self._interrupted()
            if not poll.timed_out:
                return poll.watch

    async def _take_time(self) -> None:
        """Spend the time that the call has taken; a cycle at least."""
        cpu = self.port
        before = cpu.cycle
        if await cpu.flush() == before:
            await cpu.delay(1)
            await cpu.flush()
