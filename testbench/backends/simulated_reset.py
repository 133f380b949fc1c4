"""Reset of a target in a simulator that cocotb drives."""

from collections.abc import Callable
from typing import Any

from .switches import Switches

__all__ = ["reset"]


async def reset(dut: Any, switches: Switches, restart: Callable[[], None]) -> None:
    """Reset with the timing registers set. Returns while the clock is low, just after the end of
    reset.

    ``restart`` is called when reset is asserted, before its first edge.
    """
    from cocotb.triggers import FallingEdge, RisingEdge
    rising, falling = RisingEdge(dut.clk), FallingEdge(dut.clk)
    dut.rst.value = 1
    dut.trace_enable.value = int(switches.trace)
    dut.profile_enable.value = int(switches.profile)
    dut.skip_enable.value = int(switches.skip)
    dut.limit.value = switches.limit
    dut.cfg_we.value = 0
    restart()
    await rising
    for register, value in zip(switches.registers, switches.timing, strict=True):
        dut.cfg_we.value = 1
        dut.cfg_index.value = register.index
        dut.cfg_data.value = value
        await rising
    dut.cfg_we.value = 0
    await rising
    await rising
    await falling
    dut.rst.value = 0
