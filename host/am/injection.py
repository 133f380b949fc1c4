"""Ways from the CPU to the NIC: one interface for the differences between NICs.

- :class:`SendWindow`: no NIC processor. Small packets by PIO into the send window, bulk packets by
  descriptors of the send ring.
- :class:`LineRing`: the same NIC on the memory bus. All packets are cache lines of a ring in host
  memory, which the NIC pulls; there are no doorbells.
- :class:`FirmwareQueue`: firmware ``am`` on a NIC processor. All packets are slots of its queue in
  NIC memory, written by PIO, and a doorbell.
- :class:`CoherentQueue`: the same with ``nic.attachment`` = memory_bus. The queue is in host
  memory, and the firmware pulls it; there are no doorbells.
- :class:`ProcessorQueue`: a message processor, which is another CPU of the node
  (``am.message_processor`` = cpu). All packets are lines of a queue in host memory, which it reads.

Others are in :mod:`.nic_queues`, :mod:`.told_queues` and :mod:`.entry_queue`.
"""

from ...layouts.operations import BLOCK
from ...layouts.packet import TRACE_BITS, Protocol
from ...layouts.processor import SEND_WORD, SLOT_BYTES, SendKind
from ...layouts.registers import RECHECK, SEND_WINDOW
from ...layouts.rings import DESCRIPTOR_BYTES, DESCRIPTOR_CONTROL, LINE_BYTES, LINE_WORD
from ..port.costs import Path
from ..port.done_count import Report
from ..port.node import Node
from ..port.port import F_NOT_EQUAL, WORD
from ..processor.loader import NicProcessor
from . import costs, wire
from .message_queues import FLAG, LAID_OUT, LINES, SERVED, MessageQueues
from .pinned_region import PinnedRegion
from .receive_ring import ReceiveQueue, ReceiveRing

__all__ = ["CoherentQueue", "FirmwareQueue", "Injection", "LineRing", "ProcessorQueue",
           "SendWindow", "SlotQueue"]

PAYLOAD = DESCRIPTOR_CONTROL.offset("payload")
DESCRIPTOR_TRACE = DESCRIPTOR_CONTROL.offset("trace")
SEND_PHASE = SEND_WORD.offset("phase")
SEND_TRACE = SEND_WORD.offset("trace")
LINE_PHASE = LINE_WORD.offset("phase")
LINE_TRACE = LINE_WORD.offset("trace")
QUEUE_PAGE = 1
"""Doorbell page of the firmware's queue."""
QUEUE_SLOTS = 32
"""Most slots of the queue. A posted packet waits behind all of them."""


