"""The way of messages by the NICs: firmware am2, and a frame in NIC memory for each endpoint."""

from collections.abc import Awaitable, Sequence
from functools import partial

from ....layouts.am2 import Returned, Status
from ....layouts.am2_nic import ARMED, QUEUES, Words
from ....layouts.trace import BEGIN, END, Activity
from ...port.node import Node
from ...port.port import NEVER, Watch
from ..back_off import BackOff
from ..control_block import ControlBlock
from ..endpoint_name import EndpointName
from ..kept_replies import KeptReplies
from ..looking import Looking
from ..packets import REPLIES, Arrived, Packet
from ..way import Deliver, Poll
from .costs import Prices
from .driver import Driver
from .frame import Back, Frame
from .numbering import Numbering
from .posting import Posting
from .receiving import Receiving

__all__ = ["NetworkWay"]

BLOCKED = int(Activity.BLOCKED)
LEAST_WAIT, MOST_WAIT = 64, 4096
"""Cycles of the first pause of a request that finds no room, and of the longest one."""
IDLE = 200
"""Cycles between two looks of a CPU that sleeps, where the NIC may interrupt another one. Its own
interrupt comes at once."""
TAG_WORD, ARMED_WORD = QUEUES + 8 * Words.TAG, QUEUES + 8 * Words.ARMED


