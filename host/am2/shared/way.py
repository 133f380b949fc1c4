"""The way of messages between the processes of a node: queues in the memory that they share."""

from collections.abc import Awaitable, Sequence
from functools import partial

from ....layouts.am2 import ALL, NONE, Returned, Status
from ....layouts.trace import BEGIN, END, Activity
from ...port.node import Node
from ...port.port import Watch
from ..back_off import BackOff
from ..control_block import ControlBlock
from ..costs import Prices
from ..endpoint_name import EndpointName
from ..kept_replies import KeptReplies
from ..packets import BULK, REPLIES, Arrived, Packet
from ..way import Deliver, Poll
from .ending import Ending, source_word
from .filling import Filling
from .part import Back, Part
from .queue_block import QueueBlock, State
from .receiving import Receiving

__all__ = ["SharedWay"]

CHECK = int(Activity.CHECK)
LEAST_WAIT, MOST_WAIT = 16, 1024
"""Cycles of the first pause of a request that finds the queue full, and of the longest one: with
longer ones those starve that have waited."""


class SharedWay:
    """Queues in shared memory, for the process on ``node``. A sender stores into the receiver's
    queue block itself (Lumetta, Mainwaring, Culler, Supercomputing 1997)."""

    def __init__(self, node: Node, deliver: Deliver) -> None:
        self._node = node
        self._port = node.port
        self._deliver = deliver
        self._blocks: dict[EndpointName, QueueBlock] = {}
        self._receiving = Receiving(node, deliver, self._block)
        self._ending = Ending(node, self._receiving)
        self._replies = KeptReplies(node)
        self._c_map = node.service(Prices).map

    # Endpoints

    async def open(self, endpoint: ControlBlock) -> bool:
        try:
            block = self._block(endpoint.name)
        except MemoryError:
            return False
        node = self._node
        endpoint.parts[self] = Part(block, Filling(node), Filling(node), Filling(node))
        await node.store(block.tag, _word(endpoint.tag) + _word(State.OPEN))
        return True

    async def close(self, endpoint: ControlBlock) -> None:
        part = endpoint.parts[self]
        await self._ending.close(part, lambda: self._send_kept(part))
        del endpoint.parts[self]

    async def end(self, endpoint: ControlBlock) -> None:
        await self._ending.end(endpoint.parts[self])

    async def retag(self, endpoint: ControlBlock) -> None:
        await self._node.store(endpoint.parts[self].block.tag, _word(endpoint.tag))

    def reaches(self, name: EndpointName) -> bool:
        return name.node == self._node.number

    async def route(self, endpoint: ControlBlock, name: EndpointName) -> QueueBlock:
        """The queue block of ``name``.

        Raises
        ------
        MemoryError
            The node's memory is full.
        """
        self._port.spend(self._c_map)
        return self._block(name)

    def _block(self, name: EndpointName) -> QueueBlock:
        block = self._blocks.get(name)
        if block is None:
            block = self._blocks[name] = QueueBlock(self._node, name)
        return block

    def watches(self, endpoint: ControlBlock) -> list[Watch]:
        return self._receiving.watches(endpoint.parts[self])

    async def sleep(self, endpoints: Sequence[ControlBlock], timeout: int) -> bool:
        raise NotImplementedError("queues in memory interrupt nobody: spin on their watches")

    def kept(self, endpoint: ControlBlock) -> int:
        return len(endpoint.parts[self].kept)

    # Requests

    async def request(self, endpoint: ControlBlock, route: QueueBlock, packet: Packet, poll: Poll,
                      wait: bool) -> Status:
        filling, queue = endpoint.parts[self].requesting, route.requests
        bulk = packet.opcode in BULK
        refused = await self._refused(route, packet)
        if bulk and not refused:
            back_off = BackOff(self._node, LEAST_WAIT, MOST_WAIT)
            while not await filling.claim_block(queue, packet.trace):
                if not wait:
                    return Status.AM_ERR_NOT_SENT
                await back_off.wait(lambda: f"room at {route.name}", poll)
                refused = await self._refused(route, packet)
                if refused:
                    break
            else:
                await filling.fill_block(packet)
        if not refused:
            filling.compose(packet)
            draw = filling.draw if wait else filling.draw_free
            if not await draw(queue, packet.trace):
                if bulk:
                    await filling.release_block()
                refused = await self._gone(route)
                if not refused:
                    return Status.AM_ERR_NOT_SENT
        if refused:
            await self._come_back(endpoint, route, packet, refused)
            return Status.AM_OK
        back_off = BackOff(self._node, LEAST_WAIT, MOST_WAIT)
        while not await filling.claim(packet.trace):
            await back_off.wait(lambda: f"room at {route.name}", poll)
        await filling.fill(packet, source_word(endpoint.parts[self].block, packet.epoch))
        return Status.AM_OK

    async def _refused(self, route: QueueBlock, packet: Packet) -> int:
        """Look at the copy of the receiver's tag: 0, or why the message goes back."""
        port = self._port
        port.mark(CHECK, BEGIN, packet.trace)
        words = await self._node.load(route.tag, 16)
        tag, state = (int.from_bytes(words[at:at + 8], "little") for at in (0, 8))
        port.mark(CHECK, END, packet.trace)
        if state != State.OPEN:
            return _reason(state)
        return 0 if tag == ALL or (tag == packet.tag and tag != NONE) else Returned.BADTAG

    async def _gone(self, route: QueueBlock) -> int:
        """The reason for which a queue takes nothing any more."""
        return _reason(int.from_bytes(await self._node.load(route.state, 8), "little"))

    async def _come_back(self, endpoint: ControlBlock, route: QueueBlock, packet: Packet,
                         reason: int) -> None:
        """A request is not taken there: it comes back at once."""
        await self._deliver(endpoint, Arrived(
            packet.opcode, packet.handler, packet.arguments, packet.tag, 0, packet.length,
            packet.offset, reason, packet.epoch, packet.trace, route.name, None))

    # Replies

    async def reply(self, endpoint: ControlBlock, back: Back, packet: Packet) -> None:
        part = endpoint.parts[self]
        await self._replies.reply(part.kept, partial(self._replied, part), back, packet)

    async def poll(self, endpoint: ControlBlock, most: int) -> int:
        part = endpoint.parts[self]
        if part.kept:
            await self._send_kept(part)
        return await self._receiving.poll(endpoint, part, most)

    def _send_kept(self, part: Part) -> Awaitable[bool]:
        return self._replies.send(part.kept, partial(self._replied, part))

    async def _replied(self, part: Part, back: Back, packet: Packet) -> bool:
        """Send a reply, or a message back. False: there is no room. To a process that has ended it
        is nothing."""
        filling, queue = part.replying, back.block.replies
        if packet.returned and packet.opcode in REPLIES:
            filling, queue = part.returning, back.block.requests
        else:
            part.answering = back
        bulk = packet.opcode in BULK and not packet.returned
        if bulk and filling.block is None:
            if not await filling.claim_block(queue, packet.trace):
                return await self._gone(back.block) != 0
            await filling.fill_block(packet)
        if filling.drawn is None:
            filling.compose(packet)
        if filling.drawn is None and not await filling.draw(queue, packet.trace):
            if bulk:
                await filling.release_block()
            back.replied = True
            return True
        if not await filling.claim(packet.trace):
            return False
        await filling.fill(packet, source_word(part.block, packet.epoch))
        back.replied = True
        return True


def _word(value: int) -> bytes:
    return int(value).to_bytes(8, "little")


def _reason(state: int) -> int:
    """What a queue block in ``state`` sends messages back for."""
    return {State.OPEN: 0, State.ENDED: Returned.UNREACHABLE}.get(State(state),
                                                                  Returned.BADENDPOINT)