class Injection:
    """A way to the NIC.

    Attributes
    ----------
    entries
        Entries of a block that one packet takes.
    bulk_entries
        The same of a bulk packet.
    shared
        Whether bulk packets use the room of small packets.
    untold
        Whether the NIC has not been told of all packets that were put: see :meth:`tell`.
    ring
        Where packets arrive.
    stores
        Words to be written to memory as soon as the block has been executed: address, data.
    recheck
        The bit of a count of taken slots that has the NIC check the ring; 0: firmware has the ring.
    """

    entries = 1
    bulk_entries = 2
    shared = True
    untold = False
    taken: int
    taken_mask = 0xFFFF
    recheck = RECHECK
    ring: ReceiveRing
    stores: list[tuple[int, bytes]]
    _report: Report

    def __init__(self, node: Node) -> None:
        self.node, self.port, self.memory = node, node.port, node.memory
        self.taken = self._register("receive_taken")
        self.ring = ReceiveRing(node)
        self.stores = []
        self._pinned: PinnedRegion | None = None
        self._c_taken = node.port.path(costs.TAKEN)

    async def free(self, recheck: int = 0) -> None:
        """Report how many slots of the ring have been taken; with the bit :attr:`recheck`, if that
        is given."""
        port = self.port
        if port.count == BLOCK:
            await port.executed
        port.spend(self._c_taken)
        port.put_write(self.taken, 1, self.ring.taken & self.taken_mask | recheck)

    def _register(self, name: str) -> int:
        """Address of the NIC's register ``name``."""
        return self.node.register(name)

    def _pin(self, packets: int) -> None:
        """Copy bulk data to a pinned region if the description says so. ``packets``: most that the
        NIC has been given and not given back."""
        if self.node.description.am.bulk == "pinned":
            self._pinned = PinnedRegion(self.node, packets)
            self.bulk_entries += 2

    def _place(self, payload: int, length: int) -> int:
        """Where the NIC is to get the ``length`` bytes at ``payload``."""
        return payload if self._pinned is None else self._pinned.copy(payload, length)

    def header(self, destination: int, behind: int, bulk: bool = False) -> int:
        """The first word of a packet with ``behind`` bytes behind its wire header."""
        raise NotImplementedError

    async def open(self, slots: int) -> None:
        """Set up the way, with the receive ring at ``slots``."""
        raise NotImplementedError

    def small(self, header: int, word: int, low: int, high: int, beats: int, number: int) -> int:
        """Put a packet of ``beats`` words; return the room that it takes, in bytes. The block must
        have room."""
        raise NotImplementedError

    async def room(self) -> int:
        """Read the room for small packets, in bytes."""
        raise NotImplementedError

    async def bulk_room(self) -> bool:
        """Tells whether a bulk packet has room. For ways whose bulk packets do not use the room of
        small ones."""
        return True

    def bulk(self, header: int, word: int, low: int, payload: int, length: int,
             number: int) -> int:
        """Put a packet whose last ``length`` bytes are at ``payload``; return the room that it
        takes, as :meth:`small` does. The block must have room for ``bulk_entries``."""
        raise NotImplementedError

    async def tell(self) -> None:
        """Tell the NIC of the last packets, for ways that tell it of several bulk packets at
        once."""
        raise NotImplementedError

    @property
    def posted(self) -> int:
        """Packets put into the queue of bulk packets since :meth:`open`."""
        return self._report.posted

    async def done(self) -> int:
        """Read how many of them the NIC has taken."""
        await self._report.look()
        return self._report.done

    def put_poll(self, small: bool, bulk: bool, timeout: int) -> None:
        """Put the rest of a poll that also watches for room, of small packets or of bulk
        packets."""
        raise NotImplementedError


class SendWindow(Injection):
    """Uses the NIC's send window and send ring."""

    shared = False

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self._report = Report(node, node.description.nic.send_ring, 0xFFFF, costs.SPACE)
        self._descriptors = 0
        self._window = node.nic_address(SEND_WINDOW)
        self._send_space = self._register("send_space")
        self._doorbell = self._register("send_doorbell")
        self._space = node.port.path(costs.SPACE)
        self._bulk_send = node.port.path(costs.BULK_SEND)
        self._pin(self._report.entries)

    def header(self, destination: int, behind: int, bulk: bool = False) -> int:
        node = self.node
        return wire.wire_header(node.route(destination), node.number, destination, behind)

    async def open(self, slots: int) -> None:
        node, port = self.node, self.port
        self._descriptors = node.allocate(self._report.entries * DESCRIPTOR_BYTES)
        await self._report.open()
        await port.pio_write(self._register("send_base"), self._descriptors)
        await port.pio_write(self._register("send_report"), self._report.place)
        await port.pio_write(self._register("receive_base"), slots)
        await port.pio_write(self._register("control"), 3)

    def small(self, header: int, word: int, low: int, high: int, beats: int, number: int) -> int:
        self.port.put_write(self._window, beats, header, word, low, high, number)
        return 8 * beats

    async def room(self) -> int:
        port = self.port
        port.spend(self._space)
        if port.count == BLOCK:
            await port.executed
        port.put_read(self._send_space)
        await port.executed
        return port.data

    async def bulk_room(self) -> bool:
        if self._report.free <= 0:
            await self._report.look()
        return self._report.free > 0

    def bulk(self, header: int, word: int, low: int, payload: int, length: int,
             number: int) -> int:
        port, report = self.port, self._report
        port.spend(self._bulk_send)
        payload = self._place(payload, length)
        slot = self._descriptors + report.posted % report.entries * DESCRIPTOR_BYTES
        # The NIC has finished with this slot, and reads it only after the doorbell.
        self.memory.write(slot, wire.DESCRIPTOR.pack(
            header, word, low, 0, 0, payload,
            wire.BULK_HEADER_BYTES | length << PAYLOAD | number << DESCRIPTOR_TRACE, 0))
        port.put_touch(slot, DESCRIPTOR_BYTES, store=True)
        report.posted += 1
        port.put_write(self._doorbell, 1, report.posted & 0xFFFF, trace=number)
        return 0

    def put_poll(self, small: bool, bulk: bool, timeout: int) -> None:
        port = self.port
        if bulk:
            if small:
                port.put_watch(self._send_space, 0, wire.SPACE_MASK, F_NOT_EQUAL)
            self._report.put_poll(timeout)
        else:
            port.put_poll(self._send_space, 0, wire.SPACE_MASK, timeout, F_NOT_EQUAL)


