"""Host memory of which a few pages are on a board: accesses, misses, the log, the back door."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import FallingEdge
from nicbed.rtl.boards.store.resident_memory import FRAME_WORDS, ResidentMemory, WriteLayout

from tests.labs.bench import Sink, parameters, reset_and_clock, run_bench, seed
from tests.models.board import merge

WORDS = 8 * FRAME_WORDS


class Bench:
    """Accesses of a target, and a back door whose user swaps pages."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(seed())
        self.falling = FallingEdge(dut.clk)
        self.log = Sink(dut, "log", shape=WriteLayout(WORDS.bit_length() - 1),
                        stall=parameters()["stall"], seed=seed())
        self.memory = [0] * WORDS
        self.resident: dict[int, int] = {}
        self.misses = 0

    async def access(self, place: int, word: int | None = None) -> int:
        """Read or write a word in frames."""
        dut = self.dut
        dut.control__en.value, dut.control__place.value = 1, place
        dut.control__we.value, dut.control__wdata.value = int(word is not None), word or 0
        await self.falling
        dut.control__en.value = 0
        return int(dut.control__rdata.value) if word is None else word

    async def map(self, page: int, frame: int | None) -> None:
        dut = self.dut
        dut.control__map.value, dut.control__page.value = 1, page
        dut.control__frame.value = frame or 0
        dut.control__valid.value = int(frame is not None)
        await self.falling
        dut.control__map.value = 0

    async def fetch(self, page: int) -> None:
        """Make a page resident, in the place of another."""
        assert page not in self.resident
        self.misses += 1
        frame = len(self.resident)
        if frame == parameters()["frames"]:
            victim = self.rng.choice(list(self.resident))
            frame = self.resident.pop(victim)
            for at in self.rng.sample(range(FRAME_WORDS), 10):
                assert await self.access(frame * FRAME_WORDS + at) == self.memory[
                    victim * FRAME_WORDS + at]
            await self.map(victim, None)
        for at in range(FRAME_WORDS):
            await self.access(frame * FRAME_WORDS + at, self.memory[page * FRAME_WORDS + at])
        await self.map(page, frame)
        self.resident[page] = frame

    async def retry(self) -> None:
        self.dut.retry.value = 1
        await self.falling
        self.dut.retry.value = 0

    async def settle(self) -> int:
        """Wait until nothing but a miss is pending; the cycles that took."""
        count = 0
        while int(self.dut.pending.value) and not int(self.dut.miss.value):
            assert count < 200, "an access hangs"
            await self.falling
            count += 1
        return count


@cocotb.test()
async def serves_a_target(dut: Any) -> None:
    await reset_and_clock(dut)
    bench = Bench(dut)
    rng, falling = bench.rng, bench.falling
    await falling
    written = []
    last = None
    for turn in range(500):
        # Before the target's edge: what it read is still there, whatever the back door did.
        if bench.resident and rng.random() < 0.2:
            page, frame = rng.choice(list(bench.resident.items()))
            at = rng.randrange(FRAME_WORDS)
            if rng.getrandbits(1):
                bench.memory[page * FRAME_WORDS + at] = rng.getrandbits(64)
                await bench.access(frame * FRAME_WORDS + at, bench.memory[page * FRAME_WORDS + at])
            else:
                assert await bench.access(frame * FRAME_WORDS + at) == bench.memory[
                    page * FRAME_WORDS + at]
        if last is not None:
            assert int(dut.port__rdata.value) == last
        # A step with or without an access, or an access without a step.
        here = turn // 60 * 97 % WORDS if rng.random() < 0.7 else 0
        address = (here + rng.randrange(90)) % WORDS if here else rng.randrange(WORDS)
        en, we, step = rng.random() < 0.8, rng.random() < 0.6, rng.random() < 0.8
        strobe = rng.choice([0, 255, rng.randrange(256)])
        data = rng.getrandbits(64)
        dut.port__en.value, dut.port__we.value, dut.port__address.value = int(en), int(we), address
        dut.port__wdata.value, dut.port__strobe.value = data, strobe
        dut.step.value = int(step)
        await falling
        dut.step.value = 0
        assert int(dut.pending.value) == int(en and step)
        if not (en and step):
            continue
        dut.port__en.value, dut.port__wdata.value = rng.getrandbits(1), 0
        dut.port__address.value, dut.port__strobe.value = rng.randrange(WORDS), 255
        took = await bench.settle()
        page = address // FRAME_WORDS
        while int(dut.miss.value):
            assert int(dut.miss_page.value) == page and page not in bench.resident
            assert int(dut.pending.value)
            if rng.random() < 0.3:
                await bench.retry()                     # of no use
            else:
                await bench.fetch(page)
                for _ in range(rng.randrange(4)):
                    await falling
                    assert int(dut.miss.value)
                await bench.retry()
            took = await bench.settle()
        assert page in bench.resident
        if we:
            if strobe:
                written.append({"strobe": strobe, "address": address, "data": data})
            bench.memory[address] = merge(bench.memory[address], data, strobe)
            assert took == 2 or strobe and took > 2 and parameters()["stall"]
        else:
            last = bench.memory[address]
            assert took == 3
    await falling
    assert bench.log.taken == written and len(written) > 50
    assert bench.misses > 8
    for page, frame in bench.resident.items():
        for at in range(FRAME_WORDS):
            assert await bench.access(frame * FRAME_WORDS + at) == bench.memory[
                page * FRAME_WORDS + at]


