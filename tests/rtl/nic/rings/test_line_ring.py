"""The send ring that is pulled: lines found at any moment, none lost, none looked at in vain."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.layouts.packet import HEADER, Protocol
from nicbed.layouts.rings import LINE_BYTES, LINE_WORD
from nicbed.layouts.trace import Kind
from nicbed.rtl.nic.rings.line_ring import LineRing
from nicbed.rtl.nic.rings.send_dma import SendDma

from tests.labs.bench import Sink, cycles, parameters, reset_and_clock, run_bench, seed, within
from tests.labs.rows import more
from tests.models.nic import BurstMemory, Events

BASE, REPORT, BUFFERS, NODE = 0x1000, 0x200, 0x8000, 5


class Image(bytearray):
    """Memory that knows which lines a CPU holds dirty: none that the NIC has read since."""

    dirty: set[int]

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice) and place.start is not None:
            self.dirty.discard(place.start)
        return super().__getitem__(place)


class Cpu:
    """Stores as a program on a coherent bus does. A line that is dirty in its cache it need not
    take; else the NIC is told in the last cycle of the store. What was stored is there from the
    next cycle on. At first all lines are dirty: somebody has cleared them."""

    def __init__(self, dut: Any, ring: int) -> None:
        self.dut = dut
        self.image = Image(1 << 16)
        self.image.dirty = {BASE + LINE_BYTES * index for index in range(ring)}
        self.ring = ring
        self.posted = 0
        self.edge = RisingEdge(dut.clk)

    async def take(self, number: int, data: bytes = b"") -> None:
        """Store ``data`` at the beginning of a line."""
        dut, image = self.dut, self.image
        line = BASE + LINE_BYTES * (number % self.ring)
        dut.watched__0__address.value = line
        hit = line in image.dirty
        dut.watched__0__valid.value = int(not hit)
        await self.edge
        image[line:line + len(data)] = data
        # It was read in the store's own cycle: the NIC is told late.
        late = hit and line not in image.dirty
        dut.watched__0__valid.value = int(late)
        if not late:
            image.dirty.add(line)
        await self.edge
        dut.watched__0__valid.value = 0

    async def store(self, rng: random.Random, *, body: bytes, payload: bytes | None = None,
                    length: int | None = None) -> list[int]:
        """Store the next descriptor; the words that the lane gets for it."""
        number, trace = self.posted, self.posted + 1
        behind = body + (payload or b"")
        length = len(behind) if length is None else length
        words = [body[at:at + 8].ljust(8, b"\0") for at in range(0, 24, 8)]
        if payload is not None:
            source = BUFFERS + number % 16 * 256 + rng.randrange(16)
            self.image[source:source + len(payload)] = payload
            words[2] = source.to_bytes(8, "little")
        first = LINE_WORD.pack(route=0x4321, length=length, protocol=Protocol.AM,
                               payload=int(payload is not None), destination=3, trace=trace,
                               phase=1 - number // self.ring % 2)
        self.posted += 1
        await self.take(number, first.to_bytes(8, "little") + b"".join(words))
        header = HEADER.pack(route=0x4321, length=length, source=NODE, destination=3,
                             protocol=Protocol.AM)
        return [header, *(int.from_bytes(behind[n:n + 8], "little")
                          for n in range(0, len(behind), 8))]


@cocotb.test()
async def loses_nothing(dut: Any) -> None:
    values = parameters()
    ring = values["ring"]
    await reset_and_clock(dut, registers__base=BASE, max_beats=32, registers__report=REPORT,
                          pull__enable=1, pull__node=NODE)
    rng = random.Random(seed())
    cpu = Cpu(dut, ring)
    memory = BurstMemory(dut, "bus", cpu.image, stall=values["stall"], seed=seed(),
                         setup=values["setup"])
    sink = Sink(dut, "lane__words", stall=values["o_stall"], seed=seed() + 1)
    traces = Sink(dut, "lane__traces")
    events = Events(dut, "event")
    good: list[int] = []
    want: list[int] = []
    count = values["count"]
    refused = 0

    async def merge() -> None:
        nonlocal refused
        merged = 0
        while True:
            await RisingEdge(dut.clk)
            refused += int(dut.lane__skip.value)
            merged += int(dut.lane__skip.value)
            merged += int(dut.lane__traces__valid.value) & int(dut.lane__traces__ready.value)
            dut.lane__merged.value = merged & 0xFFFF

    cocotb.start_soon(merge())
    if values["early"]:
        want += await cpu.store(rng, body=rng.randbytes(24))
        good.append(1)
    dut.registers__enable.value = 1
    while cpu.posted < count:
        await cycles(dut, rng.choice((1, 1, 2, 3, rng.randrange(1, 60), rng.randrange(1, 300))))
        if rng.random() < values["noise"]:
            # Taken, and nothing new in it: a CPU that stores twice, or to another line.
            await cpu.take(cpu.posted + rng.choice((0, 0, 1, -1, rng.randrange(ring))))
            continue
        for _ in range(30000):
            if cpu.posted - int(dut.registers__done.value) < ring:
                break
            await RisingEdge(dut.clk)
        assert cpu.posted - int(dut.registers__done.value) < ring, "a descriptor is not seen"
        kind = rng.choice(("inline", "inline", "payload", "bad"))
        if kind == "bad" and values["noise"]:
            await cpu.store(rng, body=b"", length=rng.choice((25, 32, 300)))
            continue
        if kind == "payload":
            words = await cpu.store(rng, body=rng.randbytes(16),
                                    payload=rng.randbytes(rng.choice((1, 8, 60))))
        else:
            words = await cpu.store(rng, body=rng.randbytes(rng.randrange(25)))
        good.append(cpu.posted)
        want += words
    got = await within(200000, sink.receive(len(want)))
    at = 0
    for number in good:
        length = HEADER.unpack(got[at])["length"]
        words = -(-length // 8)
        if length % 8:
            got[at + words] &= (1 << 8 * (length % 8)) - 1
        assert got[at:at + 1 + words] == want[at:at + 1 + words], f"descriptor {number}"
        at += 1 + words
    assert await within(5000, traces.receive(len(good))) == good
    for _ in range(3000):
        if int(dut.registers__done.value) == count and dut.idle.value == 1:
            break
        await RisingEdge(dut.clk)
    assert int(dut.registers__done.value) == count and dut.idle.value == 1
    assert refused == count - len(good)
    assert [data for place, data in memory.writes if place == REPORT][-1] == count
    assert [number for _, _, kind, number, _ in events.seen if kind == Kind.END] == good
    looks = sum(BASE <= request["address"] < BASE + LINE_BYTES * ring
                for request in memory.requests)
    assert looks >= count
    if not values["noise"]:
        # One look in vain at each line of the first lap; what comes while it is on its way may add
        # one, and save one.
        assert count + 1 <= looks <= count + ring + values["early"]


@cocotb.test()
async def looks_once_a_message(dut: Any) -> None:
    """In steady state, one read of one line a message, none while nothing is stored."""
    await reset_and_clock(dut, registers__base=BASE, max_beats=4, pull__enable=1, pull__node=NODE,
                          registers__enable=1)
    cpu = Cpu(dut, 8)
    memory = BurstMemory(dut, "bus", cpu.image)
    Sink(dut, "lane__words")
    Sink(dut, "lane__traces")
    rng = random.Random(1)
    await cycles(dut, 100)
    assert len(memory.requests) == 1 and dut.idle.value == 1
    for number in range(20):
        await cpu.store(rng, body=rng.randbytes(24))
        await cycles(dut, 60)
        # The first lap looks at the line that comes next, too: it may be anybody's.
        in_vain = min(8, 2 + number)
        assert len(memory.requests) == 1 + number + in_vain
        assert int(dut.registers__done.value) == 1 + number
        assert memory.requests[-1]["beats"] == 4 and dut.idle.value == 1
    assert int(dut.accepted.value) == 20


@cocotb.test()
async def needs_no_order(dut: Any) -> None:
    """A line taken long before its descriptor is in it, as by a CPU that builds ahead, is dirty in
    its cache: the NIC is told nothing of the store that counts, unless it has read the line."""
    await reset_and_clock(dut, registers__base=BASE, max_beats=4, pull__enable=1, pull__node=NODE,
                          registers__enable=1)
    cpu = Cpu(dut, 8)
    BurstMemory(dut, "bus", cpu.image)
    Sink(dut, "lane__words")
    Sink(dut, "lane__traces")
    rng = random.Random(1)
    for number in range(24):
        await cpu.store(rng, body=rng.randbytes(24))
        await cpu.take(number + 2)
        await cycles(dut, 60)
        assert int(dut.registers__done.value) == 1 + number


@cocotb.test()
async def is_still_a_ring_with_doorbells(dut: Any) -> None:
    """Without ``pull``, what is watched starts nothing."""
    await reset_and_clock(dut, registers__base=BASE, max_beats=32, registers__enable=1)
    cpu = Cpu(dut, 8)
    memory = BurstMemory(dut, "bus", cpu.image)
    await cpu.take(0)
    await cycles(dut, 50)
    assert memory.requests == [] and dut.idle.value == 1
    dut.registers__posted.value = 2
    await cycles(dut, 50)
    assert [request["beats"] for request in memory.requests] == [16]


@pytest.mark.parametrize("ring, stall, o_stall, setup, noise, early, number", [
    more(8, 0.0, 0.0, 2, 0.0, 0, 1), (4, 0.3, 0.3, 5, 0.3, 1, 2), (16, 0.0, 0.8, 12, 0.5, 0, 3),
    more(8, 0.5, 0.0, 0, 0.6, 1, 4)])
def test_loses_nothing(ring: int, stall: float, o_stall: float, setup: int, noise: float,
                       early: int, number: int) -> None:
    run_bench(SendDma(fifo_bytes=256, mtu=128, ring=ring, coherent=1), __file__,
              testcase="loses_nothing", seed=number, ring=ring, stall=stall, o_stall=o_stall,
              setup=setup, noise=noise, early=early, count=150)


@pytest.mark.parametrize("testcase", ["looks_once_a_message", "needs_no_order",
                                      "is_still_a_ring_with_doorbells"])
def test_ring(testcase: str) -> None:
    run_bench(SendDma(fifo_bytes=256, mtu=128, ring=8, coherent=1), __file__, testcase=testcase)


def test_parameters_are_readable() -> None:
    made = SendDma(fifo_bytes=256, mtu=128, ring=8, coherent=1)
    assert made.coherent and not SendDma(fifo_bytes=256, mtu=128, ring=8).coherent
    assert LineRing(ring=8).ring == 8