class LineRing(Injection):
    """Uses the lines of a ring in host memory. The store that takes the line is the last of its
    block, and its words are written at that time. So the NIC sees them exactly when it sees the
    store."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self._report = Report(node, node.description.nic.send_ring, 0xFFFF, costs.SPACE)
        self._lines = 0
        self._c_line = node.port.path(costs.STORED_SLOT)
        self._c_bulk = node.port.path(costs.STORED_BULK_SLOT)
        self._pin(self._report.entries)

    def header(self, destination: int, behind: int, bulk: bool = False) -> int:
        return LINE_WORD.pack(route=self.node.route(destination), length=behind,
                              protocol=Protocol.AM, payload=int(bulk), destination=destination)

    async def open(self, slots: int) -> None:
        node, port = self.node, self.port
        self._lines = node.allocate(self._report.entries * LINE_BYTES)
        await self._report.open()
        # The NIC does not use the ring yet. Clearing it brings its lines into the cache.
        await node.store(self._lines, bytes(self._report.entries * LINE_BYTES))
        await port.pio_write(self._register("send_base"), self._lines)
        await port.pio_write(self._register("send_report"), self._report.place)
        await port.pio_write(self._register("receive_base"), slots)
        await port.pio_write(self._register("control"), 7)

    def small(self, header: int, word: int, low: int, high: int, beats: int, number: int) -> int:
        self.port.spend(self._c_line)
        return self._put(header, word, low, high, number)

    def bulk(self, header: int, word: int, low: int, payload: int, length: int,
             number: int) -> int:
        self.port.spend(self._c_bulk)
        return self._put(header, word, low, self._place(payload, length), number)

    def _put(self, header: int, word: int, low: int, high: int, number: int) -> int:
        report = self._report
        posted, entries = report.posted, report.entries
        line = self._lines + posted % entries * LINE_BYTES
        phase = 0 if posted & entries else 1
        report.posted = posted + 1
        self.port.put_touch(line, LINE_BYTES, store=True)
        self.stores.append((line, wire.LINE.pack(
            header | phase << LINE_PHASE | number << LINE_TRACE, word, low, high)))
        return wire.SMALL_BYTES

    async def room(self) -> int:
        await self._report.look()
        return wire.SMALL_BYTES * self._report.free

    def put_poll(self, small: bool, bulk: bool, timeout: int) -> None:
        self._report.put_poll(timeout)


class SlotQueue(Injection):
    """Uses the slots of a queue that firmware reads. Room is counted as if each slot were a small
    packet.

    Parameters
    ----------
    report
        How many slots there are, and how those sent are counted; None: by a count in host memory.
    """

    price: Path
    """Path charged for a packet in addition to the packet's own."""
    bulk_price: Path
    recheck = 0

    def __init__(self, node: Node, report: Report | None = None) -> None:
        super().__init__(node)
        processor, slots = node.description.processor, QUEUE_SLOTS
        if processor.doorbells == "queue":
            # One doorbell for each slot. With this many slots no doorbell finds the doorbell
            # queue full.
            slots = min(slots, processor.doorbell_queue)
        self._report = report or Report(node, slots, (1 << 32) - 1, costs.SPACE)
        self._index = self._report.entries - 1
        self._slots = 0
        self._c_slot = node.port.path(self.price)
        self._c_bulk = node.port.path(self.bulk_price)
        self._pin(self._report.entries)

    def header(self, destination: int, behind: int, bulk: bool = False) -> int:
        return SEND_WORD.pack(route=self.node.route(destination), length=behind, phase=0,
                              kind=SendKind.BULK if bulk else SendKind.INLINE,
                              destination=destination, trace=0)

    async def room(self) -> int:
        await self._report.look()
        return wire.SMALL_BYTES * self._report.free

    def put_poll(self, small: bool, bulk: bool, timeout: int) -> None:
        self._report.put_poll(timeout)

    def bulk(self, header: int, word: int, low: int, payload: int, length: int,
             number: int) -> int:
        self.port.spend(self._c_bulk)
        return self._put(header, word, low, self._place(payload, length), 4, number)

    def small(self, header: int, word: int, low: int, high: int, beats: int, number: int) -> int:
        self.port.spend(self._c_slot)
        return self._put(header, word, low, high, beats, number)

    def _put(self, header: int, word: int, low: int, high: int, beats: int, number: int) -> int:
        raise NotImplementedError


