"""The message processor: the loop by which a second CPU of a node moves messages.

The CPU of the program stores a message and its flag into a line of the send queue. The message
processor spins on that line in its cache, and on the NIC's receive window by uncached reads, in
turn. It stores a message's words into the send window, uncached, and clears the flag. A packet of
the receive window it reads word by word, and stores it with a flag into a slot of the receive
queue, on which the other CPU polls. Data of bulk packets it has the NIC fetch, by a descriptor of
the send ring.

The run starts it on CPU 1 of each node that runs a program, if ``am.message_processor`` = cpu, and
ends it when all programs have ended. It knows nothing of windows and sequence numbers: all
guarantees are the layer's, on the other CPU.
"""

from collections.abc import Coroutine
from typing import Any

from ...layouts.description import Description
from ...layouts.operations import NIC_BASE
from ...layouts.packet import FLIT_BYTES, HEADER, HEADER_BYTES
from ...layouts.registers import RECEIVE_WINDOW, address
from ...layouts.rings import COMPLETION, DESCRIPTOR_BYTES, DESCRIPTOR_CONTROL, LINE_WORD
from ...layouts.trace import BEGIN, END, Activity
from ..background import Background
from ..nic.done_count import Report
from ..port.node import Node
from ..port.words import F_NOT_EQUAL, WORD
from . import wire
from .costs import Prices
from .message_queues import FLAG, LAID_OUT, LINES, SERVED, MessageQueues

__all__ = ["CPU", "MessageProcessor", "background"]

CPU = 1
"""The CPU of a node that is its message processor."""
SEND_SPACE = address("send_space")
SEND_DOORBELL = address("send_doorbell")
HEAD = address("receive_trace")
"""The trace number of the packet in the receive window: 0 without one."""
WINDOW = NIC_BASE + RECEIVE_WINDOW
PAYLOAD = DESCRIPTOR_CONTROL.offset("payload")
TRACE = DESCRIPTOR_CONTROL.offset("trace")
COMPLETION_LENGTH = COMPLETION.offset("length")

LOOK, MOVE = int(Activity.LOOK), int(Activity.MOVE)

Watch = tuple[int, int, int, int]
"""Address, word to compare with, mask, flags: as :meth:`Port.put_watch` takes them."""
PACKET: Watch = HEAD, 0, WORD, F_NOT_EQUAL
"""A packet in the receive window."""


def background(description: Description) -> Background | None:
    """The message processor of a node, for the runtime; None without message processors."""
    return Background(CPU, serve) if description.am.message_processor == "cpu" else None


def serve(cpu: Node) -> Coroutine[Any, Any, None]:
    """The program of a message processor. From now on the node has one."""
    cpu.shared_service(MessageQueues).served = True
    return _serve(cpu)


async def _serve(cpu: Node) -> None:
    """Wait until the layer on another CPU has laid out the queues; then move messages."""
    port = cpu.port
    port.waiting_for("Active Messages to be enabled, as a message processor")
    port.put_poll(MessageQueues.start(cpu), LAID_OUT, WORD)
    await port.executed
    port.waiting_for("messages, as a message processor")
    processor = MessageProcessor(cpu)
    await processor.open()
    await processor.run()


