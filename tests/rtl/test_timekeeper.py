"""The timekeeper and the timing registers."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge
from nicbed.layouts.description import Description
from nicbed.layouts.timing import TIMING_REGISTERS, timing_values
from nicbed.rtl.parts.timing_registers import TimingRegisters
from nicbed.rtl.timekeeper import Timekeeper

from tests.labs.bench import parameters, reset_and_clock, run_bench, seed

NEVER = (1 << 32) - 1


@cocotb.test()
async def counts_skips_and_asks(dut: Any) -> None:
    ports = parameters()["ports"]
    await reset_and_clock(dut)
    falling, rising = FallingEdge(dut.clk), RisingEdge(dut.clk)
    for turn in range(20):
        rng = random.Random(seed() * 100 + turn)
        await falling
        dut.rst.value = 1
        await falling
        dut.rst.value = 0
        limit = rng.choice([0, rng.randint(1, 3000), rng.randint(1 << 33, 1 << 40)])
        skip = rng.randrange(2)
        dut.limit.value, dut.skip_enable.value = limit, skip
        cycle, attention, expired, jumps = 0, 0, 0, 0
        for _ in range(300):
            quiet = rng.random() < 0.5
            distances = [rng.choice([0, 1, rng.randrange(50), rng.getrandbits(32), NEVER, NEVER])
                         for _ in range(ports)]
            asks = [int(rng.random() < 0.1) for _ in range(ports)]
            needs = [int(rng.random() < 0.1) for _ in range(ports)]
            dut.quiescent.value = int(quiet)
            for port in range(ports):
                getattr(dut, f"distance__{port}").value = distances[port]
                getattr(dut, f"asks__{port}").value = asks[port]
                getattr(dut, f"needs__{port}").value = needs[port]
            await rising
            assert int(dut.cycle.value) == cycle
            assert int(dut.now.value) == cycle & NEVER
            assert int(dut.attention.value) == attention
            assert int(dut.expired.value) == expired
            assert int(dut.stall.value) == int(any(needs) or expired)
            step = 1
            if quiet and skip:
                ways = [distance for distance in distances if distance != NEVER]
                if limit:
                    ways.append(min(limit - cycle, NEVER) if limit > cycle else 1)
                step = max(1, min(ways, default=1))
                jumps += step > 1
            cycle += step
            if expired:
                break
            if any(asks) or cycle == limit:
                attention ^= 1
            expired |= cycle == limit
            assert not limit or cycle <= limit
            await falling
        assert jumps or not skip or limit


@pytest.mark.parametrize("ports", [1, 2, 5])
def test_timekeeper(ports: int) -> None:
    run_bench(Timekeeper(ports=ports), __file__, testcase="counts_skips_and_asks", ports=ports)


@cocotb.test()
async def holds_what_was_written(dut: Any) -> None:
    await reset_and_clock(dut)
    falling = FallingEdge(dut.clk)
    rng = random.Random(seed())

    def read() -> list[int]:
        bits, values = int(dut.timing.value), []
        for register in TIMING_REGISTERS:
            values.append(bits & (1 << register.width) - 1)
            bits >>= register.width
        return values

    # What the bench drives at time 0 is unknown to a register that knows no reset.
    values = timing_values(Description())
    for register, value in zip(TIMING_REGISTERS, values, strict=True):
        await falling
        dut.we.value, dut.index.value, dut.data.value = 1, register.index, value
    await falling
    assert read() == values
    for _ in range(300):
        index, data = rng.randrange(len(values) + 3), rng.getrandbits(32)
        dut.index.value, dut.data.value = index, data
        dut.we.value = write = rng.randrange(2)
        dut.rst.value = rng.randrange(2)
        if write and index < len(values):
            values[index] = data & (1 << TIMING_REGISTERS[index].width) - 1
        await falling
        assert read() == values


def test_timing_registers() -> None:
    run_bench(TimingRegisters(description=Description()), __file__,
              testcase="holds_what_was_written")


@pytest.mark.parametrize("make, error, text", [
    (lambda: Timekeeper(ports=0), ValueError, "ports must be at least 1, not 0"),
    (lambda: Timekeeper(ports="2"), TypeError, "ports must be an integer, not '2'"),
    (lambda: TimingRegisters(description=None), TypeError, "description must be a Description"),
])
def test_refuses(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


def test_parameters_are_readable() -> None:
    assert Timekeeper(ports=3).ports == 3
    assert TimingRegisters(description=Description()).description == Description()
