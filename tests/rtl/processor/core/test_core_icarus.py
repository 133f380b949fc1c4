"""The subsystem on Icarus, where what was never written is unknown: nothing unknown gets far."""

from typing import Any

import cocotb
import pytest
from nicbed.layouts.processor import STATUS, CrashReason, State, mmio_address

from tests.labs.bench import cycles, parameters, reset_and_clock, run_bench
from tests.labs.processor import ProcessorTop, assemble, isa
from tests.labs.rows import more
from tests.models.riscv import Machine
from tests.programs.riscv import random_code


@cocotb.test()
async def runs(dut: Any) -> None:
    image = bytes.fromhex(parameters()["image"])
    await reset_and_clock(dut, divider=1)
    for at in range(0, len(image), 8):
        dut.window_valid.value = 1
        dut.window_write.value = 1
        dut.window_address.value = at
        dut.window_data.value = int.from_bytes(image[at:at + 8], "little")
        await cycles(dut, 1)
    dut.window_valid.value = 0
    dut.run.value = 1
    for _ in range(400):
        await cycles(dut, 100)
        assert dut.status.value.is_resolvable and dut.idle.value.is_resolvable
        found = STATUS.unpack(int(dut.status.value))
        if found["state"] == State.CRASHED:
            break
    assert found["reason"] == CrashReason.PANIC
    got = b""
    for at in range(0, len(image), 8):
        dut.window_valid.value = 1
        dut.window_write.value = 0
        dut.window_address.value = at
        await cycles(dut, 1)
        dut.window_valid.value = 0
        await cycles(dut, 1)
        got += int(dut.window_read.value).to_bytes(8, "little")
    assert got.hex() == parameters()["expected"]


@pytest.mark.parametrize("core", ["picorv32", more("vexriscv"), more("serv")])
def test_runs(core: str) -> None:
    image = assemble(random_code(11, isa(core).endswith("+m"), 150), isa(core))
    image += bytes(-len(image) % 8)
    model = Machine(image)
    model.run(mmio_address("crash"))
    run_bench(ProcessorTop(core=core), __file__, testcase="runs", image=image.hex(),
              expected=model.memory[:len(image)].hex())
