"""A side of an exchange over remote procedure calls: requests are calls."""

from collections.abc import Callable
from typing import Any

from ..endpoint import Endpoint, Exchange, Spin
from ..port.node import Node
from .rpc import Rpc

__all__ = ["RpcEndpoint"]

_ECHO, _STOP = range(2)


class RpcEndpoint(Endpoint):
    """A request is a call that returns its words; another call ends the server."""

    replies = True
    messages = False
    traced = False

    def __init__(self, node: Node, exchange: Exchange) -> None:
        super().__init__(node, exchange)
        self.stopped = 0
        self.rpc = Rpc(node, [self._echo, self._stop])

    async def open(self) -> None:
        await self.rpc.enable()

    async def request(self, peer: int, *words: int) -> None:
        await self.rpc.call(self.node.address_on(peer), _ECHO, *words, then=self._answered)

    async def dismiss(self, peer: int) -> None:
        await self.rpc.call(self.node.address_on(peer), _STOP)

    async def serve(self, requesters: int) -> None:
        await self.rpc.wait(lambda: self.stopped >= requesters)

    async def poll(self) -> None:
        await self.rpc.poll()

    async def wait(self, condition: Callable[[], Any]) -> None:
        await self.rpc.wait(condition)

    async def compute(self, cycles: int) -> None:
        await self.rpc.compute(cycles)

    async def close(self, spin: Spin | None = None) -> None:
        await self.rpc.disable()

    def _echo(self, rpc: Rpc, source: int, *words: int) -> tuple[int, ...]:
        self.received += 1
        return words

    def _stop(self, rpc: Rpc, source: int) -> None:
        self.stopped += 1

    def _answered(self, *words: int) -> None:
        self.replied += 1
        self.on_reply()
