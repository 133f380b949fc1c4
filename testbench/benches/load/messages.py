"""Nodes that take part over Active Messages and over Fast Messages."""

from typing import Any

from ....host.am import Gam
from ....host.fm import Fm
from ....host.port.node import Node
from ....layouts.fm import FRAME_BYTES
from ..common.programs import Stamp, stamp
from .traffic import Flow, Plan

__all__ = ["AmTalker", "FmTalker"]

SMALL = 16
"""Bytes of the longest message that goes as words."""


class _Talker:
    """What both have: flows, their times, and a count of what has come."""

    def __init__(self, node: Node, plan: Plan) -> None:
        self.node = node
        self.plan = plan
        self.sent: dict[Flow, list[Stamp]] = {
            (node.number, peer, 0): [] for peer in plan.to(node.number)}
        self.arrived: dict[Flow, list[Stamp]] = {
            (peer, node.number, 0): [] for peer in plan.of(node.number)}
        self._came = 0
        self._expected = plan.expected(node.number)

    def _note(self, source: int) -> None:
        self.arrived[source, self.node.number, 0].append(stamp(self.node))
        self._came += 1

    def _all(self) -> bool:
        return self._came >= self._expected


class AmTalker(_Talker):
    """Messages of up to 16 bytes are requests of so many words, longer ones asynchronous stores,
    all into one place of the receiver."""

    def __init__(self, node: Node, plan: Plan) -> None:
        super().__init__(node, plan)
        # Rings are allocated later, and alike on all nodes, so the addresses agree.
        self._source, self._target = (node.allocate(plan.size, 4096) for _ in range(2))
        self._am = Gam(node, [self._took, self._stored])
        self._words = tuple(range(1, -(-plan.size // 4) + 1))

    async def open(self) -> None:
        await self._am.enable()

    async def send(self, peer: int) -> None:
        self.sent[self.node.number, peer, 0].append(stamp(self.node))
        if self.plan.size <= SMALL:
            await self._am.request(peer, self._took, *self._words)
        else:
            await self._am.store_async(peer, self._source, self._target, self.plan.size,
                                       self._stored)

    async def finish(self) -> None:
        await self._am.wait(self._all)

    async def idle(self, cycles: int) -> None:
        await self.node.port.delay(cycles)
        await self._am.poll()

    async def close(self) -> None:
        await self._am.disable()

    def _took(self, am: Any, source: int, *words: int) -> None:
        self._note(source)

    def _stored(self, am: Any, source: int, address: int, length: int, argument: int) -> None:
        self._note(source)


class FmTalker(_Talker):
    """A message is FM_send_4 up to 16 bytes, else as many frames as it needs; it is there with its
    last frame. What has come is extracted after each message sent."""

    def __init__(self, node: Node, plan: Plan) -> None:
        super().__init__(node, plan)
        self._pieces = [min(FRAME_BYTES, plan.size - at) for at in range(0, plan.size, FRAME_BYTES)]
        self._frames = dict.fromkeys(plan.of(node.number), 0)
        self._fm = Fm(node, [self._took_words, self._took_frame])
        self._source = node.allocate(max(plan.size, 8), 4096)

    async def open(self) -> None:
        await self._fm.FM_initialize()

    async def send(self, peer: int) -> None:
        self.sent[self.node.number, peer, 0].append(stamp(self.node))
        if self.plan.size <= SMALL:
            await self._fm.FM_send_4(peer, self._took_words, 1, 2, 3, 4)
        else:
            at = self._source
            for length in self._pieces:
                await self._fm.FM_send(peer, self._took_frame, at, length)
                at += length
        await self._fm.FM_extract()

    async def finish(self) -> None:
        await self._fm.extract_until(self._all)

    async def idle(self, cycles: int) -> None:
        await self.node.port.delay(cycles)
        await self._fm.FM_extract()

    async def close(self) -> None:
        await self._fm.FM_finalize()

    def _took_words(self, fm: Fm, source: int, *words: int) -> None:
        self._note(source)

    def _took_frame(self, fm: Fm, source: int, address: int, length: int) -> None:
        self._frames[source] += 1
        if self._frames[source] % len(self._pieces) == 0:
            self._note(source)
