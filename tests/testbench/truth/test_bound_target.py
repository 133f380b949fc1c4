"""On the target: halving the service time of the block that is named lowers g, of another's not."""

from fractions import Fraction

import pytest
from nicbed.layouts.description import Description
from nicbed.testbench.backends.session import run_job

CPU, LINK = {"cpu.clock_mhz": Fraction(400)}, {"link.bytes_per_cycle": Fraction(4)}
SLOW = {
    # block: (bytes, what makes it the bound, its service halved, another's halved)
    "host": (0, {}, CPU, LINK),
    "link": (0, {"link.bytes_per_cycle": Fraction(1, 4)},
             {"link.bytes_per_cycle": Fraction(1, 2)}, CPU),
    "bus": (0, {"bus.pio_write": 200}, {"bus.pio_write": 100}, LINK),
    "receive DMA": (0, {"bus.dma_setup": 300}, {"bus.dma_setup": 150}, LINK),
    "send DMA": (512, {"bus.bytes_per_cycle": Fraction(1, 2)},
                 {"bus.bytes_per_cycle": Fraction(1)}, LINK),
    "receiver": (512, {"cpu.copy_word": 40}, {"cpu.copy_word": 20}, LINK),
}


@pytest.fixture(scope="module")
def gaps() -> dict[str, tuple[float, str, float]]:
    cases = {}
    for block, (size, slow, own, other) in SLOW.items():
        cases[block] = (size, slow)
        cases[f"{block}, own"] = (size, {**slow, **own})
        cases[f"{block}, other"] = (size, {**slow, **other})
    return run_job(Description(), function="tests.programs.bound_jobs:gaps",
                   arguments={"cases": cases})


@pytest.mark.parametrize("block", SLOW)
def test_the_named_block_is_the_bound(gaps, block):
    gap, named, busy = gaps[block]
    assert named == block and busy > 0.9
    assert gaps[f"{block}, own"][0] < 0.8 * gap
    assert gaps[f"{block}, other"][0] > 0.97 * gap
