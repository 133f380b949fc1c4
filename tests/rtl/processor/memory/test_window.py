"""NIC memory by PIO: who may, what is counted, and that nobody waits."""

import random
from typing import Any

import pytest
from nicbed.layouts.processor import WINDOW_OWNER, WINDOW_PAGE
from nicbed.rtl.processor.memory.window import Window

from tests.labs.control_bench import pulses, simulate

PAGES = 8
MASK = (1 << 64) - 1


@pytest.mark.parametrize("seed", range(2))
def test_does_what_the_model_does(seed: int) -> None:
    rng = random.Random(seed)
    dut = Window(memory_bytes=PAGES * WINDOW_PAGE)
    memory: dict[int, int] = {}
    owners = [0] * 256
    counts = dict.fromkeys(("read", "written", "refused", "beyond"), 0)

    async def bench(ctx: Any) -> None:
        words = total = 0
        due = 0
        for _ in range(1500):
            access, write = rng.random() < 0.8, rng.random() < 0.5
            page = rng.choice([*range(PAGES), PAGES, 255, 256 + 1, 4095])
            address = page * WINDOW_PAGE + 8 * rng.choice([0, 1, 7, 511])
            process = rng.choice([0, 1, 2, 3])
            data = rng.getrandbits(64)
            give = rng.random() < 0.1
            owner = {"page": rng.randrange(PAGES), "process": rng.randrange(4)}
            clear = rng.random() < 0.01
            ctx.set(dut.pio.valid, access)
            ctx.set(dut.pio.write, write)
            ctx.set(dut.pio.address, address)
            ctx.set(dut.pio.process, process)
            ctx.set(dut.pio.data, data)
            ctx.set(dut.owner.valid, give)
            ctx.set(dut.owner.payload, WINDOW_OWNER.pack(**owner))
            ctx.set(dut.load.clear, clear)

            # What the memory says in the cycle after; to others in all other cycles.
            ctx.set(dut.port.read, due if due else rng.getrandbits(64))
            assert ctx.get(dut.pio.read) == due
            assert ctx.get(dut.load.words) == words
            assert ctx.get(dut.load.sum) == total
            assert ctx.get(dut.idle) == (not access and not due)
            beyond = page >= PAGES
            allowed = access and not beyond and process in (0, owners[page])
            assert ctx.get(dut.port.valid) == allowed
            assert pulses(ctx, dut, "wrote", "refused") == (
                ["wrote"] * (allowed and write) + ["refused"] * (access and not allowed))
            counts["refused"] += access and not allowed
            counts["beyond"] += access and beyond and process == 0
            due = 0
            if allowed:
                assert ctx.get(dut.port.address) == address // 8
                assert ctx.get(dut.port.write) == write
                assert not write or ctx.get(dut.port.strobe) == 0xFF
                if write:
                    counts["written"] += 1
                    memory[address] = ctx.get(dut.port.data)
                    assert memory[address] == data
                else:
                    counts["read"] += 1
                    due = memory.setdefault(address, rng.getrandbits(64) | 1)
            if clear:
                words = total = 0
            elif allowed and write:
                words += 1
                total = ((total << 1 | total >> 63) + data) & MASK
            if give:
                owners[owner["page"]] = owner["process"]
            await ctx.tick()

    simulate(dut, bench)
    assert min(counts.values()) > 10


@pytest.mark.parametrize("size", [0, 2048, 12288, 1 << 21])
def test_size_is_a_power_of_two(size: int) -> None:
    with pytest.raises(ValueError, match=f"power of two from 4096 to 1048576, not {size}"):
        Window(memory_bytes=size)


def test_size_is_an_integer() -> None:
    with pytest.raises(TypeError, match="memory_bytes must be an integer, not '64K'"):
        Window(memory_bytes="64K")  # type: ignore[arg-type]
