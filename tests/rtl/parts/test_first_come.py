"""Arbitration by age, against a plain queue. Its order is proven in formal/."""

import random

import cocotb
import pytest
from nicbed.rtl.parts.first_come import FirstCome

from tests.labs.bench import cycles, parameters, reset_and_clock, run_bench, seed
from tests.labs.rows import more


@cocotb.test()
async def follows_the_model(dut):
    count = parameters()["count"]
    await reset_and_clock(dut)
    rng = random.Random(seed())
    queue: list[int] = []
    for _ in range(800):
        for number in range(count):
            if number not in queue and rng.random() < 0.3:
                queue.append(number)
        able = rng.getrandbits(count) | rng.getrandbits(count)
        advance = rng.randrange(2)
        dut.requests.value = sum(1 << number for number in queue)
        dut.able.value = able
        dut.advance.value = advance
        await cycles(dut, 1)
        winner = next((number for number in queue if able >> number & 1), None)
        assert dut.grant.value == (0 if winner is None else 1 << winner)
        if advance and winner is not None:
            queue.remove(winner)


@pytest.mark.parametrize("count", [1, more(2), 3, more(8), 13])
def test_model(count):
    run_bench(FirstCome(count=count), __file__, testcase="follows_the_model", count=count)


def test_errors():
    with pytest.raises(ValueError, match="count must be at least 1, not 0"):
        FirstCome(count=0)
    with pytest.raises(TypeError, match="count must be an integer, not"):
        FirstCome(count="8")
    assert FirstCome(count=5).count == 5
