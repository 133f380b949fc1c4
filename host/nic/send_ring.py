"""The NIC's send ring, and buffers for outgoing data."""

import struct
from collections import deque

from ...layouts.description import Description
from ...layouts.packet import HEADER_BYTES
from ...layouts.rings import DESCRIPTOR_BYTES, DESCRIPTOR_CONTROL, INLINE_BYTES
from ..port.node import Node
from ..port.port import Watch
from ..port.work import Charge
from .registers import RECEIVE_RING, SEND_RING

__all__ = ["SendRing", "buffer_bytes"]

SLOT = struct.Struct(f"<Q{INLINE_BYTES}sQQQ")
"""A send descriptor: wire header, inline bytes, payload's address, control, reserved."""
PAYLOAD, TRACE = DESCRIPTOR_CONTROL.offset("payload"), DESCRIPTOR_CONTROL.offset("trace")

PATIENCE = 16
"""The link may take this many times longer than needed to accept packets."""


def buffer_bytes(description: Description) -> int:
    """Bytes of a buffer: a packet's, in whole lines."""
    return -(-description.nic.mtu // 64) * 64


class SendRing:
    """The send ring, and ``slots`` buffers of a packet's size. ``report`` is the cost of looking
    how far the NIC has read.

    A packet whose data fits into its descriptor needs no buffer. A freed buffer is used again only
    when the NIC has read every descriptor posted before, because one of them may still point to the
    buffer (a packet that was sent again, or acknowledged before it was read).

    Attributes
    ----------
    report
        Physical address of the word in which the NIC reports how far it has read.
    done
        Descriptors that the NIC had read at the last check.
    """

    def __init__(self, node: Node, slots: int, report: Charge) -> None:
        self.port = node.port
        self.memory = node.memory
        self.node = node
        self._doorbell = node.register("send_doorbell")
        self._price = report
        description = node.description
        self.size = description.nic.send_ring
        self.slots = 0
        self._first = slots
        self.buffer_bytes = buffer_bytes(description)
        self.drain = int(description.nic.send_fifo / description.link.bytes_per_cycle) + 1
        """Cycles in which the link takes all data that the NIC's send FIFO can hold."""
        self.report = 0
        self.posted = 0
        self._last = -self.drain
        self.done = 0
        self._base = 0
        self._free: deque[tuple[int, int]] = deque()

    async def start(self) -> None:
        """Set up the ring and turn it on, beside the receive ring."""
        node, port = self.node, self.port
        self._base = node.allocate(self.size * DESCRIPTOR_BYTES)
        self.report = node.allocate(8)
        self.add(self._first)
        # The NIC does not use the ring yet, so this is only setting up.
        self.memory.write(self.report, bytes(8))
        await port.pio_write(node.register("send_base"), self._base)
        await port.pio_write(node.register("send_report"), self.report)
        await port.pio_write(node.register("control"), SEND_RING | RECEIVE_RING)

    def add(self, slots: int) -> None:
        """So many more buffers."""
        first = self.node.allocate(slots * self.buffer_bytes)
        self._free.extend((0, first + self.buffer_bytes * index) for index in range(slots))
        self.slots += slots

    async def look(self) -> None:
        """Read how far the NIC has read."""
        port = self.port
        port.spend(self._price)
        await port.touch(self.report, 8)
        await port.flush()
        self.done += self.memory.word(self.report) - self.done & 0xFFFF

    def moved(self) -> bool:
        """Tells whether the NIC has read more since the last check. Costs nothing."""
        return bool(self.memory.word(self.report) - self.done & 0xFFFF)

    @property
    def reading(self) -> bool:
        """Tells whether the NIC had more to read at the last check."""
        return self.posted != self.done

    async def settle(self) -> None:
        """Wait until all posted packets have left, so that no control message overtakes them; give
        up if the link accepts nothing."""
        port = self.port
        await self.look()
        while self.reading:
            found = await port.poll(Watch(self.report, self.done & 0xFFFF, 0xFFFF, True),
                                    PATIENCE * self.drain)
            if found.timed_out:
                return
            await self.look()
            self._last = port.cycle
        await port.delay(max(0, self._last + self.drain - port.cycle))
        await port.flush()

    async def room(self) -> bool:
        """Tells whether a descriptor can be posted."""
        if self.posted - self.done >= self.size:
            await self.look()
        return self.posted - self.done < self.size

    async def available(self) -> bool:
        """Tells whether there is a free buffer."""
        free = self._free
        if free and free[0][0] > self.done:
            await self.look()
        return bool(free) and free[0][0] <= self.done

    @property
    def short(self) -> bool:
        """Tells whether few buffers are left, so that packets must request acknowledgements."""
        return 4 * len(self._free) <= self.slots

    def take(self) -> int:
        """Address of a free buffer. There must be one."""
        return self._free.popleft()[1]

    def put_back(self, buffer: int) -> None:
        """Return an unused buffer; 0 is none."""
        if buffer:
            self._free.appendleft((0, buffer))

    def free(self, buffer: int) -> None:
        """Returns what is in ``buffer`` will not be sent again."""
        self._free.append((self.posted, buffer))

    async def post(self, header: int, inline: bytes, buffer: int, length: int, trace: int) -> None:
        """Post a packet: its wire header, the bytes behind that which its descriptor carries, and
        the address and length of those behind these (0: none). There must be room."""
        port = self.port
        await port.room(2)
        at = self._base + self.posted % self.size * DESCRIPTOR_BYTES
        # The NIC has finished with this place, and reads it only after the doorbell.
        self.memory.write(at, SLOT.pack(header, inline, buffer, len(inline) | length << PAYLOAD
                                        | trace << TRACE, 0))
        port.put_touch(at, DESCRIPTOR_BYTES, store=True)
        self.posted += 1
        self._last = port.cycle
        port.put_write(self._doorbell, 1, self.posted & 0xFFFF, trace=trace)


if SLOT.size != DESCRIPTOR_BYTES or HEADER_BYTES != 8:
    raise AssertionError("the send ring does not match the declared layouts")
