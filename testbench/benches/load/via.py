"""A node that takes part over VIA: VIs of Reliable Delivery, their receives on one queue."""

from collections.abc import Iterator
from typing import Any

from ....host.port.node import Node
from ....host.via.attributes import NetAddress
from ....host.via.returns import VIP_INFINITE, VIP_RETURN
from ..common.programs import Stamp, stamp
from ..via.party import Memory, Party
from .traffic import Flow, Plan, Spin

__all__ = ["ViaTalker"]

SENDS = 16
"""Most sends of a VI whose completions have not been taken."""


class ViaTalker(Party):
    """All receives are posted before the VIs are connected, and their completions taken from one
    completion queue: one at most behind each that is sent, so that nodes that send to each other
    share. All messages of a node have one buffer, and all that come to it another."""

    def __init__(self, node: Node, plan: Plan) -> None:
        super().__init__(node)
        self.plan = plan
        me = node.home
        self.sent: dict[Flow, list[Stamp]] = {
            (me, peer, vi): [] for peer in plan.to(me) for vi in range(plan.vis)}
        self.arrived: dict[Flow, list[Stamp]] = {
            (peer, me, vi): [] for peer in plan.of(me) for vi in range(plan.vis)}
        self._vis: dict[tuple[int, int], Any] = {}
        self._sources: dict[Any, Flow] = {}
        self._cq: Any = None
        self._arena: Any = None
        self._sends: dict[tuple[int, int], list[int]] = {}
        self._reaped: dict[tuple[int, int], int] = {}
        self._came = 0

    async def open(self) -> None:
        await super().open()
        plan, me = self.plan, self.node.home
        expected = plan.expected(me)
        if expected:
            self._cq = self.sound("VipCreateCQ", await self.vipl.VipCreateCQ(self.nic, expected))
        ends = list(self._ends())
        kept = min(SENDS, plan.count)
        self._arena = arena = await self.arena(expected + len(ends) * kept)
        out, into = await self.memory(plan.size), await self.memory(plan.size)
        for peer, number in ends:
            vi = self._vis[peer, number] = await self.endpoint(self._cq)
            if (peer, me, number) in self.arrived:
                self._sources[id(vi)] = (peer, me, number)
                await self._post(vi, into)
            if (me, peer, number) in self.sent:
                self._sends[peer, number] = [
                    await self.descriptor(arena, [out.segment(plan.size)]) for _ in range(kept)]
                self._reaped[peer, number] = 0
        for (peer, number), vi in self._vis.items():
            low, high = sorted((me, peer))
            name = (low | high << 8 | number << 16).to_bytes(4, "little")
            self.sound("VipConnectPeerRequest", await self.vipl.VipConnectPeerRequest(
                vi, NetAddress(self.node.number, name),
                NetAddress(self.node.address_on(peer), name), VIP_INFINITE))
        for vi in self._vis.values():
            self.sound("VipConnectPeerWait", await self.vipl.VipConnectPeerWait(vi))

    async def send(self, peer: int) -> None:
        for number in range(self.plan.vis):
            key, vi = (peer, number), self._vis[peer, number]
            times, sends = self.sent[self.node.home, peer, number], self._sends[key]
            if len(times) - self._reaped[key] >= len(sends):
                await self._sent_one(vi)
                self._reaped[key] += 1
            times.append(stamp(self.node))
            await self.post_send(vi, sends[(len(times) - 1) % len(sends)], self._arena)
            await self._look()

    async def look(self) -> None:
        await self._look()
        for (peer, number), reaped in self._reaped.items():
            if reaped < len(self.sent[self.node.home, peer, number]):
                code, _ = await self.vipl.VipSendDone(self._vis[peer, number])
                if code is VIP_RETURN.SUCCESS:
                    self._reaped[peer, number] += 1
                elif code is not VIP_RETURN.NOT_DONE:
                    self.sound("VipSendDone", code)

    def over(self) -> bool:
        return (self._came >= self.plan.expected(self.node.home)
                and all(reaped >= self.plan.count for reaped in self._reaped.values()))

    async def finish(self) -> None:
        expected = self.plan.expected(self.node.home)
        while self._came < expected:
            await self._take()
        for (peer, number), reaped in self._reaped.items():
            for _ in range(self.plan.count - reaped):
                await self._sent_one(self._vis[peer, number])

    async def idle(self, cycles: int) -> None:
        await self.port.delay(cycles)
        await self.port.flush()
        await self.vipl.kernel.attend()

    async def leave(self, spin: Spin) -> None:
        pass

    async def close(self, spin: Spin | None = None) -> None:
        pass

    def _ends(self) -> Iterator[tuple[int, int]]:
        """(peer, number) of each VI."""
        plan, me = self.plan, self.node.home
        for peer in sorted({*plan.to(me), *plan.of(me)}):
            for number in range(plan.vis):
                yield peer, number

    async def _post(self, vi: Any, into: Memory) -> None:
        for _ in range(self.plan.count):
            await self.post_receive(vi, await self.descriptor(
                self._arena, [into.segment(self.plan.size)]), self._arena)

    async def _sent_one(self, vi: Any) -> None:
        """Wait until the oldest send of ``vi`` is over; take what comes meanwhile."""
        while True:
            code, _ = await self.vipl.VipSendDone(vi)
            if code is not VIP_RETURN.NOT_DONE:
                break
            await self._look()
        if code is not VIP_RETURN.SUCCESS:
            self.sound("VipSendDone", code)

    async def _take(self) -> None:
        while not await self._look():
            pass

    async def _look(self) -> bool:
        """Take the next message, if there is one."""
        if self._came >= self.plan.expected(self.node.home):
            return False
        code, vi, _ = await self.vipl.VipCQDone(self._cq)
        if code is VIP_RETURN.NOT_DONE:
            return False
        if code is not VIP_RETURN.SUCCESS:
            self.sound("VipCQDone", code)
        assert vi is not None
        code, _ = await self.vipl.VipRecvDone(vi)
        if code is not VIP_RETURN.SUCCESS:
            self.sound("VipRecvDone", code)
        self.arrived[self._sources[id(vi)]].append(stamp(self.node))
        self._came += 1
        return True
