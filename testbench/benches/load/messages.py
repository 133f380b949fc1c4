"""Nodes that take part over Active Messages and over Fast Messages."""

from typing import Any

from ....host.am import Gam
from ....host.fm import Fm
from ....host.port.node import Node
from ....layouts.fm import FRAME_BYTES
from ..common.programs import Stamp, stamp
from .traffic import Flow, Plan, Spin

__all__ = ["AmTalker", "FmTalker"]

SMALL = 16
"""Bytes of the longest message that goes as words."""


class _Talker:
    """The base of both talkers: flows, their times, and a count of what has come."""

    def __init__(self, node: Node, plan: Plan) -> None:
        self.node = node
        self.plan = plan
        self.sent: dict[Flow, list[Stamp]] = {
            (node.home, peer, 0): [] for peer in plan.to(node.home)}
        self.arrived: dict[Flow, list[Stamp]] = {
            (peer, node.home, 0): [] for peer in plan.of(node.home)}
        self._came = 0
        self._expected = plan.expected(node.home)

    def _note(self, source: int) -> None:
        self.arrived[self.node.node_of(source), self.node.home, 0].append(stamp(self.node))
        self._came += 1

    def over(self) -> bool:
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
        self._open = 0

    async def open(self) -> None:
        await self._am.enable()

    async def send(self, peer: int) -> None:
        self.sent[self.node.home, peer, 0].append(stamp(self.node))
        address = self.node.address_on(peer)
        if self.plan.size <= SMALL:
            await self._am.request(address, self._took, *self._words)
        elif not self.plan.open:
            await self._am.store_async(address, self._source, self._target, self.plan.size,
                                       self._stored)
        else:
            if self._open == self.plan.open:
                await self._am.wait(lambda: self._open < self.plan.open)
            self._open += 1
            await self._am.store_async(address, self._source, self._target, self.plan.size,
                                       self._stored, 0, self._ended)

    async def look(self) -> None:
        if self._am.enabled:  # others of the CPU may be closing still
            await self._am.poll()

    async def finish(self) -> None:
        await self._am.wait(self.over)

    async def idle(self, cycles: int) -> None:
        await self.node.port.delay(cycles)
        await self._am.poll()

    async def leave(self, spin: Spin) -> None:
        await self._am.leave(spin)

    async def close(self, spin: Spin | None = None) -> None:
        await self._am.disable(spin)

    def _took(self, am: Any, source: int, *words: int) -> None:
        self._note(source)

    def _stored(self, am: Any, source: int, address: int, length: int, argument: int) -> None:
        self._note(source)

    def _ended(self, am: Any, argument: Any) -> None:
        self._open -= 1


class FmTalker(_Talker):
    """A message is FM_send_4 up to 16 bytes, else as many frames as it needs; it is there with its
    last frame. What has come is extracted after each message sent."""

    def __init__(self, node: Node, plan: Plan) -> None:
        super().__init__(node, plan)
        self._pieces = [min(FRAME_BYTES, plan.size - at) for at in range(0, plan.size, FRAME_BYTES)]
        self._frames = dict.fromkeys(plan.of(node.home), 0)
        self._fm = Fm(node, [self._took_words, self._took_frame])
        self._source = node.allocate(max(plan.size, 8), 4096)

    async def open(self) -> None:
        await self._fm.FM_initialize()

    async def send(self, peer: int) -> None:
        self.sent[self.node.home, peer, 0].append(stamp(self.node))
        address = self.node.address_on(peer)
        if self.plan.size <= SMALL:
            await self._fm.FM_send_4(address, self._took_words, 1, 2, 3, 4)
        else:
            at = self._source
            for length in self._pieces:
                await self._fm.FM_send(address, self._took_frame, at, length)
                at += length
        await self._fm.FM_extract()

    async def look(self) -> None:
        await self._fm.FM_extract()

    async def finish(self) -> None:
        await self._fm.extract_until(self.over)

    async def idle(self, cycles: int) -> None:
        await self.node.port.delay(cycles)
        await self._fm.FM_extract()

    async def leave(self, spin: Spin) -> None:
        pass

    async def close(self, spin: Spin | None = None) -> None:
        await self._fm.FM_finalize()

    def _took_words(self, fm: Fm, source: int, *words: int) -> None:
        self._note(source)

    def _took_frame(self, fm: Fm, source: int, address: int, length: int) -> None:
        sender = self.node.node_of(source)
        self._frames[sender] += 1
        if self._frames[sender] % len(self._pieces) == 0:
            self._note(source)
