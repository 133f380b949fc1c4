"""All packets from one on are queued again, in order; with an echo only if the first was lost."""

import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge
from nicbed.rtl.vi.send.go_back import GoBack

from tests.labs.bench import reset_and_clock, run_bench, seed


@cocotb.test()
async def repeats(dut: Any) -> None:
    await reset_and_clock(dut)
    rng = random.Random(seed())
    edge, middle = RisingEdge(dut.clk), FallingEdge(dut.clk)
    waiting: dict[int, bool] = {}

    async def find() -> None:
        while True:
            await middle
            asked = int(dut.sequence.value)
            dut.found.value, dut.waits.value = int(asked in waiting), int(waiting.get(asked, False))

    cocotb.start_soon(find())
    lost_ones = 0
    for _ in range(150):
        first, count = rng.randrange(256), rng.randrange(6)
        waiting.clear()
        waiting.update({(first + k) % 256: rng.random() < 0.7 for k in range(count)})
        judge = rng.random() < 0.5
        echoed = rng.randrange(1 << 32)
        sent = (echoed + rng.choice((-5, -1, 0, 3))) % (1 << 32)
        dut.user__sequence.value, dut.user__load.value = first, 1
        await edge
        dut.user__load.value = 0
        dut.user__judge.value, dut.user__again.value = int(judge), int(not judge)
        dut.user__echoed.value, dut.sent.value = echoed, sent
        await edge
        dut.user__judge.value = dut.user__again.value = 0
        again, cycles, over = [], 0, False
        while not over:
            await edge
            cycles += 1
            assert cycles < 50, "never over"
            if dut.again.value == 1:
                again.append(int(dut.sequence.value))
            over = dut.user__over.value == 1
        early = waiting.get(first, False) and (sent - echoed) % (1 << 32) >= 1 << 31
        lost = early or not judge
        lost_ones += lost
        assert again == ([one for one, waits in waiting.items() if waits] if lost else [])
        assert cycles == judge + (len(waiting) + 1 if lost else 0)
    assert 50 < lost_ones < 150


def test_repeats() -> None:
    run_bench(GoBack(), __file__, testcase="repeats")
