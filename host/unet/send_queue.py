"""The send queue: descriptors, done flags, back-pressure."""

from collections.abc import Sequence

from ...layouts.operations import BURST, CACHE_LINE
from ...layouts.processor import SLOT_BYTES
from ...layouts.trace import BEGIN, END, Activity
from ...layouts.unet import INLINE, POSTED_AT, SEND, SEND_STATUS, Status
from ..kernel.process import Process
from ..processor import NicProcessor
from .costs import Prices

__all__ = ["INLINED", "PUT", "S_CHANNEL", "SendQueue"]

POST_SEND, SEND_COMPLETE = int(Activity.POST_SEND), int(Activity.SEND_COMPLETE)
S_CHANNEL, S_TRACE = SEND.offset("channel"), SEND.offset("trace")
PHASE, INLINED, PLACED = (SEND.mask(name) for name in ("phase", "inlined", "placed"))
STATUS_AT = SEND_STATUS.offset("status")
MASK = 0xFFFF_FFFF
PUT = 4
"""Most operations of a post."""


class SendQueue:
    """The send queue of an endpoint: in its page of NIC memory at PIO address ``page``, or, of a
    NIC on the memory bus, at ``slots`` in host memory. The done flags are at ``statuses``.

    Attributes
    ----------
    posted, done
        Descriptors so far; of them, those that are known to be over.
    failed
        Status of each descriptor that was refused, by its number, from 1 on.
    """

    def __init__(self, process: Process, processor: NicProcessor, doorbell: int, page: int,
                 slots: int, statuses: int, count: int) -> None:
        self._process = process
        self._port = process.port
        self._memory = process.memory
        self._page, self._slots, self._statuses = page, slots, statuses
        self.count = count
        self._doorbell = doorbell
        self._words = process.node.description.processor.doorbells == "words"
        prices = process.node.service(Prices)
        self._send, self._inline, self._done = prices.send, prices.inline, prices.done
        self.posted = 0
        self.done = 0
        self.failed: dict[int, Status] = {}

    async def inline(self, channel: int, data: bytes) -> int:
        """Post ``data``, up to INLINE bytes, which go with the descriptor; the descriptor's number,
        or 0: the queue is full."""
        if len(data) > INLINE:
            raise ValueError(f"a descriptor has room for {INLINE} bytes, not {len(data)}")
        words = [int.from_bytes(data[at:at + 8], "little") for at in range(0, len(data), 8)]
        for _ in words:
            self._port.spend(self._inline)
        return await self.post(len(data) | channel << S_CHANNEL | INLINED, words)

    async def buffer(self, channel: int, place: int, length: int, there: int | None) -> int:
        """Post the buffer at ``place``, for the receiver's place ``there`` if that is given."""
        word = length | channel << S_CHANNEL
        if there is None:
            return await self.post(word, [place])
        return await self.post(word | PLACED, [place, there])

    async def post(self, word: int, words: list[int]) -> int:
        """Post the descriptor of ``word``, to which phase and trace number are added, and
        ``words``."""
        port = self._port
        trace = self._process.node.trace_number()
        port.mark(POST_SEND, BEGIN, trace)
        port.spend(self._send)
        if self.posted - self.done == self.count:
            await self.look()
            if self.posted - self.done == self.count:
                port.mark(POST_SEND, END, trace)
                return 0
        await port.room(PUT)
        store = self.put(word, words, trace)
        if store is not None:
            await port.executed
            self._memory.write(*store)
        port.mark(POST_SEND, END, trace)
        return self.posted

    def put(self, word: int, words: Sequence[int], trace: int) -> tuple[int, bytes] | None:
        """Put the descriptor into the next slot, which must be free; PUT operations at most. What
        is to be written to memory as soon as they have been executed: address, data."""
        port = self._port
        port.process = self._process.number
        offset = (self.posted & self.count - 1) * SLOT_BYTES
        if not self.posted & self.count:
            word |= PHASE
        words = [word | trace << S_TRACE, *words]
        self.posted += 1
        if self._slots:
            return self._put_stores(self._slots + offset, words)
        at = self._page + offset
        for first in range(0, len(words), BURST):
            part = words[first:first + BURST]
            d0, d1, d2, d3 = (*part, *(0,) * (BURST - len(part)))
            port.put_write(at + 8 * first, len(part), d0, d1, d2, d3, 0 if first else trace)
        if not self._words:
            port.put_write(self._page + POSTED_AT, 1, self.posted & MASK)
        port.put_write(self._doorbell, 1, self.posted & MASK)
        return None

    def _put_stores(self, at: int, words: Sequence[int]) -> tuple[int, bytes]:
        """Into a queue in host memory: the store that takes the first line is the last one, and the
        NIC sees the words exactly when it sees that."""
        port = self._port
        port.work("store", len(words))
        data = b"".join(word.to_bytes(8, "little") for word in words)
        if len(data) > CACHE_LINE:
            port.put_touch(at + CACHE_LINE, len(data) - CACHE_LINE, store=True)
        port.put_touch(at, min(len(data), CACHE_LINE), store=True)
        return at, data

    def put_watch(self, timeout: int) -> None:
        """The last watch of a poll: until the oldest send is over."""
        self._port.put_poll(self._statuses + (self.done & self.count - 1) * 8,
                            self.done + 1 & MASK, MASK, timeout)

    async def look(self) -> bool:
        """Look at the done flags from the oldest send on; whether all sends are over."""
        port = self._port
        while self.done < self.posted:
            place = self._statuses + (self.done & self.count - 1) * 8
            begin = port.mark(SEND_COMPLETE, BEGIN, 0)
            port.spend(self._done)
            await port.touch(place, 8)
            await port.executed
            word = self._memory.word(place)
            port.finish(begin, SEND_COMPLETE, 0)
            if (word ^ self.done + 1) & MASK:
                return False
            self.done += 1
            status = word >> STATUS_AT & 0xFF
            if status:
                self.failed[self.done] = Status(status)
        return True
