"""A node that takes part over GM, with credits: a message is sent only where a buffer waits."""

from collections import deque
from typing import Any

from ....host.gm import GM_EVENT, GM_STATUS, Gm, gm_min_size_for_length
from ....host.kernel.process import Process
from ....host.port.node import Node
from ...errors import UserError
from ..common.programs import Stamp, stamp
from .traffic import Flow, Plan, Spin

__all__ = ["GmTalker"]

PORT = 2
LOW, HIGH = 0, 1
CREDIT = 8
"""Bytes of a message that says that buffers have been provided again."""
MOST = 16
"""Most messages of a sender that wait for credit."""


class GmTalker:
    """Each sender may have as many messages at a receiver as it has buffers for it there; the
    receiver tells it, with high priority, when it has provided half of them again."""

    def __init__(self, node: Node, plan: Plan) -> None:
        self.node = node
        self.plan = plan
        me = node.home
        self.sent: dict[Flow, list[Stamp]] = {(me, peer, 0): [] for peer in plan.to(me)}
        self.arrived: dict[Flow, list[Stamp]] = {(peer, me, 0): [] for peer in plan.of(me)}
        self._gm = Gm(Process(node, 1))
        self._class = gm_min_size_for_length(plan.size)
        self._credit_class = gm_min_size_for_length(CREDIT)
        self._credits = min(_credits(plan, one, node.description.gm.receive_tokens)
                            for one in plan.nodes)
        self._lot = max(1, self._credits // 2)
        self._open = dict.fromkeys(plan.to(me), self._credits)
        self._due: deque[int] = deque()
        self._taken = dict.fromkeys(plan.of(me), 0)
        self._came = 0
        self._port: Any = None
        self._source = 0

    async def open(self) -> None:
        status, self._port = await self._gm.gm_open(0, PORT, "bench")
        _sound("gm_open", status)
        self._source = await self._memory(max(self.plan.size, CREDIT))
        me = self.node.home
        for _ in range(self._credits * len(self.plan.of(me))):
            await self._provide(await self._memory(self.plan.size), self._class, LOW)
        for _ in range(self._credits // self._lot * len(self.plan.to(me))):
            await self._provide(await self._memory(CREDIT), self._credit_class, HIGH)

    async def send(self, peer: int) -> None:
        self.sent[self.node.home, peer, 0].append(stamp(self.node))
        while not self._open[peer]:
            await self._event()
        self._open[peer] -= 1
        while not await self._give(peer, self._class, self.plan.size, LOW):
            await self._event()

    async def look(self) -> None:
        await self._handle(await self._gm.gm_receive(self._port))

    def over(self) -> bool:
        port = self._port
        return (self._came >= self.plan.expected(self.node.home) and not self._due
                and len(port.free_sends) >= port.send_tokens)

    async def finish(self) -> None:
        while not self.over():
            await self._event()

    async def idle(self, cycles: int) -> None:
        await self.node.port.delay(cycles)
        await self.look()

    async def leave(self, spin: Spin) -> None:
        pass

    async def close(self, spin: Spin | None = None) -> None:
        pass

    async def _event(self) -> None:
        await self._handle(await self._gm.gm_blocking_receive(self._port))

    async def _handle(self, event: Any) -> None:
        source = self.node.node_of(event.sender_node_id)
        if event.type is GM_EVENT.GM_RECV_EVENT:
            self.arrived[source, self.node.home, 0].append(stamp(self.node))
            self._came += 1
            self._taken[source] += 1
            await self._provide(event.buffer, self._class, LOW)
            if self._taken[source] % self._lot == 0:
                self._due.append(source)
        elif event.type is GM_EVENT.GM_HIGH_RECV_EVENT:
            self._open[source] += self._lot
            await self._provide(event.buffer, self._credit_class, HIGH)
        else:
            await self._gm.gm_unknown(self._port, event)
        while self._due and await self._give(self._due[0], self._credit_class, CREDIT, HIGH):
            self._due.popleft()

    async def _give(self, peer: int, size: int, length: int, priority: int) -> bool:
        """Whether there was a send token for it."""
        status = await self._gm.gm_send_with_callback(
            self._port, self._source, size, length, priority, self.node.address_on(peer), PORT,
            _sent)
        if status is GM_STATUS.GM_TRY_AGAIN:
            return False
        _sound("gm_send_with_callback", status)
        return True

    async def _provide(self, buffer: int, size: int, priority: int) -> None:
        _sound("gm_provide_receive_buffer", await self._gm.gm_provide_receive_buffer(
            self._port, buffer, size, priority))

    async def _memory(self, length: int) -> int:
        address = await self._gm.gm_dma_malloc(self._port, length)
        if address is None:
            raise UserError(f"gm_dma_malloc: no {length} bytes are left", status=1)
        return address


def _credits(plan: Plan, node: int, tokens: int) -> int:
    """Messages of each sender that ``node`` has buffers for: 1, or an even number, so that two lots
    of credits at the most are under way to a sender; each needs a buffer there."""
    left = tokens - 2 * len(plan.to(node))
    senders = max(plan.crowd if plan.of(node) else 1, len(plan.of(node)))
    each = min(MOST, left // senders) & ~1
    if each > 0:
        return each
    if len(plan.to(node)) + len(plan.of(node)) > tokens:
        raise UserError(f"gm.receive_tokens = {tokens}: too few for a buffer of each of "
                        f"{len(plan.of(node))} senders and {len(plan.to(node))} receivers")
    return 1


def _sent(port: Any, context: Any, status: GM_STATUS) -> None:
    _sound("a send", status)


def _sound(call: str, status: GM_STATUS) -> None:
    if status is not GM_STATUS.GM_SUCCESS:
        raise UserError(f"{call}: {status.name}", status=1)
