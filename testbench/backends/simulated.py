"""Inside the simulator: the one cocotb test, which executes a job."""

import os
from typing import Any

import cocotb

from . import forked
from .entry import Progress, carry_out

__all__ = ["job"]

COMMON = ("nicbed.testbench.lab", "nicbed.testbench.backends.verilator")
"""Modules that every job needs."""


@cocotb.test()
async def job(dut: Any) -> None:
    """Execute the job, or jobs as they come, each in a fork."""
    in_a_fork = forked.JOBS in os.environ
    if in_a_fork and not forked.job_has_come(COMMON):
        return

    def backend(wanted: dict[str, Any], _: Progress) -> Any:
        memory_bytes = wanted["description"].memory.bytes
        if wanted["sim"] == "icarus":
            from .icarus import IcarusBackend
            return IcarusBackend(dut, memory_bytes)
        from .verilator import VerilatorBackend
        return VerilatorBackend(dut, memory_bytes)

    if not in_a_fork:
        await carry_out(backend)
        return
    try:
        await carry_out(backend)
    except BaseException as error:
        forked.end(error)
    forked.end(None)
