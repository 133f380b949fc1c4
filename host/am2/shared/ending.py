"""The end of a queue block: its owner closes it, or has ended, and its kernel does."""

from ....layouts.am2 import HEAD, SOURCE, PacketType, Returned
from ...port.node import Node
from ...port.port import Watch
from ..packets import REPLIES, Arrived, Packet
from .filling import FREE, Filling
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
    packet. So all packets up to the last number come, and are sent back.
    """

    def __init__(self, node: Node, receiving: Receiving) -> None:
        self._node = node
        self._port = node.port
        self._receiving = receiving

    async def close(self, part: Part) -> None:
        """The owner closes it: requests in it go back, BADENDPOINT."""
        await self._close(part, State.CLOSED, Returned.BADENDPOINT)

    async def end(self, part: Part) -> None:
        """The owner has ended, perhaps in the middle of a call: what it has taken of others' queues
        is given back, and requests that it has not replied to go back, UNREACHABLE."""
        last = self._port.data
        for filling in (part.requesting, part.replying, part.returning):
            await self._undo(filling, last)
        handling = part.handling
        if handling is not None and not handling.back.replied:
            await self._send_back(part, handling, Returned.UNREACHABLE)
        for back, _ in part.kept:
            if back.arrived is not None:
                await self._send_back(part, back.arrived, Returned.UNREACHABLE)
        part.kept.clear()
        await self._close(part, State.ENDED, Returned.UNREACHABLE)

    async def _close(self, part: Part, state: State, reason: Returned) -> None:
        block = part.block
        await self._node.store(block.state, int(state).to_bytes(8, "little"))
        last = await self._poison(block.requests)
        await self._poison(block.replies)
        queue = block.requests
        for number in range(part.heads[0], last):
            slot = queue.slot(number)
            word = (await self._port.poll(Watch(slot, 0, THERE, True))).data
            taken = None
            if HEAD.get(word, "type") != PacketType.VOID:
                arrived, taken = await self._receiving.read(queue, slot, word)
                if not arrived.returned:
                    await self._send_back(part, arrived, reason)
            await self._receiving.free(queue, slot, taken)
        part.heads[0] = last

    async def _poison(self, queue: Queue) -> int:
        """Let nobody draw numbers of ``queue`` any more; return how many have been drawn."""
        port, number = self._port, 0
        while (found := await port.cas(queue.tail, number, number | DEAD)) != number:
            number = found
        return number

    async def _undo(self, filling: Filling, last: int) -> None:
        """What the owner has taken, as ``last``, the result of its last CAS, says too."""
        if filling.claiming_block and filling.block is not None and last != FREE:
            filling.block = None
        if filling.drawing and filling.drawn is not None and last != filling.drawn[1]:
            filling.drawn = None
        if filling.drawn is not None:
            claimed = filling.claimed or (filling.claiming and last == FREE)
            while not claimed and not await filling.claim(0):
                await self._port.delay(PAUSE)
            block = filling.block
            await filling.make_void()
            filling.block = block
        if filling.block is not None:
            await filling.release_block()
        filling.drawing = filling.claiming = filling.claiming_block = False

    async def _send_back(self, part: Part, arrived: Arrived, reason: Returned) -> None:
        """Message ``arrived`` goes back to its sender, if that is still there."""
        if arrived.opcode in REPLIES:
            return
        back: Back = arrived.back
        packet = Packet(arrived.opcode, arrived.handler, arrived.arguments, returned=reason,
                        epoch=arrived.epoch, trace=arrived.trace)
        filling = Filling(self._node)
        filling.compose(packet)
        if await filling.draw(back.block.replies, arrived.trace):
            while not await filling.claim(arrived.trace):
                await self._port.delay(PAUSE)
            await filling.fill(packet, source_word(part.block, arrived.epoch))