class _AmQueue(SlotQueue):
    """A queue of firmware ``am``, which also receives, and counts the taken slots of the ring."""

    taken_mask = (1 << 32) - 1

    async def _start(self, slots: int, queue: int) -> NicProcessor:
        """Start the firmware, with its queue at ``queue`` in host memory, 0 for NIC memory."""
        node, description = self.node, self.node.description
        await self._report.open()
        processor = node.service(NicProcessor)
        await processor.start("am", parameters={
            "send_slots": self._report.entries, "send_host": queue,
            "send_report": self._report.place, "receive_base": slots,
            "receive_entries": description.nic.receive_ring,
            "receive_bytes": description.slot_bytes, "process": 0, "nodes": node.nodes,
            "mtu": description.nic.mtu, "host_bytes": self.memory.size})
        self.taken = processor.address("forward")
        return processor


class FirmwareQueue(_AmQueue):
    """Uses slots in NIC memory and a doorbell."""

    entries = 2
    price = costs.SLOT
    bulk_price = costs.BULK_SLOT

    async def open(self, slots: int) -> None:
        processor = await self._start(slots, 0)
        self._slots = processor.address("slots")
        self._doorbell = processor.doorbell(QUEUE_PAGE)

    def _put(self, header: int, word: int, low: int, high: int, beats: int, number: int) -> int:
        port, report = self.port, self._report
        posted = report.posted
        port.put_write(self._slots + (posted & self._index) * SLOT_BYTES, beats,
                       header | number << SEND_TRACE, word, low, high, number)
        report.posted = posted = posted + 1
        port.put_write(self._doorbell, 1, posted & 0xFFFF_FFFF, trace=number)
        return wire.SMALL_BYTES


class CoherentQueue(_AmQueue):
    """Uses slots in host memory. The store that takes the line is the last of its block, and its
    words are written at that time. So the firmware sees them exactly when it sees the store."""

    price = costs.STORED_SLOT
    bulk_price = costs.STORED_BULK_SLOT

    async def open(self, slots: int) -> None:
        self._slots = self.node.allocate(self._report.entries * SLOT_BYTES)
        # Cached and clean, so the NIC sees each store, also those of the first lap.
        await self.node.load(self._slots, self._report.entries * SLOT_BYTES)
        await self._start(slots, self._slots)

    def _put(self, header: int, word: int, low: int, high: int, beats: int, number: int) -> int:
        port, report = self.port, self._report
        posted = report.posted
        slot = self._slots + (posted & self._index) * SLOT_BYTES
        phase = 0 if posted & self._index + 1 else 1
        report.posted = posted + 1
        port.put_touch(slot, 8 * beats, store=True)
        self.stores.append((slot, wire.LINE.pack(
            header | phase << SEND_PHASE | number << SEND_TRACE, word, low, high)[:8 * beats]))
        return wire.SMALL_BYTES


