"""The engine H2N: every alignment, any length, bounds, speed."""

import random
from typing import Any

import cocotb
import pytest
from nicbed.layouts.trace import Kind
from nicbed.rtl.processor.engines.host_to_nic import HostToNic

from tests.labs.bench import parameters, reset_and_clock, run_bench, seed, within
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
    image = bytearray(rng.randbytes(NIC))
    bus = BurstMemory(dut, "bus", bytearray(host), stall=stall, seed=seed(), setup=rng.randrange(6),
                      max_beats=beats)
    memory = WideMemory(dut, "memory", bytearray(image), stall=stall, seed=seed() + 1)
    events = Events(dut, "events__0", "events__1")
    firmware = Firmware(dut, stall=stall, seed=seed() + 2)
    want_events = []
    bursts = words = 0
    commands = [(a, b, n) for a in range(8) for b in range(8) for n in (0, 1, 9, 16)]
    commands += [(rng.randrange(HOST), rng.randrange(NIC), rng.choice(
        [rng.randrange(64), rng.randrange(2000)])) for _ in range(values["commands"])]
    for number, (a, b, n) in enumerate(commands):
        n = min(n, NIC - b, HOST - a)
        firmware.post({"host": a, "local": b, "length": n, "trace": number + 1})
        image[b:b + n] = host[a:a + n]
        want_events += [("events__0", Kind.BEGIN, number + 1), ("events__1", Kind.END, number + 1)]
        if n:
            beats_in = (a + n - 1) // 8 - a // 8 + 1
            bursts += -(-beats_in // beats)
            words += (b + n - 1) // 8 - b // 8 + 1
    await firmware.finish(len(commands), 60_000)
    assert memory.image == image
    assert [(port, kind, number) for _, port, kind, number, _ in events.seen] == want_events
    assert len(bus.requests) == bursts, "as few bursts as max_burst allows"
    assert len(memory.accesses) == words and firmware.errors == []


@cocotb.test()
async def refuses(dut: Any) -> None:
    """What is out of bounds ends without an access; what comes after it is done."""
    await reset_and_clock(dut, max_beats=8)
    host = bytearray(random.Random(1).randbytes(HOST))
    bus = BurstMemory(dut, "bus", host, max_beats=8)
    memory = WideMemory(dut, "memory", bytearray(NIC))
    events = Events(dut, "events__0", "events__1")
    firmware = Firmware(dut)
    firmware.post({"host": 0, "local": NIC - 7, "length": 8, "trace": 1},
                  {"host": HOST - 7, "local": 0, "length": 8, "trace": 2},
                  {"host": 0xFFFF_FFFF, "local": 0xF_FFFF, "length": 65535, "trace": 3},
                  {"host": 0xFFFF_FFFF, "local": 0, "length": 1, "trace": 4},
                  {"host": HOST - 8, "local": NIC - 8, "length": 8, "trace": 5})
    await firmware.finish(5, 200)
    assert [address for _, address in firmware.errors] == [NIC - 7, HOST - 7, 0xF_FFFF, 0xFFFF_FFFF]
    assert len(bus.requests) == len(memory.accesses) == 1
    assert memory.image == bytes(NIC - 8) + host[-8:]
    assert [(kind, number, arg) for _, _, kind, number, arg in events.seen] == [
        *((Kind.DROP, number, 5) for number in (1, 2, 3, 4)), (Kind.BEGIN, 5, 0), (Kind.END, 5, 0)]


@cocotb.test()
async def clears(dut: Any) -> None:
    """Queued commands are forgotten, that under way comes to its end and is not counted."""
    from cocotb.triggers import RisingEdge
    await reset_and_clock(dut, max_beats=8)
    host = bytearray(random.Random(1).randbytes(HOST))
    bus = BurstMemory(dut, "bus", host, setup=5, max_beats=8)
    memory = WideMemory(dut, "memory", bytearray(NIC))
    firmware = Firmware(dut)
    edge = RisingEdge(dut.clk)

    async def under_way() -> None:
        while not memory.accesses:
            await edge

    firmware.post(*({"host": 0, "local": 256 * n, "length": 256} for n in range(3)))
    await within(100, under_way())
    dut.clear.value = 1
    await edge
    dut.clear.value = 0
    firmware.post({"host": 8, "local": 1024, "length": 8})
    await firmware.finish(1, 400)
    assert memory.image[:256] == host[:256] and memory.image[1024:1032] == host[8:16]
    assert memory.image[256:1024] == bytes(768) and len(bus.requests) == 5


@cocotb.test()
async def is_fast(dut: Any) -> None:
    """Latencies, and a beat a cycle."""
    await reset_and_clock(dut, max_beats=32)
    bus = BurstMemory(dut, "bus", bytearray(HOST), max_beats=32)
    memory = WideMemory(dut, "memory", bytearray(NIC))
    firmware = Firmware(dut)
    for a, b in ((0, 0), (3, 6), (6, 3)):
        memory.accesses.clear()
        bus.request_cycles.clear()
        firmware.source.cycles.clear()
        before = firmware.ended
        firmware.post(*({"host": a, "local": b, "length": 2048}, ) * 2)
        await firmware.finish(before + 2, 2000)
        assert bus.request_cycles[0] - firmware.source.cycles[0] == 2
        spent = memory.accesses[-1][0] - bus.request_cycles[0]
        # A burst has 2 cycles around its beats in the model, 1 more between bursts, 2 between
        # commands.
        bursts = 16 if a == 0 else 18
        assert spent <= 2 * (256 + (a != 0)) + 3 * bursts + 3, spent


@pytest.mark.parametrize("burst, stall", [more(256, 0.0), (8, 0.2), more(64, 0.5), (4096, 0.1)])
def test_copies(burst: int, stall: float) -> None:
    run_bench(HostToNic(memory_bytes=NIC, host_bytes=HOST), __file__, testcase="copies",
              burst=burst, stall=stall, commands=60, seed=burst)


@pytest.mark.parametrize("testcase", ["refuses", "clears", "is_fast"])
def test_rules(testcase: str) -> None:
    run_bench(HostToNic(memory_bytes=NIC, host_bytes=HOST), __file__, testcase=testcase)


@pytest.mark.parametrize("values, error", [
    ({"memory_bytes": 100, "host_bytes": 64}, "memory_bytes must be a multiple of 8"),
    ({"memory_bytes": 1 << 21, "host_bytes": 64}, "up to 1048576"),
    ({"memory_bytes": 64, "host_bytes": 1 << 33}, "host_bytes must be a multiple of 8"),
])
def test_parameters(values: dict[str, int], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        HostToNic(**values)
    with pytest.raises(TypeError, match="must be an integer"):
        HostToNic(**{**values, "host_bytes": 1.5})
