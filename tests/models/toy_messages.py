"""Active Messages of processes that are CPUs, without a NIC: what Split-C needs, for tests of what
stands on it. Messages are there at once; calls take some cycles."""

from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

from nicbed.host.port.node import Node

__all__ = ["ToyMessages"]

CALL = 20
"""Cycles that a call takes, and that pass between two looks."""


class _Boxes:
    """What has been sent to each process, and the memory of each."""

    def __init__(self) -> None:
        self.boxes: dict[int, deque] = defaultdict(deque)
        self.memories: dict[int, Any] = {}
        self.left = 0


class ToyMessages:
    """The messages of the process on ``node``'s CPU."""

    def __init__(self, node: Node) -> None:
        self._port, self._memory = node.port, node.memory
        self._me = node.programs.index((node.number, node.cpu))
        self._procs = len(node.programs)
        self._handlers: list[Callable[..., Any]] = []
        self._all = node.run_service(_Boxes)
        self._all.memories[self._me] = node.memory
        self._source = 0

    def register(self, handler: Any) -> int:
        self._handlers.append(handler)
        return len(self._handlers) - 1

    async def enable(self) -> None:
        await self._port.delay(CALL)

    async def disable(self) -> None:
        self._all.left += 1
        await self.wait(lambda: self._all.left == self._procs)

    async def poll(self) -> None:
        box = self._all.boxes[self._me]
        while box:
            handler, self._source, words = box.popleft()
            found = (handler if callable(handler) else self._handlers[handler])(
                self, self._source, *words)
            if hasattr(found, "__await__"):
                await found

    async def wait(self, condition: Callable[[], Any]) -> None:
        while not condition():
            await self._port.delay(CALL)
            await self._port.flush()
            await self.poll()

    async def request(self, dest: int, handler: int, *words: int) -> None:
        await self._port.delay(CALL)
        await self._port.flush()
        self._send(dest, handler, *words)
        await self.poll()

    async def reply(self, handler: int, *words: int) -> None:
        self._send(self._source, handler, *words)

    async def store_async(self, dest: int, local: int, remote: int, length: int,
                          handler: int | None = None, arg: int = 0,
                          end: Callable[..., Any] | None = None) -> None:
        await self._port.delay(CALL)
        await self._port.flush()
        self._all.memories[dest].write(remote, self._memory.read(local, length))
        self._send(dest, handler, remote, length, arg)
        if end is not None:
            self._send(self._me, lambda am, source: end(am, None))

    async def get(self, dest: int, remote: int, local: int, length: int,
                  handler: int | None = None, arg: int = 0) -> None:
        await self._port.delay(CALL)
        await self._port.flush()
        self._memory.write(local, self._all.memories[dest].read(remote, length))
        self._send(self._me, handler, local, length, arg)

    def _send(self, dest: int, handler: Any, *words: int) -> None:
        self._all.boxes[dest].append((handler, self._me, words))
