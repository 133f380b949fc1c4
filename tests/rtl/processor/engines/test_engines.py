"""The four engines on one NIC memory and one bus, all at once, with the host and doorbells."""

import random
from typing import Any

import cocotb
import pytest
from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from cocotb.triggers import RisingEdge
from nicbed.layouts.processor import Engine, StartFlag
from nicbed.layouts.rate import FRACTION_BITS
from nicbed.rtl.bus.burst import Burst
from nicbed.rtl.bus.bus import Bus
from nicbed.rtl.parts.flit import Flit, FlitStream
from nicbed.rtl.parts.receive_word import ReceiveWord
from nicbed.rtl.processor.engines.host_to_nic import HostToNic
from nicbed.rtl.processor.engines.nic_receive import NicReceive
from nicbed.rtl.processor.engines.nic_send import NicSend
from nicbed.rtl.processor.engines.nic_to_host import NicToHost
from nicbed.rtl.processor.memory.memory_share import MemoryShare
from nicbed.rtl.processor.types import EnginePort, WidePort

from tests.labs.bench import (
    Sink,
    Source,
    cycles,
    parameters,
    reset_and_clock,
    run_bench,
    seed,
    within,
)
from tests.labs.rows import more
from tests.models.nic import BurstMemory, packet
from tests.models.processor_engines import Firmware, WideMemory
from tests.rtl.processor.engines.test_nic_receive import land, words_of
from tests.rtl.processor.engines.test_nic_send import cut, flits_of

NIC, HOST = 1 << 16, 1 << 18
BEATS, DMA_SETUP, LATENCY = 32, 6, 8
"""Those of the stock design point."""


