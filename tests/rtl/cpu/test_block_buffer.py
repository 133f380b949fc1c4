"""Block stores of a CPU alone: exact cycles, what waits for them, and what is refused. Those of
several CPUs are in test_several_ports.py."""

from typing import Any

import cocotb
import pytest
from nicbed.layouts.operations import Flag, Op
from nicbed.rtl.cpu.block_buffer import BlockBuffer

from tests.labs.bench import run_bench
from tests.labs.port_system import Driver, Engine, PortSystem, entry
from tests.rtl.cpu.test_host_port import ALL, DEFAULTS, listed, spans, start, work

LINE = 32


def load(at: int) -> bytes:
    return entry(Op.TOUCH, address=at, length=8)


def store(at: int) -> bytes:
    return entry(Op.TOUCH, address=at, length=8, flags=Flag.STORE)


def block(at: int, lines: int = 1) -> bytes:
    return entry(Op.TOUCH, address=at, length=LINE * lines, flags=Flag.STORE | Flag.BLOCK)


REST = entry(Op.DELAY, work=work(20))


@cocotb.test()
async def take_the_promised_cycles(dut: Any) -> None:
    cases: list[tuple[bytes, int]] = [
        (block(0x40), 1), (REST, 20), (load(0x40), 14),
        # The copy in the cache goes, without a write-back if it is dirty.
        (store(0x40), 1), (block(0x40), 1), (REST, 20), (load(0x40 + 16 * LINE), 14),
        # The buffer holds a line of 4 beats for 6 cycles, that of its taking included.
        (block(0x80, 3), 13), (REST, 20),
        (block(0x80), 1), (block(0xA0), 6), (load(0x100), 14), (REST, 20),
        # Accesses to the line wait, others do not.
        (load(0xC0), 14), (block(0x80), 1), (load(0xC0), 1), (load(0x80), 4 + 14), (REST, 20),
        (block(0x80), 1), (store(0x80), 5 + 14), (REST, 20),
        (block(0x80), 1), (entry(Op.POLL, address=0x80, data=(0, ALL)), 5 + 14), (REST, 20),
        (block(0x80), 1), (entry(Op.CAS, address=0x200, data=(1, 2)), 5 + 11), (REST, 20),
        # A word that the CPU has kept is read anew.
        (entry(Op.POLL, address=0x300, data=(0, ALL)), 14),
        (entry(Op.POLL, address=0x300, data=(0, ALL)), 1),
        (block(0x300), 1), (REST, 20), (entry(Op.POLL, address=0x300, data=(0, ALL)), 14),
        (block(0x80), 1), (entry(Op.DELAY, work=work(3)), 3), (block(0xA0), 3),
    ]
    for skip in (False, True):
        driver = await start(dut)
        if skip:
            driver = Driver(dut, DEFAULTS, skip=True)
        found = await spans(driver, *([case] for case, _ in cases))
        wrong = [(number, span, expected) for number, (span, (_, expected)) in enumerate(
            zip(found, cases, strict=True)) if span != expected]
        assert not wrong, f"skip {skip}: (case, cycles, expected cycles) {wrong}"


@cocotb.test()
async def writes_pass_while_the_cpu_goes_on(dut: Any) -> None:
    """A line's read hides the write before it; the NIC is not told of a write."""
    driver = await start(dut, memory__latency=20)
    engine = Engine(dut)
    engine.start(dut)
    lines = [block(0x400 + LINE * at) for at in range(4)]
    reads = [load(0x200 + LINE * at) for at in range(4)]
    copied = await spans(driver, *([one] for pair in zip(reads, lines, strict=True)
                                   for one in pair))
    assert copied == [26, 1] * 4
    driver = await start(dut, memory__latency=20)
    engine.write(0x200, [7])
    await driver.run(listed([[REST], [block(0x200)], [REST]]))
    engine.stop()


@pytest.mark.promise("block store", "the buffer is free", "1")
@pytest.mark.parametrize("testcase", ["take_the_promised_cycles",
                                      "writes_pass_while_the_cpu_goes_on"])
def test_cycles(testcase: str) -> None:
    run_bench(PortSystem(cpu__copy_by="block"), __file__, testcase=testcase)


def test_refuses() -> None:
    with pytest.raises(ValueError, match="line_bytes must be a power of two, at least 16, not 8"):
        BlockBuffer(line_bytes=8)


def test_parameters_are_readable() -> None:
    assert BlockBuffer(line_bytes=64).line_bytes == 64