class NetworkWay:
    """The NIC of the process on CPU ``node``: number ``cpu`` modulo ``node.nics`` of its node's."""

    def __init__(self, node: Node, deliver: Deliver) -> None:
        self._node = node
        self._port = node.port
        self._memory = node.memory
        self._deliver = deliver
        if node.cpus > 1:
            node.share_nic()
        self.driver = node.nic(node.cpu % node.nics).kernel(Driver)
        self._frames = self.driver.frames
        self._process = node.cpu + 1
        self._numbering = Numbering(node)
        self._posting = Posting(node)
        self._receiving = Receiving(node, self._numbering)
        self._looking = node.service(Looking)
        self._replies = KeptReplies(node)
        self._paths = node.service(Prices)

    # Endpoints

    async def open(self, endpoint: ControlBlock) -> bool:
        if not self.reaches(endpoint.name):
            return False
        self._port.spend(self._paths.kernel)
        _, number = self._numbering.place(endpoint.name)
        frame = await self.driver.open(number, self._process, endpoint.tag)
        if frame is None:
            return False
        endpoint.parts[self] = frame
        return True

    async def close(self, endpoint: ControlBlock) -> None:
        await self._leave(endpoint, Returned.BADENDPOINT)

    async def end(self, endpoint: ControlBlock) -> None:
        await self._leave(endpoint, Returned.UNREACHABLE)

    async def _leave(self, endpoint: ControlBlock, reason: Returned) -> None:
        """Requests that have come and were not handled go back for ``reason``; then the frame is
        free."""
        frame: Frame = endpoint.parts[self]
        self._port.spend(self._paths.kernel)
        await self.driver.stop(frame, reason is Returned.UNREACHABLE)
        left, frame.handling = frame.handling, None
        if left is not None:
            await self._back(endpoint, left, reason)
        await self._receiving.look(frame)
        while (reply := self._receiving.next(frame)) is not None:
            await self._back(endpoint, await self._receiving.take(endpoint, frame, reply), reason)
        while frame.kept:
            await self._port.delay(LEAST_WAIT)
            await self._send_kept(frame)
        await self.driver.close(frame)
        del endpoint.parts[self]

    async def _back(self, endpoint: ControlBlock, arrived: Arrived, reason: Returned) -> None:
        """Send a request back that is not handled."""
        if arrived.opcode not in REPLIES and not arrived.returned:
            await self.reply(endpoint, arrived.back, Packet(
                arrived.opcode, arrived.handler, arrived.arguments, returned=reason,
                epoch=arrived.epoch, trace=arrived.trace))

    def reaches(self, name: EndpointName) -> bool:
        return name.number < self._numbering.share

    async def route(self, endpoint: ControlBlock, name: EndpointName) -> Back:
        self._port.spend(self._paths.route)
        return Back(*self._numbering.place(name))

    async def retag(self, endpoint: ControlBlock) -> None:
        frame: Frame = endpoint.parts[self]
        async with self._frames.inside(frame):
            self._port.put_write(frame.page + TAG_WORD, 1, endpoint.tag, process=frame.process)
            await self._receiving.look(frame)
        frame.retagged = frame.seen[0]

    # Requests and replies

    async def request(self, endpoint: ControlBlock, route: Back, packet: Packet, poll: Poll,
                      wait: bool) -> Status:
        back_off = BackOff(self._node, LEAST_WAIT, MOST_WAIT)
        while not await self._post(endpoint.parts[self], route, packet):
            if not wait:
                return Status.AM_ERR_NOT_SENT
            await back_off.wait(lambda: "room in the NIC's queue of requests", poll)
        return Status.AM_OK

    async def _post(self, frame: Frame, to: Back, packet: Packet) -> bool:
        async with self._frames.inside(frame):
            return await self._posting.post(frame, to, packet)

    async def reply(self, endpoint: ControlBlock, back: Back, packet: Packet) -> None:
        frame: Frame = endpoint.parts[self]
        frame.handling = None
        await self._replies.reply(frame.kept, partial(self._post, frame), back, packet)

    def _send_kept(self, frame: Frame) -> Awaitable[bool]:
        return self._replies.send(frame.kept, partial(self._post, frame))

    def kept(self, endpoint: ControlBlock) -> int:
        return len(endpoint.parts[self].kept)

    # Messages that come

    async def poll(self, endpoint: ControlBlock, most: int) -> int:
        frame: Frame = endpoint.parts[self]
        if self._port.interrupted:
            await self.driver.interrupt()
        if frame.kept:
            await self._send_kept(frame)
        taken = 0
        while taken < most:
            self._looking.again()
            arrived = await self._next(endpoint, frame)
            if arrived is None:
                break
            self._looking.found(arrived.opcode, arrived.trace)
            frame.handling = arrived
            await self._deliver(endpoint, arrived)
            frame.handling = None
            if self._receiving.owes(frame, arrived.data > 0):
                async with self._frames.inside(frame):
                    self._receiving.free(frame)
            self._looking.handled()
            taken += 1
        return taken

    async def _next(self, endpoint: ControlBlock, frame: Frame) -> Arrived | None:
        """The next message, if there is one. Of an endpoint that is out it is known what it has."""
        receiving = self._receiving
        reply = receiving.next(frame)
        if reply is None and frame.place is None:
            if self._frames.is_due(frame):
                frame.since = self._port.cycle
                await self.driver.interrupt()
            self._port.spend(self._paths.out)
            return None
        async with self._frames.inside(frame):
            if reply is None and await receiving.look(frame):
                reply = receiving.next(frame)
            return None if reply is None else await receiving.take(endpoint, frame, reply)

    def watches(self, endpoint: ControlBlock) -> list[Watch]:
        return []

    async def sleep(self, endpoints: Sequence[ControlBlock], timeout: int) -> bool:
        port = self._port
        frames: list[Frame] = [endpoint.parts[self] for endpoint in endpoints]
        end = await port.flush() + timeout if timeout else NEVER
        while True:
            events = self._events(frames)
            for frame in frames:
                async with self._frames.inside(frame):
                    port.put_write(frame.page + ARMED_WORD, 1, ARMED, process=frame.process)
                    if frame.seen != frame.taken or await self._receiving.look(frame):
                        return True
            port.spend(self._paths.sleep)
            port.mark(BLOCKED, BEGIN, 0)
            while self._events(frames) == events and port.cycle < end:
                if await port.wait_irq(max(1, min(IDLE, end - port.cycle))):
                    await self.driver.interrupt()
                for frame in frames:
                    port.put_touch(frame.memory.event, 8)
                await port.executed
            port.mark(BLOCKED, END, 0)
            if port.cycle >= end:
                return False

    def _events(self, frames: list[Frame]) -> list[int]:
        """How often each of these has interrupted."""
        return [self._memory.word(frame.memory.event) for frame in frames]
