"""Time-outs in a row double up to a bound, and the last one is told."""

from typing import Any

import cocotb
import pytest
from cocotb.triggers import Timer
from nicbed.rtl.parts.timing import Timing
from nicbed.rtl.vi.send.patience import LONGEST_DOUBLED, Patience

from tests.labs.bench import parameters, reset_and_clock, run_bench
from tests.models.vi.consumer import field


@cocotb.test()
async def doubles(dut: Any) -> None:
    timeout, most = parameters()["timeout"], parameters()["most"]
    await reset_and_clock(dut, timing=field(Timing, via_retry_timeout=timeout, via_retries=most))
    for retries in range(20):
        dut.retries.value = retries
        await Timer(1, "ns")
        assert int(dut.extension.value) == min(timeout << min(retries, 6) + 1,
                                               max(timeout, LONGEST_DOUBLED))
        assert int(dut.last.value) == (retries + 1 >= most)
        assert int(dut.silent.value) == (retries >= most)


@pytest.mark.parametrize("timeout, most", [(100, 3), (20000, 8), (LONGEST_DOUBLED + 5, 1)])
def test_doubles(timeout: int, most: int) -> None:
    run_bench(Patience(), __file__, testcase="doubles", timeout=timeout, most=most)
