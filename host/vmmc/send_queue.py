"""The send queue of a port: slots in NIC memory, written by PIO, and what has become of them."""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from ...layouts.operations import BURST
from ...layouts.processor import SLOT_BYTES
from ...layouts.vmmc import COMMAND, Slot, Status
from ..port.node import Node
from ..port.port import Watch
from .costs import Prices
from .driver import Opened
from .handles import Sending

__all__ = ["SendQueue"]

MASK = 0xFFFF_FFFF
VALID = COMMAND.mask("valid")
INLINED = COMMAND.mask("inlined")
S_FURTHER = COMMAND.offset("further")
DESTINATION, KEY = int(Slot.DESTINATION), int(Slot.KEY)


class SendQueue:
    """The queue of ``opened``, whose page is at the PIO address ``page``.

    Attributes
    ----------
    posted, done
        Slots so far; ``done`` as it was read last.
    """

    def __init__(self, node: Node, opened: Opened, page: int, slots: int) -> None:
        self._port = node.port
        self._memory = node.memory
        self._opened = opened
        self._page = page
        self.count = slots
        self._price = node.service(Prices).room
        self.posted = 0
        self.done = 0
        self._entries = [0] * slots
        """The failure of each slot that was seen last: its status, and the count of failures."""
        self._out: deque[Sending] = deque()

    @property
    def free(self) -> int:
        """Slots, by the count read last."""
        return self.count - self.posted + self.done

    @property
    def idle(self) -> bool:
        """Tells whether all is over, by the count read last."""
        return self.posted == self.done

    def inline_slots(self, length: int, end: int) -> int:
        """Slots of a short send whose data end at word ``end``."""
        return 1 + -(-max(0, length - 8 * end) // SLOT_BYTES)

    async def put(self, command: int, words: Sequence[int], data: bytes | None, trace: int
                  ) -> Sending:
        """Put a command into the next slots, which must be free: ``words`` before word COMMAND, and
        before them the ``data`` of a short send."""
        mask, first = self.count - 1, self.posted
        rest = b""
        if data is not None:
            end = 8 * (DESTINATION + 1 - len(words))
            here, rest = data[:end], data[end:]
            words = [*(int.from_bytes(here[at:at + 8], "little")
                       for at in range(0, len(here), 8)), *words]
            command |= INLINED
        further = -(-len(rest) // SLOT_BYTES)
        process = self._opened.process
        assert process is not None
        for number in range(further):
            part = rest[number * SLOT_BYTES:(number + 1) * SLOT_BYTES]
            at = self._page + (first + 1 + number & mask) * SLOT_BYTES
            await self._write(at, [int.from_bytes(part[at:at + 8], "little")
                                   for at in range(0, len(part), 8)], process.number, 0)
        whole = [*words, command | further << S_FURTHER | VALID
                 | trace << COMMAND.offset("trace")]
        at = self._page + (first & mask) * SLOT_BYTES + 8 * (int(Slot.COMMAND) + 1 - len(whole))
        await self._write(at, whole, process.number, trace)
        self.posted += 1 + further
        sending = Sending(first & mask, self.posted, trace)
        self._out.append(sending)
        return sending

    async def _write(self, at: int, words: Sequence[int], process: int, trace: int) -> None:
        port = self._port
        await port.room(-(-len(words) // BURST))
        for first in range(0, len(words), BURST):
            part = words[first:first + BURST]
            port.put_write(at + 8 * first, len(part), *part, trace=0 if first else trace,
                           process=process)

    async def look(self) -> None:
        """Read how many slots are done."""
        port = self._port
        port.spend(self._price)
        await port.touch(self._opened.report, 8)
        await port.flush()
        self._told(self._memory.word(self._opened.report))

    def watch(self) -> Watch:
        """The word that changes when slots are done."""
        return Watch(self._opened.report, self.done & MASK, MASK, not_equal=True)

    async def until(self, condition: Callable[[], bool],
                    spin: Callable[[int, int, int], Awaitable[bool]]) -> None:
        """Look until ``condition`` is true. ``spin``: until a word changes."""
        await self.look()
        while not condition():
            await spin(self._opened.report, self.done & MASK, MASK)
            await self.look()

    def _told(self, word: int) -> None:
        self.done += (word & MASK) - self.done & MASK
        while self._out and self._out[0].end <= self.done:
            sending = self._out.popleft()
            sending.status = Status.SUCCESS
            if word >> 32:
                entry = self._memory.word(self._opened.statuses + 8 * sending.slot)
                if entry != self._entries[sending.slot]:
                    self._entries[sending.slot] = entry
                    sending.status = Status(entry & MASK)
