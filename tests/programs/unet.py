"""Host programs for tests of U-Net: a station is an endpoint with its channels and buffers, and
what happened at it."""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

from nicbed.host.kernel.process import Process
from nicbed.host.port.node import Node
from nicbed.host.unet import Channel, CommunicationEndpoint, Received, Unet
from nicbed.layouts.unet import INLINE

from tests.programs.overriding import Overriding

__all__ = ["LIMIT", "Got", "Station", "data_of", "describe", "overriding", "stations"]

LIMIT = 8_000_000
DESCRIPTION = Overriding("NICBED_UNET_TESTS", {"nic.processor": "picorv32"})
describe, overriding = DESCRIPTION.describe, DESCRIPTION.by
START = 250_000
"""Cycles after which every node of a test has opened its channels."""


class Got(NamedTuple):
    """A message that has come."""

    data: bytes
    channel: Channel
    buffers: int


class Station:
    """An endpoint of ``node`` for process ``process``: the upper half of its segment is buffers of
    ``room`` bytes in the free queue, the lower half is to send from.

    Attributes
    ----------
    got
        Messages, in the order in which they came.
    keeps
        Whether buffers go back to the free queue as soon as their message was read.
    """

    def __init__(self, node: Node, process: int = 1, owner: Process | None = None) -> None:
        self.node = node
        self.process = owner or Process(node, process)
        self.unet = Unet(self.process)
        self.got: list[Got] = []
        self.refused: list[Received] = []
        self.keeps = True
        self.room = 0
        self.endpoint: CommunicationEndpoint = None  # type: ignore[assignment]
        self._at = 0

    async def open(self, size: int = 65536, room: int = 2048, frees: int = 16, sends: int = 32,
                   receives: int = 64, free_slots: int = 64) -> "Station":
        self.endpoint = await self.unet.create_endpoint(size, sends, receives, free_slots)
        self.room = room
        for number in range(frees):
            assert await self.endpoint.post_free(size // 2 + number * room, room)
        return self

    async def channel(self, node: int, tag: int, out: int | None = None) -> Channel:
        return await self.unet.create_channel(self.endpoint, node, tag if out is None else out, tag)

    async def ready(self) -> None:
        """Until every node has opened its channels."""
        port = self.node.port
        await port.flush()
        await port.delay(max(0, START - port.cycle))
        await port.flush()

    def put(self, data: bytes) -> int:
        """Bytes into the lower half of the segment: their offset."""
        half = self.endpoint.size // 2
        at = self._at if self._at + len(data) <= half else 0
        assert len(data) <= half
        self.process.write(self.endpoint.segment + at, data)
        self._at = at + len(data)
        return at

    async def post(self, channel: Channel, data: bytes, inline: bool | None = None) -> int:
        """Post it: with the descriptor if it fits, unless ``inline`` says otherwise."""
        if len(data) <= INLINE if inline is None else inline:
            return await self.endpoint.post_inline(channel, data)
        return await self.endpoint.post_send(channel, self.put(data), len(data))

    async def send(self, channel: Channel, data: bytes, inline: bool | None = None) -> int:
        """Post it, as soon as there is room."""
        while not (number := await self.post(channel, data, inline)):
            await self.step()
        return number

    async def step(self) -> bool:
        """Take the next message, if there is one."""
        message = await self.endpoint.poll()
        if message is None:
            return False
        await self.took(message)
        return True

    async def took(self, message: Received) -> None:
        endpoint = self.endpoint
        if message.refused:
            self.refused.append(message)
            return
        data = (message.data if message.data is not None else
                b"".join(self.process.read(endpoint.address(at), length)
                         for at, length in message.buffers))
        assert len(data) == message.length
        self.got.append(Got(data, endpoint.channels[message.channel], len(message.buffers)))
        if self.keeps and not message.placed:
            for at, _ in message.buffers:
                assert await endpoint.post_free_at(endpoint.address(at), self.room)

    async def until(self, condition: Callable[[], Any]) -> None:
        while not condition():
            await self.took(await self.endpoint.receive())

    async def quiet(self, cycles: int) -> None:
        """Take what comes within ``cycles``."""
        port = self.node.port
        end = await port.flush() + cycles
        while port.cycle < end:
            if not await self.step():
                await port.delay(200)
                await port.flush()


def stations(*bodies: Callable[[Station], Any] | None, **how: Any) -> list[Any]:
    """Programs: each opens an endpoint, runs its body, and returns what that returns."""
    def program(body: Callable[[Station], Any]) -> Any:
        async def run(node: Node) -> Any:
            return await body(await Station(node).open(**how))
        return run
    return [None if body is None else program(body) for body in bodies]


def data_of(seed: int, length: int) -> bytes:
    return random.Random(seed).randbytes(length)
