"""The DMA adapter: wide bursts, several under way, before a memory behind bursts of 8 bytes."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.rtl.bus.burst import Burst
from nicbed.rtl.node.dma_adapter import DmaAdapter

from tests.labs.bench import (
    Monitor,
    Sink,
    Source,
    cycles,
    parameters,
    reset_and_clock,
    run_bench,
    seed,
    within,
)
from tests.models.nic import BurstMemory

SIZE = 4096


class Nic:
    """Asks for bursts with whatever tags are free, and knows what each must do to the memory."""

    def __init__(self, dut: Any, width: int, tags: int, image: bytearray, stall: float) -> None:
        burst = Burst(width, tags)
        shapes = {name: burst.members[name].signature.members["payload"].shape
                  for name in ("request", "write", "read")}
        self.width, self.tags, self.image = width, tags, bytearray(image)
        self.request = Source(dut, "nic__request", shape=shapes["request"], stall=stall, seed=1)
        self.write = Source(dut, "nic__write", shape=shapes["write"], stall=stall, seed=2)
        self.read = Sink(dut, "nic__read", shape=shapes["read"] if tags > 1 else None,
                         stall=stall, seed=3)
        self.under_way: dict[int, list[int]] = {}
        """By tag, the words that a burst must read."""
        self.ended: list[int] = []
        self._dut = dut
        self._random = random.Random(seed())
        self._last = 0
        cocotb.start_soon(self._ends())

    async def _ends(self) -> None:
        edge = RisingEdge(self._dut.clk)
        while True:
            await edge
            if self._dut.nic__done.value == 1:
                self.ended.append(int(self._dut.nic__done_tag.value) if self.tags > 1 else 0)

    def ask(self, trace: int) -> None:
        """One more burst."""
        draw, width = self._random, self.width
        tag = draw.choice([tag for tag in range(self.tags) if tag not in self.under_way])
        beats = draw.randint(1, 5)
        place = width * draw.randrange(SIZE // width - beats)
        write = draw.random() < 0.5
        request = {"write": int(write), "address": place, "beats": beats, "trace": trace}
        if self.tags > 1:
            request["tag"] = tag
        if width == 8:
            request["jump_address"] = 8 * draw.randrange(SIZE // 8)
        self.request.send(request)
        words = []
        for beat in range(beats):
            at = place + beat * width
            if not write:
                words.append(int.from_bytes(self.image[at:at + width], "little"))
                continue
            word = {"data": draw.getrandbits(8 * width), "strobe": draw.getrandbits(width)}
            if width == 8 and beat == beats - 1 and draw.random() < 0.5:
                word["jump"], at = 1, request["jump_address"]
            self.write.send(word)
            for byte in range(width):
                if word["strobe"] >> byte & 1:
                    self.image[at + byte] = word["data"] >> 8 * byte & 0xFF
        self.under_way[tag] = words

    async def settle(self, least: int) -> None:
        """Wait until no more than ``least`` bursts are under way, and check those that ended."""
        while len(self.under_way) > least:
            while not self.ended:
                await cycles(self._dut, 1)
            await cycles(self._dut, 1)
            tag = self.ended.pop(0)
            words = self.under_way.pop(tag)
            got = self.read.taken[:len(words)]
            self.read.taken[:len(words)] = []
            if self.tags > 1:
                last = len(words) - 1
                assert got == [{"data": word, "tag": tag, "last": int(at == last)}
                               for at, word in enumerate(words)]
            else:
                assert got == words


@cocotb.test()
async def moves_what_is_asked_for(dut: Any) -> None:
    given = parameters()
    width, tags = given["width"], given["tags"]
    draw = random.Random(seed())
    image = bytearray(draw.randbytes(SIZE))
    await reset_and_clock(dut)
    nic = Nic(dut, width, tags, image, given["stall"])
    memory = BurstMemory(dut, "bus", image, stall=given["stall"], seed=seed())
    request, write = Monitor(dut, "bus__request"), Monitor(dut, "bus__write")
    for trace in range(80):
        await within(4000, nic.settle(draw.randrange(tags)))
        nic.ask(trace)
    await within(4000, nic.settle(0))
    await cycles(dut, 3)
    assert image == nic.image
    assert [one["trace"] for one in memory.requests] == list(range(80))
    assert not nic.read.taken and not nic.ended
    assert dut.idle.value == 1
    request.check()
    write.check()


@cocotb.test()
async def takes_the_cycles_of_the_bus(dut: Any) -> None:
    """Without stalls: 8 bytes a cycle, and nothing more with one tag."""
    width = parameters()["width"]
    await reset_and_clock(dut)
    image = bytearray(range(256)) * (SIZE // 256)
    nic = Nic(dut, width, 1, image, 0.0)
    memory = BurstMemory(dut, "bus", image)
    nic.request.send({"write": 0, "address": 0, "beats": 4, "trace": 1})
    await within(200, nic.read.receive(4))
    nic.request.send({"write": 1, "address": 0, "beats": 4, "trace": 2})
    nic.write.send(*({"data": 1, "strobe": 1} for _ in range(4)))
    await within(200, nic.write.drain())
    assert [one["beats"] for one in memory.requests] == [4 * width // 8] * 2
    for edges in (nic.read.cycles, nic.write.cycles):
        assert {after - before for before, after in zip(edges, edges[1:], strict=False)} == {
            width // 8}


@pytest.mark.parametrize("width, tags, stall", [
    (8, 1, 0.4), (8, 3, 0.4), (16, 1, 0.0), (32, 4, 0.5), (64, 16, 0.2)])
def test_moves_what_is_asked_for(width: int, tags: int, stall: float) -> None:
    run_bench(DmaAdapter(width=width, tags=tags), __file__, testcase="moves_what_is_asked_for",
              width=width, tags=tags, stall=stall)


def test_takes_the_cycles_of_the_bus() -> None:
    run_bench(DmaAdapter(width=32), __file__, testcase="takes_the_cycles_of_the_bus", width=32)


def test_parameters() -> None:
    assert (DmaAdapter(width=16, tags=2).width, DmaAdapter(width=16, tags=2).tags) == (16, 2)
    with pytest.raises(ValueError, match="width must be a power of two, at least 8, not 24"):
        DmaAdapter(width=24)
    with pytest.raises(TypeError, match="tags must be an integer, not 1.0"):
        DmaAdapter(tags=1.0)
