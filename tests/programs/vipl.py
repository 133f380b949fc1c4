"""Host programs over VIPL: what tests of the library start from."""

from collections.abc import Callable
from typing import Any

from nicbed.host.via import (
    MemAttributes,
    NetAddress,
    Process,
    ViAttributes,
    Vipl,
    descriptors,
)
from nicbed.host.via.descriptors import Segment
from nicbed.host.via.returns import VIP_RETURN
from nicbed.layouts.via import Reliability

from tests.models.target import Model
from tests.programs.am import describe

__all__ = ["RD", "RR", "SMALL", "UD", "Side", "connect", "describe", "run", "run_pair"]

UD, RD, RR = Reliability
SMALL = {"via.vis": 8, "via.translations": 1024, "via.cache_sets": 4, "via.page_bytes": 1024,
         "memory.bytes": 1 << 21}
"""What tests of VIA run on, raw ones too, so that one simulator serves them all."""
PORT = b"port"
SUCCESS = VIP_RETURN.SUCCESS


def run(*programs: Any, limit: int = 40_000_000, small: bool = True, **knobs: Any) -> list[Any]:
    """Results of ``programs`` (one a node) on the model."""
    settings = {name.replace("__", "."): value for name, value in knobs.items()}
    model = Model(describe(SMALL if small else {}, settings))
    return model.run(list(programs), limit=limit).results


async def connect(vipl: Vipl, nic: Any, vi: Any, other: int, *, client: bool,
                  port: bytes = PORT) -> None:
    """Connect ``vi`` to the VI that the other node connects with the same ``port``."""
    here = NetAddress(vipl.node.number, port)
    if client:
        result = VIP_RETURN.NO_MATCH
        while result is VIP_RETURN.NO_MATCH:
            result, _ = await vipl.VipConnectRequest(vi, here, NetAddress(other, port), None)
        assert result is SUCCESS, result
    else:
        result, _, _, connection = await vipl.VipConnectWait(nic, here, None)
        assert result is SUCCESS
        result = await vipl.VipConnectAccept(connection, vi)
        assert result is SUCCESS, result


class Side:
    """A node with an open NIC, a protection tag, a VI and registered memory.

    ``va``, ``handle``: 8 KiB of data; ``errors``: what the error callback was told."""

    def __init__(self, node: Any, level: Reliability = RD, *, number: int = 1,
                 length: int = 8192, **attributes: Any) -> None:
        self.node, self.level, self.length = node, level, length
        self.process = Process(node, number)
        self.vipl = Vipl(self.process)
        self.attributes = attributes
        self.errors: list[Any] = []
        self.other = (node.number + 1) % node.nodes

    async def open(self, *, vi: bool = True, send_cq: int = 0, receive_cq: int = 0) -> "Side":
        vipl = self.vipl
        result, self.nic = await vipl.VipOpenNic("nic0")
        assert result is SUCCESS
        _, self.tag = await vipl.VipCreatePtag(self.nic)
        await vipl.VipErrorCallback(self.nic, self, lambda side, error: side.errors.append(
            error.code))
        self.va = self.process.allocate(self.length, fresh=True)
        self.handle = await self.register(self.va, self.length)
        self.cqs = [None, None]
        for place, entries in enumerate((send_cq, receive_cq)):
            if entries:
                result, self.cqs[place] = await vipl.VipCreateCQ(self.nic, entries)
                assert result is SUCCESS
        if vi:
            self.vi = await self.create()
        return self

    async def register(self, va: int, length: int, **enables: bool) -> int:
        result, handle = await self.vipl.VipRegisterMem(
            self.nic, va, length, MemAttributes(self.tag, **enables))
        assert result is SUCCESS
        return handle

    async def create(self, **attributes: Any) -> Any:
        result, vi = await self.vipl.VipCreateVi(
            self.nic, ViAttributes(self.tag, self.level, **{**self.attributes, **attributes}),
            *self.cqs)
        assert result is SUCCESS
        return vi

    async def connect(self) -> "Side":
        await connect(self.vipl, self.nic, self.vi, self.other, client=self.node.number == 0)
        return self

    def segment(self, offset: int, length: int) -> Segment:
        return Segment(self.va + offset, self.handle, length)

    async def make(self, *segments: Segment, **fields: Any) -> tuple[int, int]:
        """A descriptor in memory of its own, registered: address and handle."""
        va = descriptors.allocate(self.process, max(1, len(segments) + 1), fresh=True)
        handle = await self.register(va, max(64, 32 + 16 * (len(segments) + 1)))
        await descriptors.build(self.process, va, segments, **fields)
        return va, handle

    async def send(self, *segments: Segment, **fields: Any) -> int:
        va, handle = await self.make(*segments, **fields)
        assert await self.vipl.VipPostSend(self.vi, va, handle) is SUCCESS
        return va

    async def receive(self, *segments: Segment, **fields: Any) -> int:
        va, handle = await self.make(*segments, **fields)
        assert await self.vipl.VipPostRecv(self.vi, va, handle) is SUCCESS
        return va

    def look(self, va: int) -> Any:
        return descriptors.read(self.process, va)


def run_pair(first: Callable[[Side], Any], second: Callable[[Side], Any], level: Reliability = RD,
             *, queues: tuple[int, int] = (0, 0), attributes: dict[str, Any] | None = None,
             before: Callable[[Side], Any] | None = None, **knobs: Any) -> list[Any]:
    """Results of two programs whose VIs are connected; ``before`` is run before they are."""
    def on(program: Callable[[Side], Any]) -> Any:
        async def start(node: Any) -> Any:
            side = await Side(node, level, **attributes or {}).open(
                send_cq=queues[0], receive_cq=queues[1])
            if before is not None:
                await before(side)
            await side.connect()
            return await program(side)
        return start

    return run(on(first), on(second), **knobs)
