"""The end of a queue block: its owner closes it, or has ended, and its kernel does."""

from collections.abc import Awaitable, Callable

from ....layouts.am2 import HEAD, SOURCE, PacketType, Returned
from ....layouts.operations import BLOCK
from ...port.node import Node
from ..packets import REPLIES, Arrived, Packet
from .filling import Filling
from .part import Back, Part
from .queue_block import DEAD, Queue, QueueBlock, State
from .receiving import THERE, Receiving

__all__ = ["Ending", "source_word"]

PAUSE = 64
"""Cycles between two looks at what others will have done soon."""


def source_word(block: QueueBlock, epoch: int) -> int:
    """The second word of packets of the owner of ``block``."""
    return SOURCE.pack(block=block.tag, cpu=block.name.cpu, endpoint=block.name.number,
                       epoch=epoch)


class Ending:
    """Ends queue blocks of the process on ``node``.

    Nobody draws a number from a tail any more once it is DEAD, and who has drawn one fills the
    packet. So all requests up to the last number come, and are sent back. While it waits for one it
    does not wait for anything else: two may end at the same time, each with a number of the other's
    queue. Messages back always find room: a request that is out has one packet of its sender's
    queue of replies.
    """

    def __init__(self, node: Node, receiving: Receiving) -> None:
        self._node = node
        self._port = node.port
        self._receiving = receiving
        self._last: int | None = None
        """The result of the last CAS of the program that has ended."""

    async def close(self, part: Part, send_kept: Callable[[], Awaitable[bool]]) -> None:
        """The owner closes it: requests in it go back, BADENDPOINT. ``send_kept`` sends replies
        that it has kept, and tells whether none is left."""
        last = await self._begin(part, State.CLOSED)
        while not (await self._drain(part, last, Returned.BADENDPOINT) and await send_kept()):
            await self._port.delay(PAUSE)

    async def end(self, part: Part) -> None:
        """The owner has ended, perhaps in the middle of a call: what it has taken of others' queues
        is given back, and requests that it has not replied to go back, UNREACHABLE."""
        found = self._last
        if found is None:
            await self._port.room(BLOCK)
            self._last = found = self._port.data
        fillings = part.requesting, part.replying, part.returning
        for filling in fillings:
            filling.settle(found)
        last = await self._begin(part, State.ENDED)
        for filling in fillings:
            if filling.block is not None:
                await filling.release_block()
        owed = [back.arrived for back, _ in part.kept if back.arrived is not None]
        if part.handling is not None:
            owed.append(part.handling)
        # First the one whose reply was under way: it has a packet already.
        owed.sort(key=lambda arrived: arrived.back is not part.answering)
        for arrived in owed:
            await self._send_back(part, arrived, Returned.UNREACHABLE)
        while not all([await self._drain(part, last, Returned.UNREACHABLE),
                       await _give_up(part.requesting), await _give_up(part.returning)]):
            await self._port.delay(PAUSE)

    async def _begin(self, part: Part, state: State) -> int:
        """Nobody can send to it any more; return how many requests it has had."""
        block = part.block
        await self._node.store(block.state, int(state).to_bytes(8, "little"))
        last = await self._poison(block.requests)
        await self._poison(block.replies)
        return last

    async def _poison(self, queue: Queue) -> int:
        """Let nobody draw numbers of ``queue`` any more; return how many have been drawn."""
        number = 0
        while not number & DEAD:
            found = await self._port.cas(queue.tail, number, number | DEAD)
            if found == number:
                return number
            number = found
        return number & ~DEAD

    async def _drain(self, part: Part, last: int, reason: Returned) -> bool:
        """Send back the requests that are there, up to number ``last``; whether these were all."""
        queue = part.block.requests
        while part.heads[0] < last:
            slot = queue.slot(part.heads[0])
            word = int.from_bytes(await self._node.load(slot, 8), "little")
            if not word & THERE:
                return False
            if HEAD.get(word, "type") != PacketType.VOID:
                if part.handling is None:
                    part.handling, _ = await self._receiving.read(queue, slot, word)
                await self._send_back(part, part.handling, reason)
            await self._receiving.free(part, queue)
        return True

    async def _send_back(self, part: Part, arrived: Arrived, reason: Returned) -> None:
        """Message ``arrived`` goes back to its sender, if that is still there, unless it has had
        its reply."""
        back: Back = arrived.back
        if arrived.opcode in REPLIES or back.replied:
            return
        packet = Packet(arrived.opcode, arrived.handler, arrived.arguments, returned=reason,
                        epoch=arrived.epoch, trace=arrived.trace)
        filling = part.replying
        part.answering = back
        filling.compose(packet)
        if filling.drawn is not None or await filling.draw(back.block.replies, arrived.trace):
            assert filling.claimed or await filling.claim(arrived.trace), "no room for a reply"
            await filling.fill(packet, source_word(part.block, arrived.epoch))
        back.replied = True


async def _give_up(filling: Filling) -> bool:
    """Make the packet void that was drawn, if it can be claimed; whether none is left."""
    if filling.drawn is not None:
        if not filling.claimed and not await filling.claim(0):
            return False
        await filling.make_void()
    return True
