"""Takes messages out of an endpoint's own queues."""

from collections.abc import Callable
from struct import Struct

from ....layouts.am2 import HEAD, PLACE, SOURCE, Opcode, PacketType, Words
from ...port.node import Node
from ...port.port import Watch
from ...port.suspension import NOTHING
from ...port.words import F_NOT_EQUAL, F_ONCE, TIMEOUT
from ..control_block import ControlBlock
from ..costs import Prices
from ..endpoint_name import EndpointName
from ..looking import Looking
from ..packets import BULK, Arrived
from ..way import Deliver
from .filling import FREED
from .part import Back, Part
from .queue_block import Queue, QueueBlock

__all__ = ["Receiving"]

THERE = HEAD.mask("type") & ~1
"""The bits of a head that are 0 as long as the packet is free, or being filled."""
BEHIND_HEAD = Struct("<QQ8IQ")
FIRST = 8 * Words.SOURCE
VOID = int(PacketType.VOID)
OPCODES = {int(one): one for one in Opcode}


class Receiving:
    """The receiver's side of queues, for the process on ``node``; ``block_of`` finds the queue
    block of a sender."""

    def __init__(self, node: Node, deliver: Deliver,
                 block_of: Callable[[EndpointName], QueueBlock]) -> None:
        self._node = node
        self._port = node.port
        self._deliver = deliver
        self._block_of = block_of
        self._looking = node.service(Looking)
        self._c_endpoint = node.service(Prices).poll_endpoint

    def watches(self, part: Part) -> list[Watch]:
        """The heads' packets, of replies and of requests."""
        block, (requests, replies) = part.block, part.heads
        return [Watch(block.replies.slot(replies), 0, THERE, True),
                Watch(block.requests.slot(requests), 0, THERE, True)]

    async def poll(self, endpoint: ControlBlock, part: Part, most: int) -> int:
        """Take up to ``most`` messages; return how many there were."""
        taken = 0
        while taken < most:
            self._looking.again()
            queue = await self._look(part)
            if queue is None:
                break
            taken += await self._take(endpoint, part, queue, self._port.data)
        return taken

    async def _look(self, part: Part) -> Queue | None:
        """The queue whose head is ready, with the head as the port's data: that of replies first,
        because they free what others wait for."""
        port, block = self._port, part.block
        requests, replies = part.heads
        room = port.room(2)
        if room is not NOTHING:
            await room
        port.spend(self._c_endpoint)
        port.put_watch(block.replies.slot(replies), 0, THERE, F_NOT_EQUAL)
        port.put_poll(block.requests.slot(requests), 0, THERE, 0, F_NOT_EQUAL | F_ONCE)
        await port.executed
        if port.status & TIMEOUT:
            return None
        return block.requests if port.status >> 4 & 15 else block.replies

    async def _take(self, endpoint: ControlBlock, part: Part, queue: Queue, word: int) -> int:
        """The packet with head ``word``. Whether it was a message."""
        port, node = self._port, self._node
        port.work("store")
        port.put_touch(queue.head, 8, True)
        if HEAD.get(word, "type") == VOID:
            await self.free(part, queue)
            return 0
        slot = queue.slot(part.heads[queue is part.block.replies])
        arrived, block = await self.read(queue, slot, word)
        self._looking.found(arrived.opcode, arrived.trace)
        if queue is part.block.requests:
            part.handling = arrived
        await self._deliver(endpoint, arrived)
        if block is not None:
            await node.store(queue.flag(block), FREED)
        await self.free(part, queue)
        self._looking.handled()
        return 1

    async def read(self, queue: Queue, slot: int, word: int) -> tuple[Arrived, int | None]:
        """The message at ``slot`` with head ``word``, and its block."""
        head = HEAD.unpack(word)
        opcode, count = OPCODES[head["opcode"]], head["count"]
        bulk = opcode in BULK
        length = BEHIND_HEAD.size if bulk else 8 * (Words.ARGUMENTS - 1 + -(-count // 2))
        found = await self._node.load(slot + FIRST, length)
        source, tag, *rest, place = BEHIND_HEAD.unpack(found + bytes(BEHIND_HEAD.size - length))
        fields, where = SOURCE.unpack(source), PLACE.unpack(place)
        sender = EndpointName(self._node.number, fields["cpu"], fields["endpoint"])
        back = Back(self._block_of(sender))
        block = head["block"] if head["type"] == PacketType.READY_BULK else None
        arrived = Arrived(
            opcode, head["handler"], tuple(rest[:count]), tag,
            0 if block is None else queue.data(block), where["length"], where["offset"],
            head["returned"], fields["epoch"], head["trace"], sender, back)
        back.arrived = arrived
        return arrived, block

    async def free(self, part: Part, queue: Queue) -> None:
        """The packet at the head of ``queue`` has been handled: it is free for the next round."""
        index = queue is part.block.replies
        number = part.heads[index]
        await self._node.store(queue.slot(number),
                               queue.free(number + queue.packets).to_bytes(8, "little"))
        part.heads[index] = number + 1
        if not index:
            part.handling = None