class Engines(wiring.Component):
    """The engines behind a bus, the memory's share in front of a memory."""

    def __init__(self) -> None:
        super().__init__({
            **{f"{engine.name.lower()}_{name}": member for engine in Engine
               for name, member in (("port", Out(EnginePort)), ("error", Out(1)),
                                    ("error_address", Out(32)))},
            "memory": Out(WidePort),
            "host": Out(Burst()),
            "window": In(WidePort),
            "doorbell": In(WidePort),
            "tx": Out(FlitStream),
            "rx": In(stream.Signature(ReceiveWord)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.share = share = MemoryShare(clients=6)
        m.submodules.bus = bus = Bus(ports=1, engines=2)
        h2n, n2h = (make(memory_bytes=NIC, host_bytes=HOST) for make in (HostToNic, NicToHost))
        send, receive = NicSend(memory_bytes=NIC), NicReceive(memory_bytes=NIC)
        m.d.comb += [
            bus.timing.bus_dma_setup.eq(DMA_SETUP),
            bus.timing.bus_bytes_per_cycle.eq(8 << FRACTION_BITS),
            h2n.max_beats.eq(BEATS),
            n2h.max_beats.eq(BEATS),
        ]
        for client, port in zip(share.client, (self.window, self.doorbell), strict=False):
            connect(m, flipped(port), client)
        for engine, block in zip(Engine, (h2n, n2h, send, receive), strict=True):
            name = engine.name.lower()
            m.submodules[name] = block
            connect(m, block.memory, share.client[2 + engine])
            connect(m, block.port, flipped(getattr(self, f"{name}_port")))
            m.d.comb += [getattr(self, f"{name}_error").eq(block.error),
                         getattr(self, f"{name}_error_address").eq(block.error_address)]
        connect(m, h2n.bus, bus.engine[0])
        connect(m, n2h.bus, bus.engine[1])
        connect(m, bus.memory, flipped(self.host))
        connect(m, share.memory, flipped(self.memory))
        connect(m, send.o, flipped(self.tx))
        connect(m, flipped(self.rx), receive.i)
        return m


class Pages:
    """NIC memory cut into regions of which each has one writer, so that the model knows all."""

    SIZE = 8192
    H2N, N2H, SEND, RECEIVE, WINDOW, DOORBELL = range(6)

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def place(self, region: int, length: int, align: int = 1) -> int:
        return region * self.SIZE + self.rng.randrange(0, self.SIZE - length + 1, align)


async def write_words(dut: Any, name: str, image: bytearray, region: int, rng: random.Random,
                      *, share: float) -> None:
    """Random writes by ``window`` or ``doorbell`` into their region, and reads of them."""
    edge = RisingEdge(dut.clk)
    port = {part: getattr(dut, f"{name}__{part}") for part in (
        "valid", "write", "address", "data", "strobe", "ready", "read")}
    want = None
    while True:
        ask = rng.random() < share
        at = region * Pages.SIZE + 8 * rng.randrange(Pages.SIZE // 8)
        write, data, strobe = rng.getrandbits(1), rng.getrandbits(64), rng.getrandbits(8)
        port["valid"].value = int(ask)
        for part, value in (("write", write), ("address", at // 8), ("data", data),
                            ("strobe", strobe)):
            port[part].value = value
        while True:
            await edge
            if want is not None:
                assert port["read"].value == want, f"{name} read something else"
                want = None
            if not ask or port["ready"].value == 1:
                break
        if ask and write:
            for byte in range(8):
                if strobe >> byte & 1:
                    image[at + byte] = data >> 8 * byte & 0xFF
        elif ask:
            want = int.from_bytes(image[at:at + 8], "little")


async def arrive(dut: Any, source: Source, words: list[dict[str, int]], *, wait: int) -> None:
    """Packets come whole, as from the receive FIFO, at the pace of a link: ``wait`` cycles for each
    word."""
    packets: list[list[dict[str, int]]] = []
    for word in words:
        packets += [[]] if word["first"] else []
        packets[-1].append(word)
    for words in packets:
        await cycles(dut, wait * len(words))
        source.send(*words)


def prepare(rng: random.Random, image: bytearray, host: bytearray, count: int,
            length: int | None) -> tuple[dict[Engine, list[dict[str, int]]], list[Any], list[Any]]:
    """Commands for all, flits and words; ``image`` and ``host`` as they must be in the end."""
    pages = Pages(rng)
    commands: dict[Engine, list[dict[str, int]]] = {engine: [] for engine in Engine}
    flits, words = [], []
    for number in range(count):
        size = length if length is not None else rng.choice([0, 8, 64, rng.randrange(2000)])
        a, b = rng.randrange(HOST // 2 - size), pages.place(Pages.H2N, size)
        if length is not None:
            a, b = a & ~7, b & ~7
        commands[Engine.H2N].append({"host": a, "local": b, "length": size, "trace": number})
        image[b:b + size] = host[a:a + size]
        flags = StartFlag.FIRST_LAST if size >= 8 and (rng.random() < 0.5 or length) else 0
        a = pages.place(Pages.N2H, size, 8 if flags else 1)
        b = rng.randrange(HOST // 2, HOST - size, 8 if flags else 1)
        commands[Engine.N2H].append({"host": b, "local": a, "length": size, "flags": flags})
        host[b:b + size] = image[a:a + size]
        size = max(8, size)
        a = pages.place(Pages.SEND, size, 8)
        commands[Engine.SEND].append({"local": a, "length": size, "trace": number})
        flits += flits_of(image[a:a + size], number)
        content = packet(rng.randbytes(max(0, size - 16)))
        a = pages.place(Pages.RECEIVE, max(24, size), 8)
        commands[Engine.RECEIVE].append({"local": a, "length": max(24, size) & ~7})
        words += words_of(content, number)
        land(image, a, max(24, size) & ~7, content, number)
    return commands, flits, words


@cocotb.test()
async def runs_all(dut: Any) -> None:
    values = parameters()
    rng = random.Random(seed())
    count, length = values["count"], values["length"]
    await reset_and_clock(dut)
    image, host = bytearray(rng.randbytes(NIC)), bytearray(rng.randbytes(HOST))
    stall = values["stall"]
    memory = WideMemory(dut, "memory", bytearray(image), stall=stall, seed=seed() + 1)
    bus = BurstMemory(dut, "host", bytearray(host), stall=stall, seed=seed() + 2, setup=LATENCY)
    sink = Sink(dut, "tx", shape=Flit, stall=values["link"], seed=seed() + 3)
    source = Source(dut, "rx", shape=ReceiveWord, stall=0 if length else values["link"],
                    seed=seed() + 4)
    firmware = {engine: Firmware(dut, f"{engine.name.lower()}_", seed=seed() + 5 + engine)
                for engine in Engine}
    for name, region in (("window", Pages.WINDOW), ("doorbell", Pages.DOORBELL)):
        cocotb.start_soon(write_words(dut, name, image, region, random.Random(seed() + region),
                                      share=values["pio"]))
    commands, flits, words = prepare(rng, image, host, count, length)
    cocotb.start_soon(arrive(dut, source, words, wait=4 if length else 0))
    start = memory.cycle
    for engine, items in commands.items():
        firmware[engine].post(*items)
    for engine in Engine:
        await firmware[engine].finish(count, 400_000)
        assert firmware[engine].errors == []
    assert cut(await within(100_000, sink.receive(len(flits)))) == flits
    await cycles(dut, 5)
    assert bus.image == host
    assert all(memory.image[n] == image[n] for n in range(6 * Pages.SIZE)
               if n // Pages.SIZE < Pages.WINDOW)
    if length is None:
        return
    # Bytes a cycle of each, while all four are at it.
    first_end = min(firmware[engine].end_cycles[-1] for engine in Engine)
    figures = {}
    for engine in Engine:
        ends = [cycle for cycle in firmware[engine].end_cycles if cycle <= first_end]
        figures[engine.name] = len(ends) * length / (first_end - start)
    port = sum(1 for cycle, _, _ in memory.accesses if start <= cycle <= first_end)
    figures["memory port"] = 8 * port / (first_end - start)
    for name, least in values["least"].items():
        assert figures[name] >= least, figures


@pytest.mark.parametrize("stall, link, pio", [
    (0.3, 0.5, 0.2), more(0.0, 0.0, 0.1), more(0.5, 0.75, 0.05)])
def test_nothing_is_lost(stall: float, link: float, pio: float) -> None:
    run_bench(Engines(), __file__, testcase="runs_all", count=40, length=None, stall=stall,
              link=link, pio=pio, seed=int(100 * link) + 1)


def test_bytes_a_cycle() -> None:
    """The link's 2 bytes a cycle each way do not suffer; the two DMA engines share what is left of
    the 8 bytes a cycle of NIC memory's port, which is what bounds them (here the host's accesses
    take 0.8 of it; the stock bus alone would give each 2.5)."""
    run_bench(Engines(), __file__, testcase="runs_all", count=16, length=1024, stall=0.0,
              link=0.75, pio=0.05, seed=2,
              least={"H2N": 1.35, "N2H": 1.35, "SEND": 1.95, "RECEIVE": 1.85, "memory port": 7.5})