@cocotb.test()
async def forgets_in_reset(dut: Any) -> None:
    """An access at any stage is dropped; pages and words stay, and the next access is good."""
    await reset_and_clock(dut)
    bench = Bench(dut)
    bench.log.stall = 0.0
    falling = bench.falling
    await falling
    for page in (0, 1):
        await bench.map(page, None)
    bench.resident.clear()
    await bench.fetch(0)
    dut.port__en.value = dut.port__we.value = 1
    dut.port__strobe.value = 255
    for page in (0, 1):
        for we in (0, 1):
            for after in range(6):
                dut.port__en.value, dut.port__we.value = 1, we
                dut.port__address.value = FRAME_WORDS * page + 5
                dut.port__wdata.value = bench.memory[5] = 1000 + after
                dut.step.value = 1
                await falling
                dut.step.value = 0
                for _ in range(after):
                    await falling
                dut.reset.value = dut.step.value = 1
                await falling
                dut.reset.value = dut.step.value = 0
                assert not int(dut.pending.value) and not int(dut.miss.value)
                dut.port__address.value, dut.port__we.value = 6, 0
                await bench.access(6, 77 + after)
                dut.step.value = 1
                await falling
                dut.step.value = 0
                assert await bench.settle() == 3
                assert int(dut.port__rdata.value) == 77 + after


@pytest.mark.parametrize("number, frames, stall", [(1, 3, 0.0), (2, 2, 0.5)])
def test_resident_memory(number: int, frames: int, stall: float) -> None:
    run_bench(ResidentMemory(words=WORDS, frames=frames), __file__, seed=number, frames=frames,
              stall=stall)


@pytest.mark.parametrize("words, frames, error, text", [
    ("many", 2, TypeError, "words must be an integer, not 'many'"),
    (WORDS, 2.0, TypeError, "frames must be an integer, not 2.0"),
    (FRAME_WORDS, 2, ValueError, "words must be a power of two, 256 to 8388608, not 128"),
    (300, 2, ValueError, "words must be a power of two, 256 to 8388608, not 300"),
    (1 << 24, 2, ValueError, "words must be a power of two, 256 to 8388608, not 16777216"),
    (WORDS, 1, ValueError, "frames must be 2 to 32768, not 1"),
    (WORDS, 40000, ValueError, "frames must be 2 to 32768, not 40000"),
])
def test_refuses_parameters(words: Any, frames: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        ResidentMemory(words=words, frames=frames)


def test_parameters() -> None:
    memory = ResidentMemory(words=WORDS, frames=5)
    assert (memory.words, memory.frames) == (WORDS, 5)
