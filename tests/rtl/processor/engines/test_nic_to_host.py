"""The engine N2H: every alignment, any length, completion words last, bounds, speed."""

import random
from typing import Any

import cocotb
import pytest
from nicbed.layouts.processor import StartFlag
from nicbed.layouts.trace import Kind
from nicbed.rtl.bus.burst import BurstRequest, BurstWord
from nicbed.rtl.processor.engines.nic_to_host import NicToHost

from tests.labs.bench import Monitor, parameters, reset_and_clock, run_bench, seed
from tests.labs.rows import more
from tests.models.nic import BurstMemory, Events
from tests.models.processor_engines import Firmware, WideMemory

NIC, HOST = 1 << 14, 1 << 17


@cocotb.test()
async def copies(dut: Any) -> None:
    values = parameters()
    beats, stall = values["burst"] // 8, values["stall"]
    rng = random.Random(seed())
    await reset_and_clock(dut, max_beats=beats)
    host = bytearray(rng.randbytes(HOST))
    image = rng.randbytes(NIC)
    bus = BurstMemory(dut, "bus", bytearray(host), stall=stall, seed=seed(), setup=rng.randrange(9),
                      max_beats=beats)
    memory = WideMemory(dut, "memory", bytearray(image), stall=stall, seed=seed() + 1)
    monitors = [Monitor(dut, "bus__request", shape=BurstRequest),
                Monitor(dut, "bus__write", shape=BurstWord)]
    events = Events(dut, "events__0", "events__1")
    firmware = Firmware(dut, stall=stall, seed=seed() + 2)
    want_events = []
    # What each burst must write, as (address, beats, jump).
    bursts = []
    commands = [(a, b, n, 0) for a in range(8) for b in range(8) for n in (0, 1, 9, 16)]
    commands += [(16, 32, n, 1) for n in (0, *range(8, 20), 64, 72, 80)]
    commands += [(rng.randrange(NIC), rng.randrange(HOST), rng.choice(
        [rng.randrange(64), rng.randrange(2000)]), rng.random() < 0.4)
        for _ in range(values["commands"])]
    for number, (a, b, n, last) in enumerate(commands):
        if last:
            a, b, n = a & ~7, b & ~7, n if n >= 8 else 0
        n = min(n, NIC - a, HOST - b)
        firmware.post({"host": b, "local": a, "length": n, "trace": number + 1,
                       "flags": StartFlag.FIRST_LAST if last else 0})
        host[b:b + n] = image[a:a + n]
        want_events += [("events__0", Kind.BEGIN, number + 1), ("events__1", Kind.END, number + 1)]
        left = (b + n - 1) // 8 - b // 8 + 1 if n else 0
        at = b // 8 + bool(last)
        while left:
            size = min(left, beats)
            left -= size
            bursts.append((8 * at, size, b if last and not left else None))
            at += size
    await firmware.finish(len(commands), 60_000)
    assert bus.image == host
    assert memory.image == image
    assert [(port, kind, number) for _, port, kind, number, _ in events.seen] == want_events
    assert [(request["address"], request["beats"]) for request in bus.requests] == [
        (at, size) for at, size, _ in bursts]
    done = 0
    for _, size, jump in bursts:
        done += size
        if jump is not None:
            assert bus.writes[done - 1][0] == jump, "the completion word is the last"
    assert done == len(bus.writes)
    for monitor in monitors:
        monitor.check()


@cocotb.test()
async def refuses(dut: Any) -> None:
    """What is out of bounds or misaligned ends without an access; what comes after it is done."""
    await reset_and_clock(dut, max_beats=8)
    image = random.Random(1).randbytes(NIC)
    bus = BurstMemory(dut, "bus", bytearray(HOST), max_beats=8)
    memory = WideMemory(dut, "memory", bytearray(image))
    events = Events(dut, "events__0", "events__1")
    firmware = Firmware(dut)
    first_last = StartFlag.FIRST_LAST
    firmware.post({"host": 0, "local": NIC - 7, "length": 8, "trace": 1},
                  {"host": HOST - 7, "local": 0, "length": 8, "trace": 2},
                  {"host": 0xFFFF_FFFF, "local": 0, "length": 65535, "trace": 3},
                  {"host": 8, "local": 20, "length": 16, "flags": first_last, "trace": 4},
                  {"host": 12, "local": 16, "length": 16, "flags": first_last, "trace": 5},
                  {"host": 24, "local": 16, "length": 7, "flags": first_last, "trace": 6},
                  {"host": HOST - 8, "local": NIC - 8, "length": 8, "trace": 7})
    await firmware.finish(7, 200)
    assert [address for _, address in firmware.errors] == [NIC - 7, HOST - 7, 0, 20, 12, 24]
    assert len(bus.requests) == len(memory.accesses) == 1
    assert bus.image == bytes(HOST - 8) + image[-8:]
    assert [(kind, number, arg) for _, _, kind, number, arg in events.seen] == [
        *((Kind.DROP, number, 5) for number in range(1, 7)), (Kind.BEGIN, 7, 0), (Kind.END, 7, 0)]


@cocotb.test()
async def is_fast(dut: Any) -> None:
    """Latencies, and a beat a cycle."""
    await reset_and_clock(dut, max_beats=32)
    bus = BurstMemory(dut, "bus", bytearray(HOST), setup=3, max_beats=32)
    memory = WideMemory(dut, "memory", bytearray(NIC))
    firmware = Firmware(dut)
    beats = Monitor(dut, "bus__write", shape=BurstWord)
    for a, b, flags in ((0, 0, 0), (0, 0, 1), (3, 6, 0), (6, 3, 0)):
        for seen in (memory.accesses, bus.request_cycles, firmware.source.cycles, beats.cycles):
            seen.clear()
        before = firmware.ended
        firmware.post(*({"host": b, "local": a, "length": 2048, "flags": flags}, ) * 2)
        await firmware.finish(before + 2, 2000)
        assert bus.request_cycles[0] - firmware.source.cycles[0] == 2
        assert beats.cycles[0] - bus.request_cycles[0] == 4, "the word is there when the bus is"
        spent = beats.cycles[-1] - bus.request_cycles[0]
        # A burst has 3 + 2 cycles around its beats in the model, 1 more between bursts, 2 between
        # commands; the run of the first word costs 1.
        bursts = 16 if b == 0 else 18
        assert spent <= 2 * (256 + (b != 0) + flags) + 6 * bursts + 3, spent


@pytest.mark.parametrize("burst, stall", [more(256, 0.0), (8, 0.2), more(64, 0.5), (4096, 0.1)])
def test_copies(burst: int, stall: float) -> None:
    run_bench(NicToHost(memory_bytes=NIC, host_bytes=HOST), __file__, testcase="copies",
              burst=burst, stall=stall, commands=60, seed=burst)


@pytest.mark.parametrize("testcase", ["refuses", "is_fast"])
def test_rules(testcase: str) -> None:
    run_bench(NicToHost(memory_bytes=NIC, host_bytes=HOST), __file__, testcase=testcase)
