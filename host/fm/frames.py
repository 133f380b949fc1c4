"""Takes packets of Fast Messages out of the receive ring, and puts packets into the queue to the
firmware."""

import struct
from typing import NamedTuple

from ...layouts.fm import ACCEPTED_MAX, FM_HEADER, FM_HEADER_BYTES, FRAME_BYTES, FmKind
from ...layouts.packet import HEADER_BYTES
from ...layouts.processor import SEND_WORD
from ...layouts.rings import COMPLETION
from ..nic.receive_slots import ReceiveSlots
from ..port.node import Node
from ..port.sent_again import SentAgain
from ..port.words import F_ONCE, TIMEOUT
from ..processor.loader import NicProcessor
from ..processor.queue import CoherentQueue, PioQueue, SendQueue
from .costs import Prices
from .lost import Lost, losses

__all__ = ["FmError", "Frames", "Packet"]

FIRMWARE = "fm"
PAGE = 1
"""Doorbell page of the firmware's queue."""
SLOTS = 32
"""Most slots of the queue."""
PAYLOAD = 8 + HEADER_BYTES + FM_HEADER_BYTES
"""Where a packet's payload is in its slot of the ring."""
LINE = 32
SLOT = struct.Struct("<QQQ")
TRACE = COMPLETION.offset("trace")
TRACE_MASK = COMPLETION.mask("trace") >> TRACE
LENGTH = COMPLETION.offset("length")
SOURCE = 32
SEND_LENGTH, SEND_TRACE = SEND_WORD.offset("length"), SEND_WORD.offset("trace")
ACCEPTED = FM_HEADER.offset("accepted")
KEPT = (1 << ACCEPTED) - 1
"""Bits of the header that stay when a packet is sent on."""


class FmError(Exception):
    """The program broke a rule of Fast Messages."""


class Packet(NamedTuple):
    """A packet as it was sent: header without ``accepted``, payload, trace number. ``node``: the
    other one."""

    node: int
    header: int
    payload: bytes
    number: int


