"""Host programs for tests of AM-II by the NICs: a party is an endpoint, and what came to it."""

import random
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from nicbed.host.am2.control_block import ControlBlock
from nicbed.host.am2.endpoint_name import EndpointName
from nicbed.host.am2.looking import Looking
from nicbed.host.am2.network import NetworkWay
from nicbed.host.am2.packets import Arrived, Packet
from nicbed.host.port.node import Node
from nicbed.layouts.am2 import Opcode, Status

from tests.programs.overriding import Overriding

__all__ = ["LIMIT", "REPLIES", "REQUESTS", "START", "TAG", "Got", "Party", "data_of", "describe",
           "name", "overriding", "parties"]

LIMIT = 8_000_000
START = 250_000
"""A cycle when all endpoints of a NIC are open: messages are not sent before."""
SLOWER = {"serv": 8}
"""How much longer that takes on slow cores."""
REQUESTS = (Opcode.REQUEST, Opcode.REQUEST_I, Opcode.REQUEST_XFER)
REPLIES = (Opcode.REPLY, Opcode.REPLY_I, Opcode.REPLY_XFER)
TAG = 0x1234_5678_9ABC_DEF0
SMALL: dict[str, Any] = {
    "nic.processor": "picorv32", "am2.protocol": "network", "am2.retry_timeout": 20000,
    "am2.retries": 4, "am2.frames": 4,
}
DESCRIPTION = Overriding("NICBED_AM2_TESTS", SMALL)
describe, overriding = DESCRIPTION.describe, DESCRIPTION.by


class Got(NamedTuple):
    """A message that has come; ``returned``: one's own."""

    opcode: Opcode
    arguments: tuple[int, ...]
    data: bytes
    returned: int
    sender: EndpointName
    tag: int
    epoch: int


class Party:
    """Endpoint ``number`` of the process on CPU ``node``.

    Attributes
    ----------
    got
        Messages, in the order in which they came.
    answers
        Whether requests are replied to, by their own arguments.
    """

    def __init__(self, node: Node, number: int = 0, way: NetworkWay | None = None) -> None:
        self.node = node
        self.parties: list[Party]
        if way is None:
            self.parties = [self]
            self.way = NetworkWay(node, self._deliver)
        else:
            self.way = way
        self.endpoint = ControlBlock(EndpointName(node.number, node.cpu, number), None)
        self.endpoint.tag = TAG
        self.got: list[Got] = []
        self.answers = True
        self.answer: Callable[[Party, Arrived], Awaitable[None]] | None = None
        self.sent = 0

    def another(self, number: int) -> "Party":
        """Another endpoint of the process."""
        party = Party(self.node, number, self.way)
        self.parties.append(party)
        party.parties = self.parties
        return party

    async def open(self) -> "Party":
        assert await self.way.open(self.endpoint)
        return self

    async def _deliver(self, endpoint: ControlBlock, arrived: Arrived) -> None:
        party = next(one for one in self.parties if one.endpoint is endpoint)
        data = self.node.memory.read(arrived.data, arrived.length) if arrived.data else b""
        party.got.append(Got(arrived.opcode, arrived.arguments, data, arrived.returned,
                             arrived.sender, arrived.tag, arrived.epoch))
        if arrived.opcode in REPLIES or arrived.returned:
            return
        if party.answer is not None:
            await party.answer(party, arrived)
        elif party.answers:
            await party.reply(arrived)

    async def reply(self, arrived: Arrived, opcode: Opcode = Opcode.REPLY, data: bytes = b"",
                    returned: int = 0) -> None:
        source = self._place(data)
        await self.way.reply(self.endpoint, arrived.back, Packet(
            opcode, arrived.handler, arrived.arguments, source=source, length=len(data),
            returned=returned, epoch=arrived.epoch, trace=self.node.trace_number()))

    def _place(self, data: bytes) -> int:
        if not data:
            return 0
        source = self.node.allocate(len(data) + 8) + 4
        self.node.memory.write(source, data)
        return source

    async def request(self, to: EndpointName, *arguments: int, data: bytes | None = None,
                      opcode: Opcode = Opcode.REQUEST_I, tag: int = TAG, wait: bool = True,
                      offset: int = 0) -> Status:
        route = await self.way.route(self.endpoint, to)
        self.sent += 1
        packet = Packet(Opcode.REQUEST if data is None else opcode, 1 + self.sent % 255, arguments,
                        tag, self._place(data or b""), len(data or b""), offset,
                        epoch=self.endpoint.epoch, trace=self.node.trace_number())
        return await self.way.request(self.endpoint, route, packet, self.poll, wait)

    async def poll(self, most: int = 1) -> int:
        """Poll all endpoints of the process."""
        looking = self.node.service(Looking)
        found = 0
        for party in self.parties:
            found += await self.way.poll(party.endpoint, most)
            looking.end()
        return found

    async def until(self, condition: Callable[[], Any]) -> None:
        while not condition():
            await self.poll()

    async def quiet(self, cycles: int) -> None:
        """Poll now and then for ``cycles``."""
        end = await self.node.port.flush() + cycles
        while self.node.port.cycle < end:
            if not await self.poll():
                await self.node.port.delay(1000)
                await self.node.port.flush()

    async def counters(self) -> dict[str, int]:
        """The firmware's ``struct counters``."""
        port = self.node.port
        port.process = 0
        base = self.way.driver.processor.address("counters")
        names = ("malformed", "resent", "full", "waits", "out", "duplicates", "gaps", "returned",
                 "acks")
        words = []
        for at in range(0, 4 * len(names), 8):
            word = await port.pio_read(base + at)
            words += [word & 0xFFFF_FFFF, word >> 32]
        return dict(zip(names, words, strict=False))

    def of(self, *opcodes: Opcode) -> list[Got]:
        """What has come of these kinds and was not returned."""
        return [one for one in self.got if one.opcode in opcodes and not one.returned]


def name(node: int, cpu: int = 0, number: int = 0) -> EndpointName:
    """A name."""
    return EndpointName(node, cpu, number)


def parties(*bodies: Any, number: int = 0) -> list[Any]:
    """Programs: each opens an endpoint, runs its body, closes it, and returns what the body
    returns. A body may be a sequence, one for each CPU of the node."""
    def program(body: Any) -> Any:
        async def run(node: Node) -> Any:
            party = await Party(node, number).open()
            start = START * node.nics * SLOWER.get(node.description.nic.processor, 1)
            assert node.port.cycle < start
            await node.port.delay(start - node.port.cycle)
            await node.port.flush()
            result = await body(party)
            for one in party.parties:
                await party.way.close(one.endpoint)
            return result
        return run
    return [None if body is None
            else [program(one) for one in body] if isinstance(body, (list, tuple))
            else program(body) for body in bodies]


def data_of(seed: int, length: int) -> bytes:
    """Random bytes."""
    return random.Random(seed).randbytes(length)
