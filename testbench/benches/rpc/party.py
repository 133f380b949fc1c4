"""A node that takes part, with the interface of the parties of Active Messages."""

from collections.abc import Callable
from typing import Any

from ....host.port.node import Node
from ....host.rpc import Rpc
from ..common.programs import ECHO, STOP, Party

__all__ = ["RpcParty"]


class RpcParty(Party):
    """A :class:`.Party` whose requests are calls: ECHO returns its words, STOP ends the server."""

    def make(self, node: Node) -> Any:
        return _Calls(node, self)

    async def compute(self, cycles: int) -> None:
        await self.am.rpc.compute(cycles)


class _Calls:
    """RPC under the names of Active Messages."""

    def __init__(self, node: Node, party: RpcParty) -> None:
        self._party = party
        self.rpc = Rpc(node, [self._echo, self._stop])
        self.enable, self.disable = self.rpc.enable, self.rpc.disable
        self.poll = self.rpc.poll

    async def request(self, peer: int, handler: int, *words: int) -> None:
        if handler == STOP:
            await self.rpc.call(peer, 1)
        else:
            assert handler == ECHO
            await self.rpc.call(peer, 0, *words, then=self._answered)

    async def wait(self, condition: Callable[[], Any]) -> None:
        await self.rpc.wait(condition)

    def _echo(self, rpc: Rpc, source: int, *words: int) -> tuple[int, ...]:
        self._party.requests += 1
        return words

    def _stop(self, rpc: Rpc, source: int) -> None:
        self._party.stopped += 1

    def _answered(self, *words: int) -> None:
        self._party.answered()
