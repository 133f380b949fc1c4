"""The kernel's network stack on a node: interrupts, driver, IP, timers, and the process that waits.

The kernel runs in calls of its sockets, and while they wait. A program that computes by
:meth:`Stack.compute` is interrupted, any other in its next call. Packets lie in slots of the
receive ring, which are fixed. So the driver copies data to the socket's buffer, and adds them to
their checksum on the way. What is sent has been copied and added up once, by the call that wrote
it, into buffers which the NIC reads.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from ...layouts.description import Description
from ...layouts.packet import HEADER, Protocol
from ...layouts.registers import Irq, address
from ...layouts.rings import INLINE_BYTES
from ...layouts.trace import BEGIN, END, Activity
from ..kernel.lock import kernel_lock
from ..kernel.sleeping import sleep
from ..kernel.timers import FAR, compute, timeout
from ..nic.receive_ring import ReceiveRing
from ..nic.send_ring import SendRing, buffer_bytes
from ..port.node import Node
from ..port.port import Watch
from ..port.sent_again import Cause, SentAgain
from ..port.suspension import NOTHING
from ..port.words import IRQ
from .costs import Prices
from .protocol.connection import Connection, Settings, State
from .protocol.endpoints import Endpoints
from .protocol.headers import HEADERS_BYTES, IP_BYTES, BadPacket, Segment, pack, parse
from .protocol.outgoing import Chunk
from .protocol.sequence import plus

__all__ = ["HEAD", "Stack", "connection_bytes"]

IRQ_ENABLE = address("irq_enable")
SLOT_HEAD = 16
"""Bytes of a receive slot in front of the packet: completion word and wire header."""
HEAD = 64
"""Bytes of a buffer for headers."""
SPARE = 16
"""Segments that a send buffer may have beyond two for each that fills it: short ones."""
LENGTH = HEADER.offset("length")
"""Of a wire header."""
LONGEST_PACKET = HEADER.mask("length") >> LENGTH
CLOSED = State.CLOSED
CAUSES = {"time-out": Cause.TIMEOUT, "duplicates": Cause.NACK}
CONTROL = int(Activity.CONTROL)


def connection_bytes(description: Description) -> int:
    """Bytes of memory of a connection: for what it receives, and for the segments that it sends."""
    return (description.tcp.socket_buffer
            + _chunks(description) * buffer_bytes(description))


def _chunks(description: Description) -> int:
    """Most segments in a send buffer."""
    return 2 * -(-description.tcp.socket_buffer // description.segment_bytes) + SPARE


class Stack:
    """One for each node: ``node.kernel(Stack)``.

    Attributes
    ----------
    lock
        What keeps CPUs that share the NIC out of each other's way.
    endpoints
        Connections and listeners.
    interrupts, bad
        Interrupts taken; packets dropped because they were not sound.
    again
        Segments sent again, by peer and cause.
    started
        Whether the NIC has been set up.

    Raises
    ------
    RuntimeError
        The NIC has no rings, another CPU drives it, or the node has several.
    """

    def __init__(self, node: Node) -> None:
        description = node.description
        node.drive_nic("TCP", interrupts=True)
        if node.nics > 1:
            raise RuntimeError(f"TCP on {node.place}: it drives nodes with one NIC (node.nics)")
        if description.nic.processor != "none" or not description.nic.send_ring:
            raise RuntimeError("TCP drives the NIC's rings: nic.processor must be none, and "
                               "nic.send_ring not 0")
        self.node = node
        self.lock = kernel_lock(node)
        self.port = node.port
        self.memory = node.memory
        self.prices = prices = node.service(Prices)
        tcp, mss = description.tcp, description.segment_bytes
        self.settings = settings = Settings(
            mss, tcp.socket_buffer, _chunks(description), tcp.delayed_ack, tcp.rto_min,
            tcp.retries, tcp.time_wait)
        self.endpoints = Endpoints(node.number, settings)
        self.interrupts = 0
        self.bad = 0
        self.again = SentAgain(node.port, "TCP", node.number)
        self._ring = ReceiveRing(node)
        self._ring.receivers = {Protocol.IP: self._arrived}
        self._send_ring = SendRing(node, 0, prices.report)
        self._heads = 0
        self._areas: dict[Connection, int] = {}
        self._free_areas: list[int] = []
        self._identification = 0
        self._headers: dict[int, int] = {}
        """By node, the wire header of what goes there, but for the length."""
        self._deadline = FAR
        self._stalled = False
        """Something waits for the NIC to read the send ring."""
        self.started = False

    async def start(self) -> None:
        """Set the NIC up when it is first used."""
        if self.started:
            return
        async with self.lock.held():
            if not self.started:
                self._heads = self.node.allocate(self._send_ring.size * HEAD)
                await self._ring.start()
                await self._send_ring.start()
                await self.port.pio_write(IRQ_ENABLE, Irq.RECEIVE)
                self.lock.wrote()
                self.started = True

    # Calls

    async def enter(self) -> None:
        """Enter the kernel by a call on a socket."""
        self.port.spend(self.prices.call)
        await self.spend()
        await self.lock.enter()

    async def spend(self) -> None:
        """Spend the time that the call has taken, and at least one cycle, also on a CPU without
        costs: so that a program that asks again and again advances target time."""
        before = self.port.cycle
        if await self.port.flush() == before:
            await self.port.delay(1)
            await self.port.flush()

    def attend(self) -> Awaitable[None]:
        """Take the interrupt if the CPU has seen one, and the timers'."""
        port = self.port
        if (port.status & IRQ or self._ring.left or self._deadline <= port.cycle
                or self._stalled):
            return self._attend()
        return NOTHING

    async def _attend(self) -> None:
        port = self.port
        async with self.lock.held():
            if port.interrupted or self._ring.left:
                await self._interrupt()
            if self._deadline <= port.cycle:
                await self._tick()
            if self._stalled:
                await self._go_on()
            self.lock.news()

    async def until(self, condition: Callable[[], Any], what: str | Callable[[], str],
                    deadline: int = FAR) -> bool:
        """Inside a call, the process waits until ``condition()`` holds, or cycle ``deadline`` has
        come; which of them."""
        port = self.port
        await self.attend()
        if condition():
            return True
        slept, outer = False, port.waiting_text
        port.waiting_for(what)
        while not condition() and port.cycle < deadline:
            if not slept:
                slept = True
                port.spend(self.prices.sleep)
            end = min(deadline, self._due())
            if end > port.cycle:
                await sleep(port, self.lock, end)
            await self.attend()
        port.waiting_for(outer)
        if slept:
            port.spend(self.prices.wake)
            port.work("context_switch")
        return bool(condition())

    def _due(self) -> int:
        """The cycle at which a timer has run out or the NIC may have room again; FAR: neither."""
        if self._stalled:
            return min(self._deadline, self.port.cycle + self._send_ring.drain)
        return self._deadline

    def awaits(self) -> tuple[list[Watch], int]:
        """Returns the place of the next packet, and cycles until a timer has run out or the NIC
        may have room again (0: neither)."""
        return ([self._ring.watch()],
                timeout(self._due(), self.port.cycle))

    async def compute(self, cycles: int) -> None:
        """The program computes for ``cycles`` target cycles. Packets and timers interrupt it, and
        what they take comes on top."""
        await compute(self.port, cycles, self._due, self.attend)

    def made(self, connection: Connection) -> None:
        """A connection is there: it has a place for what it receives, and buffers for what it
        sends."""
        for one in [one for one in self._areas if one.finished]:
            self._free(one)
        area = (self._free_areas.pop() if self._free_areas
                else self.node.allocate(self.settings.buffer))
        self._areas[connection] = area
        missing = len(self._areas) * self.settings.chunks - self._send_ring.slots
        if missing > 0:
            self._send_ring.add(missing)

    # What goes

    async def write(self, connection: Connection, data: memoryview) -> None:
        """``data``, for which there is room in the connection and which the CPU has read, into its
        send buffer, with their checksum."""
        port = self.port
        at = 0
        while at < len(data) and connection.writable:
            if not await self._send_ring.available():
                self._stalled = True
                await self.attend()
                await port.delay(self._send_ring.drain)
                await port.flush()
                continue
            port.spend(self.prices.write)
            part = data[at:at + connection.mss]
            for chunk, offset, length in connection.write(part):
                if not chunk.place:
                    chunk.place = self._send_ring.take()
                port.work("copy_word", -(-length // 8))
                port.work("checksum_word", -(-length // 8))
                place = chunk.place + HEADERS_BYTES + offset
                await port.touch(place, length, store=True)
                self.memory.write(place, data[at:at + length])
                at += length
            await self.output(connection)

    async def output(self, connection: Connection) -> None:
        """Send what ``connection`` has to send now."""
        ring = self._send_ring
        while True:
            if ring.posted - ring.done >= ring.size and not await ring.room():
                self._stalled = True
                break
            found = connection.following(self.port.cycle)
            if found is None:
                connection.watch(self.port.cycle)
                break
            segment, chunk = found
            if chunk is not None and chunk.sent > 1:
                if chunk.posted > ring.done:
                    await ring.look()
                if chunk.posted > ring.done:
                    # It has not left yet, so nothing is to be sent again.
                    connection.acknowledge()
                    continue
                self.again.note(connection.peer, CAUSES[connection.why])
            await self._transmit(connection.peer, segment, chunk)
        self._free(connection)

    async def _transmit(self, peer: int, segment: Segment, chunk: Chunk | None = None) -> None:
        """A segment to node ``peer``; there is room in the ring."""
        port, ring = self.port, self._send_ring
        port.spend(self.prices.output)
        port.spend(self.prices.ip_output)
        port.spend(self.prices.driver_send)
        node = self.node
        self._identification = self._identification + 1 & 0xFFFF
        head = pack(node.number, peer, segment, self._identification)
        length = len(head) + len(segment.data)
        if segment.data and chunk is not None:
            place, chunk.posted = chunk.place, ring.posted + 1
        else:
            place = self._heads + ring.posted % ring.size * HEAD
        self.memory.write(place, head)
        await port.touch(place, len(head), store=True)
        header = self._headers.get(peer)
        if header is None:
            header = self._headers[peer] = HEADER.pack(
                route=node.route(peer), source=node.number, destination=peer,
                protocol=Protocol.IP)
        await ring.post(header | length << LENGTH, b"", place, length, node.trace_number())

    def _free(self, connection: Connection) -> None:
        """Buffers whose data have arrived are free, and all of a connection that has ended."""
        if connection.over:
            port, price = self.port, self.prices.acknowledged
            for chunk in connection.over:
                port.spend(price)
                if chunk.place:
                    self._send_ring.free(chunk.place)
            connection.over.clear()
        if connection.state is CLOSED and connection.finished \
                and (connection.orphan or not connection.incoming.readable):
            area = self._areas.pop(connection, None)
            if area is not None:
                self._free_areas.append(area)
        self._deadline = self.endpoints.settle()

    async def _go_on(self) -> None:
        """The NIC may have read more: go on with what waited for it."""
        self._stalled = False
        for connection in self.endpoints:
            await self.output(connection)

    # What comes

    async def _interrupt(self) -> None:
        port = self.port
        self.interrupts += 1
        port.mark(CONTROL, BEGIN, 0)
        port.spend(self.prices.interrupt)
        await self._ring.drain(self._ring.slots.entries)
        port.mark(CONTROL, END, 0)

    async def _tick(self) -> None:
        """Timers have run out."""
        port = self.port
        port.mark(CONTROL, BEGIN, 0)
        for connection in self.endpoints:
            if connection.deadline <= port.cycle:
                port.spend(self.prices.timer)
                connection.tick(port.cycle)
                await self.output(connection)
        port.mark(CONTROL, END, 0)

    async def _arrived(self, header: int, slot: int, trace: int) -> None:
        """A packet of IP, in a receive slot."""
        port, prices = self.port, self.prices
        port.spend(prices.driver_receive)
        port.spend(prices.ip_input)
        length = header >> LENGTH & LONGEST_PACKET
        await port.touch(slot + SLOT_HEAD, length)
        port.work("checksum_word", -(-max(0, length - IP_BYTES) // 8))
        await port.flush()
        try:
            peer, segment = parse(self.memory.read(slot + SLOT_HEAD, length), self.node.number)
        except BadPacket:
            self.bad += 1
            return
        port.spend(prices.input)
        answer = self.endpoints.arrived(peer, segment, port.cycle)
        if isinstance(answer, Segment):
            if await self._send_ring.room():
                await self._transmit(peer, answer)
        elif answer is not None:
            if answer not in self._areas and not answer.finished:
                self.made(answer)
                port.spend(prices.open)
            if answer.stored:
                port.spend(prices.queue)
                port.work("copy_word", -(-answer.stored // 8))
                await self.touch(answer, segment.sequence, answer.stored, store=True)
            await self.output(answer)

    async def touch(self, connection: Connection, sequence: int, length: int, store: bool = False
                    ) -> None:
        """CPU traffic over received data from ``sequence`` on, in the socket's buffer."""
        size, port = self.settings.buffer, self.port
        area = self._areas[connection]
        first = sequence % size
        part = min(length, size - first)
        await port.touch(area + first, part, store)
        if length > part:
            await port.touch(area, length - part, store)

    def unread(self, connection: Connection) -> int:
        """The sequence number of the first byte that the process has not read."""
        incoming = connection.incoming
        return plus(incoming.expected, -incoming.readable - incoming.finished)


if HEADERS_BYTES + 4 > HEAD or INLINE_BYTES > HEAD:
    raise AssertionError("a buffer for headers does not hold the longest ones")
