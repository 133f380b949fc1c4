"""The surroundings of the parts of the VI engine in their benches: virtual memory behind a
translator's client."""

import random
from dataclasses import dataclass, field
from typing import Any

from nicbed.rtl.vi.types import Access, TranslateRequest

from tests.labs.bench import unpack

__all__ = ["Region", "VirtualMemory", "TranslatorClient"]


@dataclass
class Region:
    """``length`` bytes from ``va`` on under ``handle``; ``frames``: its pages' physical addresses.
    """

    va: int
    length: int
    handle: int
    tag: int
    rdma_write: bool = False
    rdma_read: bool = False
    frames: dict[int, int] = field(default_factory=dict)


class VirtualMemory:
    """Regions of virtual memory over ``image``, their pages in frames all over it."""

    def __init__(self, *, frames: int, page: int, seed: int) -> None:
        self.page = page
        self.image = bytearray(random.Random(seed).randbytes(frames * page))
        self._free = list(range(0, frames * page, page))
        random.Random(seed + 1).shuffle(self._free)
        self.regions: dict[int, Region] = {}

    def register(self, va: int, length: int, *, tag: int, rdma_write: bool = False,
                 rdma_read: bool = False) -> Region:
        """A new region in frames of its own."""
        region = Region(va, length, 0x1_0000 * (len(self.regions) + 1) + 5, tag, rdma_write,
                        rdma_read)
        for page in range(va // self.page, (va + max(length, 1) - 1) // self.page + 1):
            region.frames[page] = self._free.pop()
        self.regions[region.handle] = region
        return region

    def lookup(self, handle: int, va: int, tag: int, access: Access) -> tuple[int, int] | None:
        """Physical address and room, or None: refused."""
        region = self.regions.get(handle)
        if region is None or region.tag != tag or not region.va <= va < region.va + region.length:
            return None
        if access == Access.RDMA_WRITE and not region.rdma_write:
            return None
        if access == Access.RDMA_READ and not region.rdma_read:
            return None
        page = va // self.page
        end = min((page + 1) * self.page, region.va + region.length)
        return region.frames[page] + va % self.page, end - va

    def places(self, handle: int, va: int, length: int) -> list[int]:
        """Physical addresses of ``length`` bytes."""
        region = self.regions[handle]
        return [region.frames[at // self.page] + at % self.page for at in range(va, va + length)]

    def read(self, handle: int, va: int, length: int) -> bytes:
        """Backdoor."""
        return bytes(self.image[at] for at in self.places(handle, va, length))

    def write(self, handle: int, va: int, content: bytes) -> None:
        """Backdoor."""
        for at, byte in zip(self.places(handle, va, len(content)), content, strict=True):
            self.image[at] = byte


class TranslatorClient:
    """Answers one Translate client out of ``memory``, ``latency`` cycles after the request is taken
    and more at random; checks that ``hold`` is high from request to answer."""

    def __init__(self, dut: Any, name: str, memory: VirtualMemory, *, latency: int = 3,
                 stall: float = 0.0, seed: int = 0) -> None:
        import cocotb
        self.memory = memory
        self.requests: list[dict[str, Any]] = []
        self._latency = latency
        self._stall = stall
        self._random = random.Random(seed)
        self._port = {part: getattr(dut, f"{name}__{part}") for part in (
            "request__valid", "request__ready", "request__payload", "valid", "ok", "physical",
            "room", "hold")}
        self.held = self._port["hold"]
        cocotb.start_soon(self._run(dut))

    async def _run(self, dut: Any) -> None:
        from cocotb.triggers import RisingEdge
        edge = RisingEdge(dut.clk)
        port = self._port
        port["request__ready"].value = 0
        port["valid"].value = 0
        while True:
            while self._random.random() < self._stall:
                await edge
            port["request__ready"].value = 1
            await edge
            while port["request__valid"].value != 1:
                await edge
            assert port["hold"].value == 1
            port["request__ready"].value = 0
            request = unpack(TranslateRequest, int(port["request__payload"].value))
            self.requests.append(request)
            for _ in range(self._latency - 1):
                await edge
                assert port["hold"].value == 1
            while self._random.random() < self._stall:
                await edge
            va, handle = request["address"] & (1 << 38) - 1, request["address"] >> 38
            found = None if request["wide"] else self.memory.lookup(
                handle, va, request["tag"], Access(request["access"]))
            port["valid"].value = 1
            port["ok"].value = int(found is not None)
            port["physical"].value, port["room"].value = found or (0xDEADBEEF, 0x1FFFF)
            await edge
            assert port["hold"].value == 1
            port["valid"].value = 0
            port["physical"].value, port["room"].value = 0xDEADBEEF, 0x1FFFF
