"""The send DMA engine: descriptors, payloads of any alignment, reports, refusals."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.layouts.rings import DESCRIPTOR_CONTROL
from nicbed.layouts.trace import Kind
from nicbed.rtl.nic.rings.send_dma import SendDma

from tests.labs.bench import Sink, cycles, parameters, reset_and_clock, run_bench, seed, within
from tests.labs.rows import more
from tests.models.nic import BurstMemory, Events, packet

BASE, REPORT, BUFFERS = 0x1000, 0x200, 0x20000
SLOTS, SPACE = 64, 10240
"""Payloads that lie beside each other, and the room of each."""


class Ring:
    """The host's side of the send ring: writes descriptors, tells what must come of them."""

    def __init__(self, image: bytearray, ring: int) -> None:
        self.image = image
        self.ring = ring
        self.posted = 0

    def post(self, rng: random.Random, *, inline: int, payload: int, length: int,
             trace: int) -> list[int]:
        """The words that the lane gets, if the descriptor is a good one."""
        body = rng.randbytes(min(inline, 32)), rng.randbytes(payload)
        words = packet(b"".join(body), length=length)
        source = BUFFERS + self.posted % SLOTS * SPACE + rng.randrange(16)
        at = BASE + 64 * (self.posted % self.ring)
        self.image[at:at + 64] = (
            words[0].to_bytes(8, "little") + body[0].ljust(32, b"\0")
            + source.to_bytes(8, "little")
            + DESCRIPTOR_CONTROL.pack(inline=inline, payload=payload, trace=trace)
            .to_bytes(8, "little") + rng.randbytes(8))
        self.image[source - 16:source] = rng.randbytes(16)
        self.image[source:source + payload] = body[1]
        self.image[source + payload:source + payload + 16] = rng.randbytes(16)
        self.posted += 1
        return words


