"""The UART: bytes at several rates, noise, line breaks, no pauses."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge, Timer
from nicbed.rtl.boards.line.uart import UartReceiver, UartTransmitter

from tests.labs.bench import (
    PERIOD,
    Source,
    cycles,
    parameters,
    reset_and_clock,
    run_bench,
    seed,
    within,
)
from tests.labs.rows import more


@cocotb.test()
async def receives(dut: Any) -> None:
    divisor, skew = parameters()["divisor"], parameters()["skew"]
    rng = random.Random(seed())
    await reset_and_clock(dut, rx=1)
    seen: list[int | str] = []

    async def bytes_seen() -> None:
        pulse, edge = RisingEdge(dut.o__valid), RisingEdge(dut.clk)
        while True:
            await pulse
            await edge
            seen.append(int(dut.o__payload.value))
            assert dut.o__valid.value == 1 and dut.broken.value == 0
            await edge
            assert dut.o__valid.value == 0

    async def breaks_seen() -> None:
        pulse, edge = RisingEdge(dut.broken), RisingEdge(dut.clk)
        while True:
            await pulse
            seen.append("broken")
            await edge
            await edge
            assert dut.broken.value == 0

    # By picoseconds: the line knows nothing of the clock, and has a rate that is a little off.
    bit = round(1000 * PERIOD * divisor * (1 + skew))

    async def send(byte: int, stop: int = 1) -> None:
        for level in (0, *(byte >> place & 1 for place in range(8)), stop):
            dut.rx.value = level
            await Timer(bit, unit="ps")

    async def rest(bits: float) -> None:
        dut.rx.value = 1
        await Timer(max(1, round(bit * bits)), unit="ps")

    watching = [cocotb.start_soon(bytes_seen()), cocotb.start_soon(breaks_seen())]
    await rest(rng.random())
    sent = [rng.randrange(256) for _ in range(28)] + [0, 0xFF, 0x55, 0xAA]
    for place, byte in enumerate(sent):
        await send(byte)
        if place % 8 == 7:
            await rest(rng.random() * 3)
    await rest(2)
    assert seen == sent

    seen.clear()
    for byte in (0x00, 0xA5, 0xFF):
        await send(byte, stop=0)
        await Timer(round(bit * rng.choice([0.1, 1, 12])), unit="ps")
        await rest(2)
        await send(0x5A)
    await rest(2)
    assert seen == ["broken", 0x5A] * 3, "a line held low is one broken byte"

    seen.clear()
    widths = sorted({1, divisor // 2})
    for width in widths:
        dut.rx.value = 0
        await Timer(1000 * PERIOD * width - 1, unit="ps")
        await rest(12)
        await send(width)
        await rest(4)
    assert seen == widths, "less than half a bit is no byte"
    for task in watching:
        task.cancel()


@cocotb.test()
async def transmits(dut: Any) -> None:
    divisor, stall = parameters()["divisor"], parameters()["stall"]
    rng = random.Random(seed())
    await reset_and_clock(dut)
    source = Source(dut, "i", stall=stall, seed=seed())
    levels: list[int] = []

    async def watch() -> None:
        edge = RisingEdge(dut.clk)
        while True:
            await edge
            levels.append(int(dut.tx.value))
            assert dut.idle.value == 0 or dut.tx.value == 1

    await cycles(dut, 3)
    assert dut.tx.value == 1 and dut.idle.value == 1
    watching = cocotb.start_soon(watch())
    sent = [rng.randrange(256) for _ in range(28)] + [0, 0xFF, 0x55, 0xAA]
    source.send(*sent)
    await within(100 * 10 * divisor + 5000, source.drain())
    await cycles(dut, 11 * divisor)
    watching.cancel()
    assert dut.idle.value == 1

    got, starts, at = [], [], 0
    while 0 in levels[at:]:
        at = levels.index(0, at)
        starts.append(at)
        bits = [levels[at + place * divisor:at + (place + 1) * divisor] for place in range(10)]
        assert all(len(set(bit)) == 1 for bit in bits), "a bit has its whole width"
        assert bits[0][0] == 0 and bits[9][0] == 1
        got.append(sum(bits[place + 1][0] << place for place in range(8)))
        at += 10 * divisor
    assert got == sent
    if not stall:
        assert starts == [starts[0] + 10 * divisor * place for place in range(len(sent))]


@pytest.mark.parametrize("divisor, skew", [
    (2, 0.0), (3, 0.015), (17, -0.03),
    *(more(*case)
      for case in [(3, -0.015), (16, 0.03), (16, 0.0), (217, 0.03)])])
def test_receives(divisor: int, skew: float) -> None:
    run_bench(UartReceiver(divisor=divisor), __file__, testcase="receives", divisor=divisor,
              skew=skew)


@pytest.mark.parametrize("divisor, stall", [
    (2, 0.0), (16, 0.9),
    *(more(*case) for case in [(3, 0.0), (3, 0.99), (17, 0.0)])])
def test_transmits(divisor: int, stall: float) -> None:
    run_bench(UartTransmitter(divisor=divisor), __file__, testcase="transmits", divisor=divisor,
              stall=stall)


@pytest.mark.parametrize("part", [UartReceiver, UartTransmitter])
def test_divisor_is_an_integer_of_at_least_2(part: Any) -> None:
    with pytest.raises(TypeError, match="divisor must be an integer, not 2.5"):
        part(divisor=2.5)
    with pytest.raises(ValueError, match="divisor must be at least 2, not 1"):
        part(divisor=1)
    assert part(divisor=7).divisor == 7