class MessageProcessor:
    """The loop on CPU ``cpu``."""

    def __init__(self, cpu: Node) -> None:
        self._cpu = cpu
        self._port, self._memory = cpu.port, cpu.memory
        self._queues = queues = cpu.shared_service(MessageQueues)
        description = cpu.description
        self._line = queues.first
        self._slot = queues.slots
        self._slot_bytes = description.slot_bytes
        self._slots_end = queues.slots + description.nic.receive_ring * description.slot_bytes
        self._space = 0
        self._descriptors = 0
        prices = cpu.service(Prices)
        self._report = Report(cpu, description.nic.send_ring, 0xFFFF, prices.message_room,
                              queues.report)
        self._c_start = prices.message_start
        self._c_out = prices.message_out
        self._c_bulk = prices.message_out_bulk
        self._c_room = prices.message_room
        self._c_in = prices.message_in
        self._c_word = prices.message_word

    async def open(self) -> None:
        """Clear the send queue, and set up the NIC: the send ring, and the receive window in place
        of the receive ring."""
        port, cpu, queues = self._port, self._cpu, self._queues
        port.spend(self._c_start)
        await cpu.store(queues.first, bytes(LINES * queues.stride))
        self._descriptors = cpu.allocate(self._report.entries * DESCRIPTOR_BYTES)
        await port.pio_write(address("send_base"), self._descriptors)
        await port.pio_write(address("send_report"), self._report.place)
        await port.pio_write(address("control"), 1)
        await cpu.store(queues.start(cpu), SERVED.to_bytes(8, "little"))

    async def run(self) -> None:
        """Move messages out and in, as they come; while both are there, one of each in turn."""
        port = self._port
        message = self._message()
        packet = PACKET
        outward = True
        while True:
            port.mark(LOOK, BEGIN, 0)
            await port.room(2)
            first, second = (message, packet) if outward else (packet, message)
            port.put_watch(*first)
            port.put_poll(second[0], second[1], second[2], 0, second[3])
            await port.executed
            port.mark_check(LOOK, MOVE)
            if bool(port.status >> 4 & 15) != outward:
                message = await self._send()
                outward = False
            elif packet is not PACKET:
                packet = PACKET
            else:
                packet = await self._receive(port.data)
                outward = True
            port.mark(MOVE, END, 0)

    def _message(self) -> Watch:
        """A message in the next line."""
        return self._line, FLAG, FLAG, 0

    async def _send(self) -> Watch:
        """Give the next line's message to the NIC if that has room; return for what to wait next.
        Called when there is a message, or room."""
        port, line = self._port, self._line
        word, first, second, third = wire.LINE.unpack(self._memory.read(line, wire.LINE.size))
        fields = LINE_WORD.unpack(word)
        header = HEADER.pack(route=fields["route"], length=fields["length"],
                             source=self._cpu.number, destination=fields["destination"],
                             protocol=fields["protocol"])
        number = fields["trace"]
        if fields["payload"]:
            report = self._report
            if report.free <= 0:
                await report.look()
                if report.free <= 0:
                    return report.place, report.done & report.mask, report.mask, F_NOT_EQUAL
            port.work("message_work")
            port.spend(self._c_out)
            port.spend(self._c_bulk)
            slot = self._descriptors + report.posted % report.entries * DESCRIPTOR_BYTES
            # The NIC has finished with this slot, and reads it only after the doorbell.
            self._memory.write(slot, wire.DESCRIPTOR.pack(
                header, first, second, 0, 0, third,
                wire.BULK_HEADER_BYTES | fields["length"] - wire.BULK_HEADER_BYTES << PAYLOAD
                | number << TRACE, 0))
            await port.room(2)
            port.put_touch(slot, DESCRIPTOR_BYTES, store=True)
            report.posted += 1
            port.put_write(SEND_DOORBELL, 1, report.posted & 0xFFFF, trace=number)
        else:
            if self._space < wire.SMALL_BYTES:
                port.spend(self._c_room)
                self._space = await port.pio_read(SEND_SPACE)
                if self._space < wire.SMALL_BYTES:
                    return SEND_SPACE, 0, wire.SPACE_MASK, F_NOT_EQUAL
            port.work("message_work")
            port.spend(self._c_out)
            beats = 1 + -(-fields["length"] // FLIT_BYTES)
            self._space -= FLIT_BYTES * beats
            await port.room(1)
            port.put_write(wire.WINDOW, beats, header, first, second, third, number)
        await port.room(1)
        port.put_touch(line, 8, store=True)
        await port.executed
        self._memory.write(line, bytes(8))
        self._line = self._queues.line_behind(line)
        return self._message()

    async def _receive(self, number: int) -> Watch:
        """Move packet ``number``, in the receive window, to the next slot if that is free; return
        for what to wait next: a packet, or that slot."""
        port, memory, slot = self._port, self._memory, self._slot
        await port.touch(slot, 8)
        await port.executed
        if memory.word(slot) & 1:
            return slot, 0, 1, 0
        port.work("message_work")
        port.spend(self._c_in)
        header = await port.pio_read(WINDOW)
        length = HEADER.get(header, "length")
        left = -(-length // FLIT_BYTES)
        for _ in range(1 + left):
            port.spend(self._c_word)
        words = [header, *await port.pio_reads(WINDOW, left)]
        port.put_touch(slot, FLIT_BYTES * (1 + len(words)), store=True)
        await port.executed
        data = b"".join(word.to_bytes(FLIT_BYTES, "little") for word in words)
        memory.write(slot + 8, data[:HEADER_BYTES + length])
        memory.write(slot, (1 | length << COMPLETION_LENGTH
                            | number << wire.TRACE_SHIFT).to_bytes(8, "little"))
        slot += self._slot_bytes
        self._slot = self._queues.slots if slot == self._slots_end else slot
        return PACKET
