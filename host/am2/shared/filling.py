"""Puts packets into the queues of others: a number is drawn, the packet claimed, filled, given."""

from struct import Struct

from ....layouts.am2 import ARGUMENTS, HEAD, PLACE, PacketType, Words
from ....layouts.trace import BEGIN, END, Activity
from ...port.node import Node
from ..copying import Copying
from ..costs import Prices
from ..packets import BULK, Packet
from .contention import Contention
from .queue_block import DEAD, Queue

__all__ = ["Filling"]

ADVANCE, CLAIM, FILL = (int(one) for one in (Activity.ADVANCE, Activity.CLAIM, Activity.FILL))
FREE, CLAIMED = int(PacketType.FREE), int(PacketType.CLAIMED)
FREED = FREE.to_bytes(8, "little")
"""The flag of a block that is free."""
PACKET = Struct("<QQQ8IQ")


class Filling:
    """The steps of a send, for the process on ``node``.

    A process can be ended in the middle of a send. What it has taken of others' queues by then is
    in registers that its kernel knows.

    Attributes
    ----------
    drawn
        The queue from which a number has been drawn, and the number; while ``drawing``, the CAS is
        under way.
    claimed
        Whether that packet has been claimed; while ``claiming``, the CAS is under way.
    block
        The queue of which a block has been claimed, and the block; while ``claiming_block``, the
        CAS is under way.
    """

    __slots__ = ("drawn", "drawing", "claimed", "claiming", "block", "claiming_block", "_node",
                 "_port", "_copying", "_contention", "_guesses", "_locate", "_draw", "_claim",
                 "_fill")

    def __init__(self, node: Node) -> None:
        self.drawn: tuple[Queue, int] | None = None
        self.block: tuple[Queue, int] | None = None
        self.drawing = self.claimed = self.claiming = self.claiming_block = False
        self._node = node
        self._port = node.port
        self._copying = node.service(Copying)
        self._contention = node.service(Contention)
        self._guesses: dict[int, int] = {}
        """What each tail was when it was last seen."""
        prices = node.service(Prices)
        self._locate = prices.locate
        self._draw = prices.draw
        self._claim = prices.claim
        self._fill = prices.fill

    def compose(self, packet: Packet) -> None:
        """Put the words of ``packet`` together, in registers: so that the packet in the queue, at
        which its receiver looks again and again, is written in no more time than its stores
        take."""
        self._port.span(FILL, packet.trace, self._fill[len(packet.arguments)])

    async def draw(self, queue: Queue, trace: int) -> bool:
        """Draw the number of a packet, which nobody else gets. False: the queue takes none any
        more."""
        port, tail = self._port, queue.tail
        port.begin(ADVANCE, trace, self._locate)
        number, losses = self._guesses.get(tail, 0), 0
        while True:
            self.drawn, self.drawing = (queue, number), True
            port.spend(self._draw)
            found = await port.cas(tail, number, number + 1)
            self.drawing = False
            if found == number:
                self._guesses[tail] = number + 1
                break
            self.drawn = None
            if found & DEAD:
                break
            number, losses = found, losses + 1
            await self._contention.pause(losses)
        port.mark(ADVANCE, END, trace)
        return self.drawn is not None

    async def draw_free(self, queue: Queue, trace: int) -> bool:
        """Draw the number of a packet that is free: nobody else can claim it then. False: the next
        one is not, or the queue takes none any more."""
        port, node, tail = self._port, self._node, queue.tail
        port.begin(ADVANCE, trace, self._locate)
        number, losses = int.from_bytes(await node.load(tail, 8), "little"), 0
        while not number & DEAD:
            slot = queue.slot(number)
            if int.from_bytes(await node.load(slot, 8), "little") != queue.free(number):
                found = int.from_bytes(await node.load(tail, 8), "little")
                if found == number:
                    break
            else:
                self.drawn, self.drawing = (queue, number), True
                port.spend(self._draw)
                found = await port.cas(tail, number, number + 1)
                self.drawing = False
                if found == number:
                    self._guesses[tail] = number + 1
                    break
                self.drawn, losses = None, losses + 1
                await self._contention.pause(losses)
            number = found
        port.mark(ADVANCE, END, trace)
        return self.drawn is not None

    async def claim(self, trace: int) -> bool:
        """Try to claim the packet whose number was drawn. Its head is looked at first: a queue that
        is full is only read, as by the study's code, which pays for the second transaction."""
        assert self.drawn is not None
        port, (queue, number) = self._port, self.drawn
        port.begin(CLAIM, trace, self._claim)
        free, slot = queue.free(number), queue.slot(number)
        if int.from_bytes(await self._node.load(slot, 8), "little") == free:
            self.claiming = True
            self.claimed = await port.cas(slot, free, CLAIMED) == free
            self.claiming = False
        port.mark(CLAIM, END, trace)
        return self.claimed

    async def claim_block(self, queue: Queue, trace: int) -> bool:
        """Claim a block of bulk data, the first from its tail on that is free. False: none is."""
        port, tail = self._port, queue.block_tail
        port.begin(CLAIM, trace, self._locate)
        first = self._guesses.get(tail, 0)
        for number in range(first, first + queue.blocks):
            port.spend(self._claim)
            self.block = queue, number
            self.claiming_block = True
            free = await port.cas(queue.flag(number), FREE, CLAIMED) == FREE
            self.claiming_block = False
            if free:
                port.spend(self._draw)
                found = await port.cas(tail, first, number + 1)
                self._guesses[tail] = number + 1 if found == first else found
                break
            self.block = None
        port.mark(CLAIM, END, trace)
        return self.block is not None

    async def release_block(self) -> None:
        """Give back the block that was claimed."""
        assert self.block is not None
        queue, number = self.block
        await self._node.store(queue.flag(number), FREED)
        self.block = None

    async def fill_block(self, packet: Packet) -> None:
        """Copy the bulk data of ``packet`` into the block that was claimed."""
        assert self.block is not None
        queue, number = self.block
        if packet.length:
            await self._copying.copy(packet.source, queue.data(number), packet.length,
                                     packet.trace)

    async def fill(self, packet: Packet, source: int) -> None:
        """Fill the packet that was claimed, and give it to the receiver; ``source``: its second
        word. Its words are one line's, stored one behind the other, the head last: nobody sees
        the head before the others."""
        assert self.drawn is not None
        port, count = self._port, len(packet.arguments)
        queue, number = self.drawn
        port.mark(FILL, BEGIN, packet.trace)
        kind, block = PacketType.READY, 0
        if self.block is not None:
            kind, block = PacketType.READY_BULK, self.block[1] % queue.blocks
        head = HEAD.pack(type=kind, opcode=packet.opcode, handler=packet.handler, count=count,
                         returned=packet.returned, block=block, trace=packet.trace)
        words = PACKET.pack(head, source, packet.tag, *packet.arguments,
                            *(0,) * (ARGUMENTS - count),
                            PLACE.pack(offset=packet.offset, length=packet.length))
        if packet.opcode not in BULK:
            words = words[:8 * (Words.ARGUMENTS + -(-count // 2))]
        await self._give(queue.slot(number), words)
        port.mark(FILL, END, packet.trace)

    def settle(self, last: int) -> None:
        """The process has ended, and ``last`` is the result of its last CAS: what it has taken."""
        if self.claiming_block and last != FREE:
            self.block = None
        if self.drawn is not None:
            queue, number = self.drawn
            self.claimed = self.claimed or (self.claiming and last == queue.free(number))
            if self.drawing and last != number:
                self.drawn = None
        self.drawing = self.claiming = self.claiming_block = False

    async def make_void(self) -> None:
        """Give the packet that was claimed to the receiver as one to pass over."""
        assert self.drawn is not None
        queue, number = self.drawn
        await self._give(queue.slot(number),
                         HEAD.pack(type=PacketType.VOID).to_bytes(8, "little"))

    async def _give(self, slot: int, words: bytes) -> None:
        await self._node.store(slot, words)
        self.drawn = self.block = None
        self.claimed = False
