"""The round-robin arbiter. Its fairness is proven in formal/."""

import random

import cocotb
import pytest
from nicbed.rtl.parts.round_robin import RoundRobin

from tests.labs.bench import cycles, parameters, reset_and_clock, run_bench, seed
from tests.labs.rows import more


@cocotb.test()
async def follows_the_model(dut):
    count = parameters()["count"]
    await reset_and_clock(dut)
    rng = random.Random(seed())
    turn = 0
    for _ in range(600):
        requests = rng.getrandbits(count) & rng.choice([rng.getrandbits(count), (1 << count) - 1])
        advance = rng.randrange(2)
        dut.requests.value = requests
        dut.advance.value = advance
        await cycles(dut, 1)
        order = [(turn + k) % count for k in range(count)]
        winner = next((n for n in order if requests >> n & 1), None)
        assert dut.grant.value == (0 if winner is None else 1 << winner)
        if count > 1:
            assert dut.index.value == (winner or 0)
        if advance and winner is not None:
            turn = (winner + 1) % count


@pytest.mark.parametrize("count", [1, more(2), 3, more(8), 13, more(16)])
def test_model(count):
    run_bench(RoundRobin(count=count), __file__, testcase="follows_the_model", count=count)


def test_errors():
    with pytest.raises(ValueError, match="count must be at least 1, not 0"):
        RoundRobin(count=0)
    for wrong in ("8", 2.0, True):
        with pytest.raises(TypeError, match="count must be an integer, not"):
            RoundRobin(count=wrong)
    assert RoundRobin(count=5).count == 5
