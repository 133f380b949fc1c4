"""The free queue and the receive queue."""

from ...layouts.trace import BEGIN, END, Activity
from ...layouts.unet import (
    ARMED,
    COUNTS,
    FREE,
    FREE_AT,
    RECEIVE,
    RECEIVE_BYTES,
    TAKEN_AT,
)
from ..kernel.process import Process
from ..port.port import Watch
from ..port.words import F_ONCE, TIMEOUT
from .costs import Prices
from .received import Received

__all__ = ["ReceiveQueue"]

EMPTY_CHECK, RECEIVE_COMPLETE = int(Activity.EMPTY_CHECK), int(Activity.RECEIVE_COMPLETE)
POST_RECEIVE = int(Activity.POST_RECEIVE)
F_LENGTH, F_PHASE = FREE.offset("length"), FREE.offset("phase")
R_BUFFERS, R_LENGTH = RECEIVE.offset("buffers"), RECEIVE.offset("length")
R_TRACE, R_CHANNEL = RECEIVE.offset("trace"), RECEIVE.offset("channel")
PLACED, REFUSED = RECEIVE.mask("placed"), RECEIVE.mask("refused")
LENGTH = RECEIVE.mask("length") >> R_LENGTH
MASK = 0xFFFF_FFFF


class ReceiveQueue:
    """The receive queue of an endpoint, ``count`` slots at ``slots`` in host memory, and its free
    queue of ``free_count`` entries in the page at PIO address ``page``.

    Attributes
    ----------
    seen
        Descriptors taken so far.
    told
        Of these, as many as the NIC knows of.
    out
        Buffers that the NIC has.
    """

    def __init__(self, process: Process, page: int, doorbell: int, slots: int, count: int,
                 free_count: int) -> None:
        self._process = process
        self._port = process.port
        self._memory = process.memory
        self._page = page
        self._armed_bell = doorbell + 8
        self._slots = slots
        self.count = count
        self._quarter = max(1, count // 4)
        self.free_count = free_count
        prices = process.node.service(Prices)
        self._free, self._check, self._take = prices.free, prices.check, prices.take
        self._inline = prices.inline
        self._query = prices.query
        self.seen = 0
        self.told = 0
        self._given = 0
        self.out = 0

    async def free(self, place: int, length: int) -> bool:
        """Give the buffer at ``place`` to the free queue; False: that is full."""
        port = self._port
        if self.out == self.free_count:
            port.spend(self._free)
            return False
        port.mark(POST_RECEIVE, BEGIN, 0)
        port.spend(self._free)
        phase = 0 if self._given & self.free_count else 1
        at = self._page + FREE_AT + (self._given & self.free_count - 1) * 8
        await port.room(1)
        port.process = self._process.number
        port.put_write(at, 1, place | length << F_LENGTH | phase << F_PHASE)
        self._given += 1
        self.out += 1
        port.mark(POST_RECEIVE, END, 0)
        return True

    @property
    def watch(self) -> Watch:
        """The condition that becomes true when the next descriptor comes."""
        return Watch(self._slots + (self.seen & self.count - 1) * RECEIVE_BYTES,
                     0 if self.seen & self.count else 1, 1)

    async def poll(self, spin: int = 0) -> Received | None:
        """The next descriptor, if there is one: one check, or ``spin`` cycles of them."""
        port, watch = self._port, self.watch
        begin = port.mark(EMPTY_CHECK, BEGIN, 0)
        port.spend(self._check)
        port.put_poll(watch.address, watch.compare, 1, spin, 0 if spin else F_ONCE)
        await port.executed
        if port.status & TIMEOUT:
            port.mark(EMPTY_CHECK, END, 0)
            return None
        if spin:
            begin = port.mark_check(EMPTY_CHECK, RECEIVE_COMPLETE)
        word = port.data
        port.spend(self._take)
        length, trace = word >> R_LENGTH & LENGTH, word >> R_TRACE & 0xFF_FFFF
        channel, count = word >> R_CHANNEL & 0x3FF, word >> R_BUFFERS & 7
        data, buffers = None, []
        bytes_behind = 8 * count or -(-length // 8) * 8
        if bytes_behind:
            for _ in range(bytes_behind // 8):
                port.spend(self._inline)
            await port.touch(watch.address + 8, bytes_behind)
            await port.executed
        behind = self._memory.read(watch.address + 8, bytes_behind)
        if count:
            for at in range(0, bytes_behind, 8):
                pair = int.from_bytes(behind[at:at + 8], "little")
                buffers.append((pair & MASK, pair >> 32))
            if not word & PLACED:
                self.out -= count
        else:
            data = behind[:length]
        self.seen += 1
        if self.seen - self.told >= self._quarter:
            await self.tell(self.seen)
        port.finish(begin, RECEIVE_COMPLETE, trace)
        return Received(channel, length, data, tuple(buffers), bool(word & PLACED),
                        bool(word & REFUSED), trace)

    async def tell(self, taken: int) -> None:
        """Tell the NIC how many descriptors have been taken."""
        port = self._port
        self.told = taken
        await port.room(1)
        port.process = self._process.number
        port.put_write(self._page + TAKEN_AT, 1, taken & MASK)

    async def arm(self) -> None:
        """Have the NIC interrupt when a descriptor comes behind those that were taken, at once if
        one is there."""
        port = self._port
        port.process = self._process.number
        await port.pio_write(self._armed_bell, ARMED | self.seen & MASK)

    async def dropped(self) -> tuple[int, int]:
        """Messages that the NIC has dropped, for want of a free buffer and of room in the queue."""
        port = self._port
        port.spend(self._query)
        port.process = self._process.number
        word = await port.pio_read(self._page + COUNTS)
        return word & MASK, word >> 32
