"""Host programs for tests of GM: a station is a port with its buffers, and what happened at it."""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

from nicbed.host.gm import GM_EVENT, GM_STATUS, Gm, Port, gm_max_length_for_size
from nicbed.host.gm import gm_min_size_for_length as class_of
from nicbed.host.kernel.process import Process
from nicbed.host.port.node import Node

from tests.programs.overriding import Overriding

__all__ = ["LIMIT", "PORT", "Got", "Station", "class_of", "data_of", "describe", "overriding",
           "stations"]

LIMIT = 8_000_000
PORT = 2
SMALL: dict[str, Any] = {
    "nic.processor": "picorv32", "gm.retry_timeout": 20000, "gm.retries": 2,
}
DESCRIPTION = Overriding("NICBED_GM_TESTS", SMALL)
describe, overriding = DESCRIPTION.describe, DESCRIPTION.by


class Got(NamedTuple):
    """A message that has come."""

    data: bytes
    priority: int
    node: int
    port: int
    size: int
    tag: int


class Station:
    """Port ``number`` of ``node``, for process ``process``.

    Attributes
    ----------
    got
        Messages, in the order in which they came.
    ended
        (context, status) of each callback, in order.
    """

    def __init__(self, node: Node, number: int = PORT, process: int = 1,
                 owner: Process | None = None) -> None:
        self.node = node
        self.number = number
        self.process = owner or Process(node, process)
        self.gm = Gm(self.process)
        self.got: list[Got] = []
        self.ended: list[tuple[Any, GM_STATUS]] = []
        self.refused: list[GM_STATUS] = []
        self.keeps = True
        self.port: Port = None  # type: ignore[assignment]
        self._priority: dict[int, int] = {}

    async def open(self) -> "Station":
        status, port = await self.gm.gm_open(0, self.number, "test")
        assert status is GM_STATUS.GM_SUCCESS, status
        assert port is not None
        self.port = port
        return self

    async def memory(self, length: int) -> int:
        ptr = await self.gm.gm_dma_malloc(self.port, max(1, length))
        assert ptr is not None
        return ptr

    async def provide(self, size: int, priority: int = 0, count: int = 1, tag: int = 0) -> None:
        """Buffers; what has come in one is read at once, and it is provided anew (``keeps``)."""
        room = max(8, gm_max_length_for_size(size))
        base = await self.memory(count * room)
        for number in range(count):
            status = await self.gm.gm_provide_receive_buffer_with_tag(
                self.port, base + number * room, size, priority, tag)
            assert status is GM_STATUS.GM_SUCCESS, status

    async def place(self, data: bytes) -> int:
        """Registered memory with ``data``."""
        ptr = await self.memory(len(data))
        self.process.write(ptr, data)
        return ptr

    async def send(self, data: bytes | int, to: int, port: int = PORT, priority: int = 0,
                   context: Any = None, size: int | None = None, length: int | None = None
                   ) -> GM_STATUS:
        """Send ``data``, or what is at this address."""
        if isinstance(data, int):
            ptr, count = data, length or 0
        else:
            ptr, count = await self.place(data), len(data)
        return await self.gm.gm_send_with_callback(
            self.port, ptr, class_of(count) if size is None else size, count, priority, to, port,
            self.end, context)

    def end(self, port: Port, context: Any, status: GM_STATUS) -> None:
        assert port is self.port
        self.ended.append((context, status))

    async def handle(self, event: Any) -> None:
        if event.type in (GM_EVENT.GM_RECV_EVENT, GM_EVENT.GM_HIGH_RECV_EVENT):
            priority = int(event.type is GM_EVENT.GM_HIGH_RECV_EVENT)
            self.got.append(Got(self.process.read(event.buffer, event.length), priority,
                                event.sender_node_id, event.sender_port_id, event.size, event.tag))
            if self.keeps:
                await self.gm.gm_provide_receive_buffer_with_tag(
                    self.port, event.buffer, event.size, priority, event.tag)
            return
        if event.type is GM_EVENT.GM_REFUSED_EVENT:
            self.refused.append(event.status)
        await self.gm.gm_unknown(self.port, event)

    async def step(self) -> None:
        """The next event."""
        await self.handle(await self.gm.gm_blocking_receive(self.port))

    async def until(self, condition: Callable[[], Any]) -> None:
        while not condition():
            await self.step()

    async def idle(self) -> None:
        """Until all send tokens are back."""
        await self.until(lambda: len(self.port.free_sends) == self.port.send_tokens)

    async def quiet(self, cycles: int) -> None:
        """Handle what comes within ``cycles``."""
        end = self.node.port.cycle + cycles
        while self.node.port.cycle < end:
            event = await self.gm.gm_receive(self.port)
            if event.type is GM_EVENT.GM_NO_RECV_EVENT:
                await self.node.port.delay(200)
                await self.node.port.flush()
            else:
                await self.handle(event)


def stations(*bodies: Callable[[Station], Any] | None, number: int = PORT) -> list[Any]:
    """Programs: each opens port ``number``, runs its body, and returns what that returns."""
    def program(body: Callable[[Station], Any]) -> Any:
        async def run(node: Node) -> Any:
            return await body(await Station(node, number).open())
        return run
    return [None if body is None else program(body) for body in bodies]


def data_of(seed: int, length: int) -> bytes:
    return random.Random(seed).randbytes(length)
