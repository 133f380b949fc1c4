"""Inside the simulator: the one cocotb test, which executes a job."""

from typing import Any

import cocotb

from .entry import Progress, carry_out

__all__ = ["job"]


@cocotb.test()
async def job(dut: Any) -> None:
    """Execute the job."""
    def backend(wanted: dict[str, Any], _: Progress) -> Any:
        memory_bytes = wanted["description"].memory.bytes
        if wanted["sim"] == "icarus":
            from .icarus import IcarusBackend
            return IcarusBackend(dut, memory_bytes)
        from .verilator import VerilatorBackend
        return VerilatorBackend(dut, memory_bytes)

    await carry_out(backend)