class Frames:
    """The ring, the queue, and for each node the number of packets that it is owed an answer for.

    Attributes
    ----------
    counters
        rejected: packets sent back; returned: that came back; again: sent again; accepted: answers
        sent that carried nothing else; malformed: packets dropped.
    again
        The packets sent ``again``, by peer; their cause is always that they came back.
    owed
        Of each node, packets accepted whose sender does not know yet.
    slots
        The ring.
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self.port = node.port
        self.memory = node.memory
        description = node.description
        self.counters = dict.fromkeys(("rejected", "returned", "again", "accepted", "malformed"), 0)
        self.again = SentAgain(self.port, "Fast Messages", node.number)
        self._headers = [SEND_WORD.pack(route=node.route(other), destination=other)
                         for other in range(node.nodes)]
        self.owed = [0] * node.nodes
        self.slots = ReceiveSlots(node)
        slots = SLOTS
        if description.processor.doorbells == "queue":
            # A doorbell a slot: so many that none finds the doorbell queue full.
            slots = min(slots, description.processor.doorbell_queue)
        self._count = slots
        self._lost: Lost | None = None
        if why := losses(description):
            self._lost = lost = node.run_service(Lost)
            lost.why = why
            lost.waiting[node.number] = self._empty
        self._queue: SendQueue
        self._c_taken = node.service(Prices).taken

    async def open(self) -> None:
        """Start the firmware on fresh rings."""
        node, port = self.node, self.port
        ring = self.slots
        ring.lay_out()
        report = node.allocate(8)
        coherent = node.description.nic.attachment == "memory_bus"
        slots = node.allocate(self._count * 64) if coherent else 0
        await port.touch(report, 8, store=True)
        await port.flush()
        # The NIC has not been told of them. Fresh memory is zero to the CPU too.
        self.memory.write(ring.first, bytes(ring.entries * ring.stride))
        self.memory.write(report, bytes(8))
        if coherent:
            self.memory.write(slots, bytes(self._count * 64))
        processor = node.service(NicProcessor)
        await processor.start(FIRMWARE, parameters={
            "send_slots": self._count, "send_host": slots, "send_report": report,
            "receive_base": ring.first, "receive_entries": ring.entries,
            "receive_bytes": ring.stride, "process": 0, "nodes": node.nodes})
        self._queue = (CoherentQueue(processor, PAGE, slots, self._count, report) if coherent
                       else PioQueue(processor, PAGE, "slots", self._count, report))
        self._tell = processor.address("forward")

    # Out

    async def put(self, destination: int, header: int, payload: bytes, number: int) -> None:
        """Send a packet, and tell its destination what it is owed. Waits for room in the queue: the
        firmware makes some whatever this node does."""
        queue = self._queue
        if queue.room.free <= 0:
            await queue.wait()
        if self._lost is not None:
            self._lost.sent(self.node.number, destination, number, self.port.cycle, _what(header))
        owed = min(self.owed[destination], ACCEPTED_MAX)
        self.owed[destination] -= owed
        words = [int.from_bytes(payload[at:at + 8], "little") for at in range(0, len(payload), 8)]
        behind = FM_HEADER_BYTES + 8 * len(words)
        await queue.put([self._headers[destination] | behind << SEND_LENGTH | number << SEND_TRACE,
                         header | owed << ACCEPTED, *words], number)

    # In

    async def check(self, timeout: int | None = None) -> bool:
        """Tells whether a packet is at the ring's head: checked once, or for up to ``timeout``
        cycles (0: for ever)."""
        port = self.port
        if timeout is None:
            port.put_poll(self.slots.slot, self.slots.phase, 1, 0, F_ONCE)
        else:
            port.put_poll(self.slots.slot, self.slots.phase, 1, timeout)
        await port.executed
        return not port.status & TIMEOUT

    def look(self) -> tuple[Packet, int] | None:
        """The packet at the ring's head, and what its sender says was accepted; None for what is no
        packet of Fast Messages."""
        completion, wire, header = SLOT.unpack(self.memory.read(self.slots.slot, SLOT.size))
        length = completion >> LENGTH & 0xFFFF
        fields = FM_HEADER.unpack(header & 0xFFFF_FFFF)
        source = wire >> SOURCE & 255
        size = fields["bytes"]
        if (length < FM_HEADER_BYTES + size or size > FRAME_BYTES or source >= len(self._headers)
                or fields["kind"] not in KINDS
                or fields["kind"] == FmKind.WORDS and size != 16):
            self.counters["malformed"] += 1
            return None
        payload = self.memory.read(self.slots.slot + PAYLOAD, -(-size // 8) * 8)
        number = completion >> TRACE & TRACE_MASK
        if self._lost is not None:
            self._lost.arrived(source, self.node.number, number)
        return Packet(source, header & KEPT, payload, number), fields["accepted"]

    def _empty(self) -> bool:
        """Whether no packet is at the ring's head; looked at beside the target."""
        return not self.slots.arrived()

    async def advance(self) -> None:
        """Go on to the next slot; the NIC hears of it now and then."""
        slots = self.slots
        if slots.advance():
            port = self.port
            await port.room(1)
            port.spend(self._c_taken)
            port.put_write(self._tell, 1, slots.taken & 0xFFFF_FFFF)
            slots.told = slots.taken

    def number(self) -> int:
        """Trace number of the packet at the ring's head."""
        return self.memory.word(self.slots.slot) >> 24 & 0xFF_FFFF

    async def copied(self, size: int, target: int) -> None:
        """Charge for copying ``size`` bytes of payload from the slot at the ring's head."""
        port = self.port
        await port.room(2)
        if size > LINE - PAYLOAD:
            port.put_touch(self.slots.slot + LINE, size - (LINE - PAYLOAD))
        port.work("copy_word", -(-size // 8))
        if size:
            port.put_touch(target, size, store=True)


def _what(header: int) -> str:
    """The packet with this header, in words."""
    fields = FM_HEADER.unpack(header & 0xFFFF_FFFF)
    if fields["kind"] == FmKind.ACCEPTED:
        return "an answer to messages that were accepted"
    back = "sent back " if fields["returned"] else ""
    return f"a message for handler {fields['handler']} {back}".rstrip()


KINDS = frozenset(int(kind) for kind in FmKind)