class ProcessorQueue(Injection):
    """Uses the lines of a queue in host memory that a message processor reads. A line has a flag:
    this CPU sets it with the message, the message processor clears it when the message has gone on.
    So the CPU looks at the flag of a line before it stores a message there. The store that takes
    the line is the last of its block, and its words are written at that time.

    Received packets are in a queue with flags, too. Bulk data are where the program has them: a
    line has their address."""

    recheck = 0

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        queues = node.shared_service(MessageQueues)
        if not queues.served:
            raise RuntimeError(
                f"Active Messages on CPU {node.cpu} of node {node.number}: its CPU 1 is the "
                "message processor (am.message_processor = cpu) and must not be given a program")
        self._queues = queues
        self.ring = self._queue = ReceiveQueue(node)
        self._report = Report(node, node.description.nic.send_ring, 0xFFFF, costs.SPACE)
        """Counts bulk packets: they are the NIC's descriptors."""
        self._line = 0
        self._c_line = node.port.path(costs.STORED_SLOT)
        self._c_bulk = node.port.path(costs.STORED_BULK_SLOT)
        self._c_room = node.port.path(costs.SPACE)
        self._c_freed = node.port.path(costs.FREED)
        self._pin(LINES + self._report.entries)

    async def free(self, recheck: int = 0) -> None:
        """Clear the flag of the slot that was freed last."""
        port, ring = self.port, self._queue
        if port.count == BLOCK:
            await port.executed
        port.spend(self._c_freed)
        port.put_touch(ring.freed, 8, store=True)
        await port.executed
        self.memory.write(ring.freed, bytes(8))

    def header(self, destination: int, behind: int, bulk: bool = False) -> int:
        return LINE_WORD.pack(route=self.node.route(destination), length=behind, phase=1,
                              protocol=Protocol.AM, payload=int(bulk), destination=destination)

    async def open(self, slots: int) -> None:
        node, queues = self.node, self._queues
        await self._report.open()
        queues.lay_out(node, slots, self._report.place)
        self._line = queues.first
        # Each CPU clears the flags that it will clear later, so that the first lap costs what the
        # others cost.
        for slot in range(node.description.nic.receive_ring):
            await node.store(slots + slot * node.description.slot_bytes, bytes(8))
        start = queues.start(node)
        await node.store(start, LAID_OUT.to_bytes(8, "little"))
        await self.port.room(1)
        self.port.put_poll(start, SERVED, WORD)
        await self.port.executed

    def small(self, header: int, word: int, low: int, high: int, beats: int, number: int) -> int:
        self.port.spend(self._c_line)
        return self._put(header, word, low, high, number)

    def bulk(self, header: int, word: int, low: int, payload: int, length: int,
             number: int) -> int:
        self.port.spend(self._c_bulk)
        self._report.posted += 1
        return self._put(header, word, low, self._place(payload, length), number)

    def _put(self, header: int, word: int, low: int, high: int, number: int) -> int:
        self.port.put_touch(self._line, LINE_BYTES, store=True)
        self.stores.append((self._line, wire.LINE.pack(header | number << LINE_TRACE, word, low,
                                                       high)))
        self._line = self._queues.line_behind(self._line)
        return wire.SMALL_BYTES

    async def room(self) -> int:
        port = self.port
        port.spend(self._c_room)
        if port.count == BLOCK:
            await port.executed
        port.put_touch(self._line, 8)
        await port.executed
        return 0 if self.memory.word(self._line) & FLAG else wire.SMALL_BYTES

    def put_poll(self, small: bool, bulk: bool, timeout: int) -> None:
        self.port.put_poll(self._line, 0, FLAG, timeout)


if (any(word.offset("trace") + TRACE_BITS != 64 or word.offset("length") != 16
        for word in (SEND_WORD, LINE_WORD)) or SEND_WINDOW % 8):
    raise AssertionError("headers with a length or trace number added do not match their words")
