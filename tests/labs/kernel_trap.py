"""Pairs of VIPL programs on the kernel-trap design point, over the functional target."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from nicbed.host.port.node import Node
from nicbed.host.via import (
    VIP_INFINITE,
    VIP_RETURN,
    MemAttributes,
    NetAddress,
    Process,
    ViAttributes,
    Vipl,
    VipState,
    descriptors,
)
from nicbed.host.via.descriptors import Segment
from nicbed.host.via.kernel import Kernel
from nicbed.layouts.via import Reliability

from tests.models.target import Model
from tests.programs.am import describe

__all__ = ["ERROR", "GUARD", "LEVELS", "OK", "QUICK", "RD", "RELIABLE", "RR", "UD", "Side",
           "run_pair", "state", "until"]

UD, RD, RR = Reliability
OK = VIP_RETURN.SUCCESS
LEVELS = pytest.mark.parametrize("level", [UD, RD, RR], ids=lambda level: level.name)
RELIABLE = pytest.mark.parametrize("level", [RD, RR], ids=lambda level: level.name)
ERROR = VIP_RETURN.DESCRIPTOR_ERROR
QUICK = {"via.retry_timeout": 3000, "via.retries": 60}
GUARD = b"\xA5"
NAME = b"kernel"
LIMIT = 10_000_000


class Side:
    """One node's program: its library, one registered region, one VI.

    ``events``: what the error callback was told. ``at(offset)`` is an address in the region.
    """

    def __init__(self, node: Node, size: int = 1 << 16, **attributes: Any) -> None:
        self.node = node
        self.port = node.port
        self.process = Process(node)
        self.vipl = Vipl(self.process)
        self.kernel = node.service(Kernel)
        self.provider = self.kernel.provider
        self.size = size
        self.attributes = attributes
        self.events: list[str] = []
        self.base = self.handle = 0
        self.nic = self.tag = self.vi = self.cq = None
        self.connected: Callable[[], None] = lambda: None

    async def open(self, cq_entries: int = 0) -> None:
        vipl = self.vipl
        result, self.nic = await vipl.VipOpenNic("nic0")
        assert result is OK
        await vipl.VipErrorCallback(self.nic, None,
                                    lambda _, error: self.events.append(error.code.name))
        result, self.tag = await vipl.VipCreatePtag(self.nic)
        assert result is OK
        self.base = self.process.allocate(self.size, fresh=True)
        self.handle = await self.register(self.base, self.size, rdma_write=True, rdma_read=True)
        if cq_entries:
            result, self.cq = await vipl.VipCreateCQ(self.nic, cq_entries)
            assert result is OK
        self.vi = await self.endpoint()

    async def register(self, va: int, length: int, **rights: Any) -> int:
        result, handle = await self.vipl.VipRegisterMem(self.nic, va, length,
                                                        MemAttributes(self.tag, **rights))
        assert result is OK
        return handle

    async def endpoint(self) -> Any:
        result, vi = await self.vipl.VipCreateVi(
            self.nic, ViAttributes(self.tag, **self.attributes), self.cq, self.cq)
        assert result is OK, result
        return vi

    async def connect(self, server: bool) -> None:
        here = NetAddress(self.node.number, NAME)
        there = NetAddress(1 - self.node.number, NAME)
        await self._connect(server, here, there)
        self.connected()

    async def _connect(self, server: bool, here: NetAddress, there: NetAddress) -> None:
        vipl = self.vipl
        if server:
            result, _, _, connection = await vipl.VipConnectWait(self.nic, here, VIP_INFINITE)
            assert result is OK
            assert await vipl.VipConnectAccept(connection, self.vi) is OK
            return
        result = VIP_RETURN.NO_MATCH
        while result is VIP_RETURN.NO_MATCH:
            await self.port.delay(2000)
            result, _ = await vipl.VipConnectRequest(self.vi, here, there, VIP_INFINITE)
        assert result is OK

    def at(self, offset: int, length: int = 0, handle: int | None = None) -> Segment:
        return Segment(self.base + offset, self.handle if handle is None else handle, length)

    def write(self, offset: int, data: bytes) -> None:
        self.process.write(self.base + offset, data)

    def read(self, offset: int, length: int) -> bytes:
        return self.process.read(self.base + offset, length)

    async def build(self, offset: int, segments: list[Segment], **options: Any) -> int:
        return await descriptors.build(self.process, self.base + offset, segments, **options)

    async def send(self, offset: int, segments: list[Segment], **options: Any) -> int:
        va = await self.build(offset, segments, **options)
        assert await self.vipl.VipPostSend(self.vi, va, self.handle) is OK
        return va

    async def receive(self, offset: int, segments: list[Segment]) -> int:
        va = await self.build(offset, segments)
        assert await self.vipl.VipPostRecv(self.vi, va, self.handle) is OK
        return va

    async def sent(self) -> tuple[VIP_RETURN, descriptors.Descriptor]:
        """The oldest send, polled for."""
        return await self._poll(self.vipl.VipSendDone)

    async def received(self) -> tuple[VIP_RETURN, descriptors.Descriptor]:
        return await self._poll(self.vipl.VipRecvDone)

    async def _poll(self, call: Callable[..., Any]) -> tuple[VIP_RETURN, Any]:
        result, va = await call(self.vi)
        while result is VIP_RETURN.NOT_DONE:
            result, va = await call(self.vi)
        assert va is not None, result
        return result, descriptors.read(self.process, va)

    async def linger(self, cycles: int) -> None:
        """Be in a blocking call, so that the kernel can answer the other side."""
        end = self.port.cycle + cycles
        while await self.kernel.doze(end):
            pass
        await self.kernel.attend()


Program = Callable[[Side], Coroutine[Any, Any, Any]]


def run_pair(first: Program, second: Program, *, settings: dict[str, Any] | None = None,
             size: int = 1 << 16, cq: int = 0, lose: Any = None, **attributes: Any) -> Model:
    """Node 0 runs ``first`` and is the server, node 1 ``second``; ``attributes`` are the VIs'.
    ``cq``: entries of a completion queue, ``side.cq``, that both queues of each VI are on; 0 for
    none. ``lose[node]``: which
    packets of a node's uplink to drop. The network's faults begin when both are connected."""
    settings = settings or {}
    clean = {name: value for name, value in settings.items() if not name.startswith("faults.")}
    basis = {"via.design": "kernel", "via.vis": 16, "memory.bytes": 1 << 20}
    connected = 0

    def count() -> None:
        nonlocal connected
        connected += 1
        if connected == 2:
            model.description = describe(basis, settings)
            for node, rule in (lose or {}).items():
                model.nics[node].lose = rule

    attributes = {"rdma_write": True,
                  "rdma_read": attributes.get("reliability", RD) is not UD} | attributes

    def program(function: Program, server: bool) -> Any:
        async def main(node: Node) -> Any:
            side = Side(node, size, **attributes)
            side.connected = count
            await side.open(cq)
            await function(side)
            return side
        return main

    model = Model(describe(basis, clean))
    runtime = model.run([program(first, True), program(second, False)], limit=LIMIT)
    model.counters = [side.provider.counters for side in runtime.results]
    return model


async def state(side: Side) -> VipState:
    """The VI's state, as VipQueryVi tells it."""
    result, found = await side.vipl.VipQueryVi(side.vi)
    assert result is OK
    return found.state


async def until(side: Side, done: Callable[[], Any], cycles: int = 2_000_000) -> None:
    """Is in blocking calls until ``done()``."""
    end = side.port.cycle + cycles
    while not done():
        assert side.port.cycle < end, "it never happened"
        await side.linger(500)
