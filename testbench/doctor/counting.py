"""Tests a toy inside the simulator."""

from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles

__all__ = ["counts"]


@cocotb.test()
async def counts(dut: Any) -> None:
    """Eight edges after a value was seen the counter is eight further."""
    dut.rst.value = 1
    Clock(dut.clk, 10, unit="ns").start()
    await ClockCycles(dut.clk, 2)
    dut.rst.value = 0
    await ClockCycles(dut.clk, 2)
    before = int(dut.count.value)
    await ClockCycles(dut.clk, 8)
    assert int(dut.count.value) - before == 8
