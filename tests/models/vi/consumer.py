"""The surroundings of a block of the VI engine in its benches: a consumer's memory under handles,
the translator that finds it, and descriptors."""

import random
from typing import Any

from nicbed.layouts.via import ADDRESS_SEGMENT, CONTROL_SEGMENT, DATA_SEGMENT
from nicbed.rtl.vi.types import TranslateRequest

from tests.labs.bench import pack, unpack

__all__ = ["Memory", "TranslatorModel", "address_segment", "control_segment", "data_segment",
           "field"]


class Memory:
    """Physical memory with regions: pages scattered over the frames of ``image``."""

    def __init__(self, *, size: int = 1 << 20, page: int = 1024, seed: int = 1) -> None:
        self.image = bytearray(random.Random(seed).randbytes(size))
        self.page = page
        self.table: dict[tuple[int, int], tuple[int, int, int, int, int]] = {}
        """(handle, page number) to (frame, first, last, tag, access bits)."""
        self._frames = list(range(1, size // page))
        random.Random(seed + 1).shuffle(self._frames)
        self._handle = 100
        self._va = 0x10_0000

    def region(self, length: int, *, tag: int = 7, access: int = 0, offset: int = 0) -> tuple[
            int, int]:
        """A new region of ``length`` bytes, ``offset`` bytes into its first page; (va, handle)."""
        self._handle += 1
        va = self._va + offset
        end = va + length - 1
        for number in range(va // self.page, end // self.page + 1):
            first = max(va - number * self.page, 0)
            last = min(end - number * self.page, self.page - 1)
            self.table[self._handle, number] = (self._frames.pop(), first, last, tag, access)
        self._va = (end // self.page + 2) * self.page
        return va, self._handle

    def forget(self, handle: int) -> None:
        """Deregister ``handle``; its frames are used again."""
        for key in [key for key in self.table if key[0] == handle]:
            self._frames.insert(0, self.table.pop(key)[0])

    def lookup(self, va: int, handle: int, tag: int, access: int = 0) -> tuple[int, int] | None:
        """Physical address and room, or None."""
        entry = self.table.get((handle, va // self.page))
        offset = va % self.page
        if entry is None or not entry[1] <= offset <= entry[2] or entry[3] != tag:
            return None
        if access and not entry[4] >> (access - 1) & 1:
            return None
        return entry[0] * self.page + offset, entry[2] - offset + 1

    def write(self, va: int, handle: int, content: bytes) -> None:
        """Store ``content``, whatever the tag."""
        for index, byte in enumerate(content):
            entry = self.table[handle, (va + index) // self.page]
            self.image[entry[0] * self.page + (va + index) % self.page] = byte

    def read(self, va: int, handle: int, length: int) -> bytes:
        """Load ``length`` bytes."""
        return bytes(
            self.image[self.table[handle, (va + index) // self.page][0] * self.page
                       + (va + index) % self.page] for index in range(length))


class TranslatorModel:
    """Answers one client of the translator after ``latency`` cycles, more at random."""

    def __init__(self, dut: Any, name: str, memory: Memory, *, latency: int = 3,
                 stall: float = 0.0, seed: int = 0) -> None:
        import cocotb
        self.memory = memory
        self.latency = latency
        self.asked: list[dict[str, Any]] = []
        self.stall = stall
        self._random = random.Random(seed)
        self._port = {part: getattr(dut, f"{name}__{part}") for part in (
            "request__valid", "request__ready", "request__payload", "valid", "ok", "physical",
            "room", "hold")}
        cocotb.start_soon(self._run(dut))

    async def _run(self, dut: Any) -> None:
        from cocotb.triggers import RisingEdge
        edge = RisingEdge(dut.clk)
        port = self._port
        port["valid"].value = 0
        while True:
            port["request__ready"].value = 1
            await edge
            while port["request__valid"].value != 1:
                await edge
            port["request__ready"].value = 0
            assert port["hold"].value == 1, "asked without hold"
            asked = unpack(TranslateRequest, int(port["request__payload"].value))
            va, handle = asked["address"] & (1 << 38) - 1, asked["address"] >> 38
            self.asked.append({**asked, "va": va, "handle": handle})
            wait = self.latency - 1
            while self.stall and self._random.random() < self.stall:
                wait += self._random.randrange(1, 12)
            for _ in range(wait):
                await edge
                assert port["hold"].value == 1, "hold dropped before the answer"
            found = None if asked["wide"] else self.memory.lookup(va, handle, asked["tag"],
                                                                  asked["access"])
            port["valid"].value = 1
            port["ok"].value = int(found is not None)
            port["physical"].value = found[0] if found else 0xDEAD_BEE8
            port["room"].value = found[1] if found else 0
            await edge
            port["valid"].value = 0
            port["room"].value = 0


def field(shape: Any, **values: Any) -> int:
    """The integer that carries ``values`` in ``shape``."""
    return pack(shape, values)


def control_segment(*, following: tuple[int, int] = (0, 0), segments: int = 0, control: int = 0,
                    trace: int = 0, immediate: int = 0, length: int = 0) -> bytes:
    """A control segment; ``following``: Next and NextHandle."""
    return CONTROL_SEGMENT.pack(*following, segments, control, trace, immediate, length, 0)


def address_segment(va: int, handle: int) -> bytes:
    """An address segment."""
    return ADDRESS_SEGMENT.pack(va, handle, 0)


def data_segment(va: int, handle: int, length: int) -> bytes:
    """A data segment."""
    return DATA_SEGMENT.pack(va, handle, length)
