"""A side of an exchange over VIA: VIs of Reliable Delivery, their receives on one queue."""

from collections.abc import Iterator
from typing import Any

from ..endpoint import Endpoint, Exchange, Flow, Spin
from ..port.node import Node
from .attributes import NetAddress
from .returns import VIP_INFINITE, VIP_RETURN
from .session import Memory, Session

__all__ = ["ViaEndpoint"]

SENDS = 16
"""Most sends of a VI whose completions have not been taken."""


class ViaEndpoint(Endpoint):
    """All receives are posted before the VIs are connected, and their completions taken from one
    completion queue: one at most behind each message sent, so that nodes that send to each other
    share. All messages of a node have one buffer, and all that come to it another. A stream is a
    VI."""

    messages = False
    crowds = True

    def __init__(self, node: Node, exchange: Exchange) -> None:
        super().__init__(node, exchange)
        self.session = Session(node)
        self._vis: dict[tuple[int, int], Any] = {}
        self._sources: dict[Any, Flow] = {}
        self._cq: Any = None
        self._arena: Any = None
        self._sends: dict[tuple[int, int], list[int]] = {}
        self._sent: dict[tuple[int, int], int] = {}
        self._reaped: dict[tuple[int, int], int] = {}

    async def open(self) -> None:
        session, exchange, me = self.session, self.exchange, self.node.home
        await session.open()
        expected = exchange.expected(me)
        if expected:
            self._cq = session.sound("VipCreateCQ",
                                     await session.vipl.VipCreateCQ(session.nic, expected))
        ends = list(self._ends())
        kept = min(SENDS, exchange.count)
        self._arena = arena = await session.arena(expected + len(ends) * kept)
        out, into = await session.memory(exchange.size), await session.memory(exchange.size)
        for peer, number in ends:
            vi = self._vis[peer, number] = await session.endpoint(self._cq)
            if peer in exchange.of(me):
                self._sources[id(vi)] = (peer, me, number)
                await self._post(vi, into)
            if peer in exchange.to(me):
                self._sends[peer, number] = [
                    await session.descriptor(arena, [out.segment(exchange.size)])
                    for _ in range(kept)]
                self._sent[peer, number] = self._reaped[peer, number] = 0
        for (peer, number), vi in self._vis.items():
            low, high = sorted((me, peer))
            name = (low | high << 8 | number << 16).to_bytes(4, "little")
            session.sound("VipConnectPeerRequest", await session.vipl.VipConnectPeerRequest(
                vi, NetAddress(self.node.number, name),
                NetAddress(self.node.address_on(peer), name), VIP_INFINITE))
        for vi in self._vis.values():
            session.sound("VipConnectPeerWait", await session.vipl.VipConnectPeerWait(vi))

    async def send(self, peer: int, stream: int = 0) -> None:
        key, vi = (peer, stream), self._vis[peer, stream]
        sends, number = self._sends[key], self._sent[key]
        if number - self._reaped[key] >= len(sends):
            await self._sent_one(vi)
            self._reaped[key] += 1
        self.on_send(peer, stream)
        self._sent[key] += 1
        await self.session.post_send(vi, sends[number % len(sends)], self._arena)
        await self._look()

    async def poll(self) -> None:
        await self._look()
        session = self.session
        for key, reaped in self._reaped.items():
            if reaped < self._sent[key]:
                code, _ = await session.vipl.VipSendDone(self._vis[key])
                if code is VIP_RETURN.SUCCESS:
                    self._reaped[key] += 1
                elif code is not VIP_RETURN.NOT_DONE:
                    session.sound("VipSendDone", code)

    def over(self) -> bool:
        return super().over() and all(reaped >= self.exchange.count
                                      for reaped in self._reaped.values())

    async def finish(self) -> None:
        expected = self.exchange.expected(self.node.home)
        while self.received < expected:
            await self._look()
        for key, reaped in self._reaped.items():
            for _ in range(self.exchange.count - reaped):
                await self._sent_one(self._vis[key])

    async def idle(self, cycles: int) -> None:
        port = self.node.port
        await port.delay(cycles)
        await port.flush()
        await self.session.vipl.kernel.attend()

    async def close(self, spin: Spin | None = None) -> None:
        """Nothing: connections stay until the program ends."""

    def _ends(self) -> Iterator[tuple[int, int]]:
        """(peer, number) of each VI."""
        exchange, me = self.exchange, self.node.home
        for peer in sorted({*exchange.to(me), *exchange.of(me)}):
            for number in range(exchange.streams):
                yield peer, number

    async def _post(self, vi: Any, into: Memory) -> None:
        session = self.session
        for _ in range(self.exchange.count):
            await session.post_receive(vi, await session.descriptor(
                self._arena, [into.segment(self.exchange.size)]), self._arena)

    async def _sent_one(self, vi: Any) -> None:
        """Wait until the oldest send of ``vi`` is over; take what comes meanwhile."""
        session = self.session
        while True:
            code, _ = await session.vipl.VipSendDone(vi)
            if code is not VIP_RETURN.NOT_DONE:
                break
            await self._look()
        if code is not VIP_RETURN.SUCCESS:
            session.sound("VipSendDone", code)

    async def _look(self) -> None:
        """Take the next message, if there is one."""
        if self.received >= self.exchange.expected(self.node.home):
            return
        session = self.session
        code, vi, _ = await session.vipl.VipCQDone(self._cq)
        if code is VIP_RETURN.NOT_DONE:
            return
        if code is not VIP_RETURN.SUCCESS:
            session.sound("VipCQDone", code)
        assert vi is not None
        code, _ = await session.vipl.VipRecvDone(vi)
        if code is not VIP_RETURN.SUCCESS:
            session.sound("VipRecvDone", code)
        source, _, stream = self._sources[id(vi)]
        self.on_message(source, stream)
        self.received += 1
