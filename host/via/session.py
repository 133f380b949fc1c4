"""A process with VIPL open, registered memory, descriptors, VIs connected to the peer's, and the
three ways to receive; endpoints and benchmarks use it."""

from collections.abc import Sequence
from typing import Any

from ..kernel.process import Process
from ..port.node import Node
from . import descriptors
from .attributes import MemAttributes, NetAddress, ViAttributes
from .descriptors import Segment
from .returns import VIP_INFINITE, VIP_RETURN
from .vipl.vipl import Vipl

__all__ = ["BLOCK", "CQ", "POLL", "Memory", "Session"]

POLL, BLOCK, CQ = "poll", "block", "cq"
"""Ways to receive: VipRecvDone until it finds a message, VipRecvWait, VipCQDone and then
VipRecvDone."""


class Memory:
    """Registered memory, ``length`` bytes from ``va`` under ``handle``, allocated in pieces."""

    def __init__(self, va: int, length: int, handle: int) -> None:
        self.va = va
        self.length = length
        self.handle = handle
        self._next = va

    def segment(self, length: int, offset: int = 0) -> Segment:
        """``length`` bytes at ``offset``."""
        return Segment(self.va + offset, self.handle, length)

    def take(self, length: int) -> int:
        """Address of the next ``length`` bytes, rounded up to a multiple of 64."""
        va = self._next
        self._next += -(-length // 64) * 64
        if self._next > self.va + self.length:
            raise MemoryError(f"{length} bytes asked, {self.va + self.length - va} left")
        return va


class Session:
    """A node that takes part. Its peer is the other one of nodes 0 and 1."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.port = node.port
        self.peer = node.address_on(1 - node.home)
        self.process = Process(node, 1)
        self.vipl = Vipl(self.process)
        self.nic: Any = None
        self.tag: Any = None

    async def open(self) -> None:
        """The first call: open the NIC."""
        self.nic = self.sound("VipOpenNic", await self.vipl.VipOpenNic("nic0"))
        self.tag = self.sound("VipCreatePtag", await self.vipl.VipCreatePtag(self.nic))

    def sound(self, call: str, result: Any) -> Any:
        """The result of ``call``. Any code but success ends the run."""
        code, *values = result if isinstance(result, tuple) else (result,)
        if code is not VIP_RETURN.SUCCESS:
            raise RuntimeError(f"{call} on {self.node.place}: {code.name}")
        return values[0] if len(values) == 1 else tuple(values) or None

    async def memory(self, length: int) -> Memory:
        """``length`` registered bytes, in separate pages."""
        va = self.process.allocate(length, fresh=True)
        handle = self.sound("VipRegisterMem", await self.vipl.VipRegisterMem(
            self.nic, va, length, MemAttributes(self.tag)))
        return Memory(va, length, handle)

    async def arena(self, count: int, segments: int = 1) -> Memory:
        """Memory for ``count`` descriptors of ``segments`` segments."""
        return await self.memory(count * -(-(32 + 16 * segments) // 64) * 64)

    async def descriptor(self, arena: Memory, segments: Sequence[Segment]) -> int:
        """A descriptor in ``arena``, for sends and receives alike."""
        return await descriptors.send(self.process, arena.take(32 + 16 * len(segments)), segments)

    async def endpoint(self, receive_cq: Any = None) -> Any:
        """A VI of Reliable Delivery."""
        return self.sound("VipCreateVi", await self.vipl.VipCreateVi(
            self.nic, ViAttributes(self.tag), None, receive_cq))

    async def connect(self, vi: Any, number: int = 0) -> None:
        """Connect ``vi`` to the peer's VI with the same ``number``."""
        name = number.to_bytes(4, "little")
        here, there = NetAddress(self.node.number, name), NetAddress(self.peer, name)
        self.sound("VipConnectPeerRequest", await self.vipl.VipConnectPeerRequest(
            vi, here, there, VIP_INFINITE))
        self.sound("VipConnectPeerWait", await self.vipl.VipConnectPeerWait(vi))

    async def post_send(self, vi: Any, descriptor: int, arena: Memory) -> None:
        code = await self.vipl.VipPostSend(vi, descriptor, arena.handle)
        if code is not VIP_RETURN.SUCCESS:
            self.sound("VipPostSend", code)

    async def post_receive(self, vi: Any, descriptor: int, arena: Memory) -> None:
        code = await self.vipl.VipPostRecv(vi, descriptor, arena.handle)
        if code is not VIP_RETURN.SUCCESS:
            self.sound("VipPostRecv", code)

    async def complete_send(self, vi: Any) -> None:
        """Wait until the oldest send is done."""
        done = self.vipl.VipSendDone
        code, _ = await done(vi)
        while code is VIP_RETURN.NOT_DONE:
            code, _ = await done(vi)
        if code is not VIP_RETURN.SUCCESS:
            self.sound("VipSendDone", code)

    async def received(self, vi: Any, how: str = POLL, cq: Any = None) -> int:
        """Wait for the next message; return its descriptor's address."""
        vipl = self.vipl
        if how == BLOCK:
            return self.sound("VipRecvWait", await vipl.VipRecvWait(vi, VIP_INFINITE))
        if how == CQ:
            code, *_ = await vipl.VipCQDone(cq)
            while code is VIP_RETURN.NOT_DONE:
                code, *_ = await vipl.VipCQDone(cq)
            if code is not VIP_RETURN.SUCCESS:
                self.sound("VipCQDone", code)
        code, descriptor = await vipl.VipRecvDone(vi)
        while code is VIP_RETURN.NOT_DONE:
            code, descriptor = await vipl.VipRecvDone(vi)
        if code is not VIP_RETURN.SUCCESS:
            self.sound("VipRecvDone", code)
        assert descriptor is not None
        return descriptor