@cocotb.test()
async def makes_packets(dut: Any) -> None:
    values = parameters()
    ring, mtu, burst = values["ring"], values["mtu"], values["burst"]
    await reset_and_clock(dut, registers__base=BASE, max_beats=burst // 8,
                          registers__report=REPORT)
    rng = random.Random(seed())
    image = bytearray(1 << 20)
    memory = BurstMemory(dut, "bus", image, stall=values["stall"], seed=seed(),
                         setup=rng.randrange(6), max_beats=burst // 8)
    sink = Sink(dut, "lane__words", stall=values["o_stall"], seed=seed() + 1)
    traces_out = Sink(dut, "lane__traces", stall=values["o_stall"], seed=seed() + 2)
    events = Events(dut, "event")
    edge = RisingEdge(dut.clk)
    host = Ring(image, ring)
    want: list[tuple[int, list[int], int]] = []
    verdicts: list[tuple[int, bool]] = []
    outcome = {"refused": 0, "empty": 0}

    async def merge() -> None:
        """Counts what has gone as LaneMerge does."""
        merged = gone = words = 0
        while True:
            await edge
            if dut.lane__skip.value == 1:
                outcome["refused"] += 1
                assert not verdicts[merged][1] and gone == merged
                merged, gone = merged + 1, gone + 1
            outcome["empty"] += int(dut.registers__empty.value)
            if dut.lane__words__valid.value == 1 and dut.lane__words__ready.value == 1:
                words += 1
                ahead = [n for n, (_, good) in enumerate(verdicts) if good and n >= gone]
                if words == len(next(w for n, w, _ in want if n == ahead[0])):
                    words, gone, merged = 0, ahead[0] + 1, ahead[0] + 1
            dut.lane__merged.value = merged & 0xFFFF

    cocotb.start_soon(merge())
    count = values["count"]
    while host.posted < count:
        room = ring - (host.posted - int(dut.registers__done.value))
        for _ in range(min(rng.randrange(1, ring + 1), room, count - host.posted)):
            payload = rng.choice((0, 1, 7, 8, mtu, rng.randrange(mtu + 1)))
            inline = min(rng.choice((0, 8, 16, 24, 32)) if payload else rng.randrange(33),
                         (mtu + 16 - payload) & ~7)
            length = inline + payload
            bad = rng.choice(("", "", "", "", "length", "inline", "odd", "payload"))
            if bad == "length":
                length += rng.choice((-1, 1, 8)) if length else 1
            elif bad == "inline":
                inline, payload = 33 + rng.randrange(200), 0
                length = inline
            elif bad == "odd":
                inline, payload = 13, 5
                length = 18
            elif bad == "payload":
                inline, payload = 0, mtu + 1 + rng.randrange(500)
                length = payload
            trace = host.posted + 1
            number = host.posted
            words = host.post(rng, inline=inline, payload=payload, length=length, trace=trace)
            verdicts.append((trace, not bad))
            if not bad:
                want.append((number, words, length))
        dut.registers__posted.value = host.posted & 0xFFFF
        dut.registers__enable.value = 1
        for _ in range(rng.choice((1, 50, 400))):
            await edge
        for _ in range(50000):
            if host.posted - int(dut.registers__done.value) < ring:
                break
            await edge
    total = sum(len(words) for _, words, _ in want)
    got = await within(200000, sink.receive(total))
    for number, words, length in want:
        mine, got = got[:len(words)], got[len(words):]
        keep = (1 << 8 * (length % 8 or 8)) - 1
        if length:
            mine[-1] &= keep
        assert mine == words, f"descriptor {number}"
    assert await within(5000, traces_out.receive(len(want))) == [n + 1 for n, _, _ in want]
    for _ in range(2000):
        if int(dut.registers__done.value) == count and dut.idle.value == 1:
            break
        await edge
    assert int(dut.registers__done.value) == count and dut.idle.value == 1
    assert outcome["refused"] == count - len(want) and outcome["empty"] >= 1
    reports = [data for place, data in memory.writes if place == REPORT]
    assert len(reports) == len(memory.writes) and reports[-1] == count
    assert reports == sorted(set(reports))
    kinds: list[tuple[int, int]] = []
    for trace, good in verdicts:
        kinds += [(Kind.BEGIN, trace), (Kind.END, trace)] if good else [(Kind.DROP, trace)]
    assert [(kind, number) for _, _, kind, number, _ in events.seen] == kinds


@cocotb.test()
async def fetches_in_batches(dut: Any) -> None:
    """Two posted, then six: never across a multiple of four, nor more than are free."""
    await reset_and_clock(dut, registers__base=BASE, max_beats=32, registers__enable=1)
    image = bytearray(1 << 20)
    memory = BurstMemory(dut, "bus", image)
    Sink(dut, "lane__words")
    Sink(dut, "lane__traces")
    host, rng = Ring(image, 16), random.Random(1)
    for trace in range(2):
        host.post(rng, inline=8, payload=0, length=8, trace=trace)
    dut.registers__posted.value = 2
    await cycles(dut, 100)
    for trace in range(6):
        host.post(rng, inline=8, payload=0, length=8, trace=trace)
    dut.registers__posted.value = 8
    await cycles(dut, 300)
    asked = [(request["address"] - BASE) // 64 for request in memory.requests]
    counts = [request["beats"] // 8 for request in memory.requests]
    assert asked[:2] == [0, 2] and counts[:2] == [2, 2] and len(asked) <= 4
    assert [first + n for first, count in zip(asked, counts, strict=True)
            for n in range(count)] == [*range(8)]
    assert int(dut.registers__done.value) == 8


@cocotb.test()
async def asks_only_for_what_fits(dut: Any) -> None:
    """With a link that stands still, no burst is requested that the lane could not take."""
    await reset_and_clock(dut, registers__base=BASE, max_beats=32, registers__enable=1)
    image = bytearray(1 << 20)
    memory = BurstMemory(dut, "bus", image)
    host, rng = Ring(image, 16), random.Random(1)
    for trace in range(16):
        host.post(rng, inline=16, payload=1000, length=1016, trace=trace)
    dut.registers__posted.value = 16
    await cycles(dut, 3000)
    asked = sum(request["beats"] for request in memory.requests
                if request["address"] >= BUFFERS)
    assert 3 * 126 < asked <= 512
    begun = len(memory.requests)
    await cycles(dut, 200)
    assert len(memory.requests) == begun and dut.bus__request__valid.value == 0


@cocotb.test()
async def stands_still_when_off(dut: Any) -> None:
    await reset_and_clock(dut, registers__base=BASE, max_beats=32, registers__posted=3)
    memory = BurstMemory(dut, "bus", bytearray(1 << 16))
    await cycles(dut, 100)
    assert memory.requests == [] and dut.idle.value == 1


def test_all() -> None:
    """Every case above in one simulation."""
    run_bench(SendDma(fifo_bytes=4096, mtu=1024, ring=16), __file__, seed=2, mtu=1024, ring=16,
              burst=64, stall=0.3, o_stall=0.6, count=24)


@pytest.mark.parametrize("fifo, mtu, ring, burst, stall, o_stall, number", [
    more(4096, 1024, 256, 256, 0.0, 0.0, 1),
    more(4096, 1024, 8, 64, 0.3, 0.6, 2),
    (128, 64, 4, 256, 0.2, 0.3, 3),
    more(128, 96, 4, 256, 0.0, 0.9, 4),
    (128, 64, 4, 8, 0.1, 0.5, 5),
    more(256, 64, 16, 40, 0.0, 0.0, 6),
    more(2048, 1024, 4, 4096, 0.0, 0.2, 7),
    more(2048, 1500, 4, 256, 0.0, 0.2, 8),
    more(16384, 9000, 4, 4096, 0.0, 0.0, 9)])
def test_makes_packets(fifo: int, mtu: int, ring: int, burst: int, stall: float, o_stall: float,
                       number: int, request: pytest.FixtureRequest) -> None:
    count = (40 if mtu > 100 else 100) if request.config.getoption("--full") else 50
    run_bench(SendDma(fifo_bytes=fifo, mtu=mtu, ring=ring), __file__, testcase="makes_packets",
              seed=number, mtu=mtu, ring=ring, burst=burst, stall=stall, o_stall=o_stall,
              count=count)


def test_constructor() -> None:
    with pytest.raises(ValueError, match="ring must be a power of two, at least 4, not 2"):
        SendDma(fifo_bytes=4096, mtu=1024, ring=2)
    with pytest.raises(ValueError, match="fifo_bytes = 128: must hold a packet of 280 bytes"):
        SendDma(fifo_bytes=128, mtu=256, ring=4)
    made = SendDma(fifo_bytes=4096, mtu=1024, ring=4)
    assert (made.fifo_bytes, made.mtu, made.ring) == (4096, 1024, 4)
