"""The byte-exact writer of the VI engine's receive side."""

import random
from itertools import groupby
from typing import Any

import cocotb
import pytest
from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from cocotb.triggers import RisingEdge
from nicbed.rtl.vi.receive.packet_words import PacketTurn, PacketWord, PacketWords
from nicbed.rtl.vi.receive.scatter_writer import ScatterRequest, ScatterRun, ScatterWriter
from nicbed.rtl.vi.types import Access, VirtualMemory

from tests.labs.bench import Source, cycles, pack, parameters, reset_and_clock, run_bench, seed
from tests.labs.rows import more
from tests.models.nic import BurstMemory
from tests.models.vi.memory import TranslatorClient
from tests.models.vi.memory import VirtualMemory as MemoryModel


class Runs:
    """Offers runs, and tells how each ended."""

    def __init__(self, dut: Any) -> None:
        self._dut = dut
        self._edge = RisingEdge(dut.clk)

    async def run(self, **fields: Any) -> tuple[int, int, int]:
        """(ok, bytes written, cycles)."""
        dut = self._dut
        dut.run__request__payload.value = pack(ScatterRequest, fields)
        dut.run__request__valid.value = 1
        for count in range(1, 20000):
            await self._edge
            if dut.run__request__ready.value == 1:
                dut.run__request__valid.value = 0
                dut.run__request__payload.value = 0
                return int(dut.run__ok.value), int(dut.run__written.value), count
        raise AssertionError(f"no end of {fields}")

    async def restart(self) -> None:
        self._dut.run__restart.value = 1
        await self._edge
        self._dut.run__restart.value = 0


@cocotb.test()
async def scatters(dut: Any) -> None:
    values = parameters()
    page, beats, stall = values["page"], values["burst"] // 8, values["stall"]
    rng = random.Random(seed())
    await reset_and_clock(dut, memory__max_beats=beats, i__whole=1)
    memory = MemoryModel(frames=64, page=page, seed=seed())
    want = memory.image
    bus = BurstMemory(dut, "memory__bus", bytearray(want), stall=stall, seed=seed() + 2,
                      setup=rng.randrange(3), max_beats=beats)
    client = TranslatorClient(dut, "memory__translate", memory, stall=stall, seed=seed() + 3)
    source = Source(dut, "i__words", stall=stall / 2, seed=seed() + 4)
    runs = Runs(dut)
    regions = [memory.register(rng.randrange(1 << 37), rng.randrange(1, 4 * page), tag=7,
                               rdma_write=n % 2 == 0) for n in range(8)]
    top = memory.register((1 << 38) - page // 2, page // 2, tag=7)
    bus.image[:] = want
    seen = set()
    words = 0
    for packet in range(values["packets"]):
        size = rng.choice([1, 8, 9, rng.randrange(1, 65), rng.randrange(1, 1041)])
        content = rng.randbytes(size)
        filled = content + rng.randbytes(-size % 8)
        source.send(*(int.from_bytes(filled[n:n + 8], "little") for n in range(0, size, 8)))
        words += -(-size // 8)
        at = 0
        while at < size:
            piece = min(size - at, rng.choice([1, 3, 7, 8, 16, rng.randrange(1, size + 1), size]))
            region = rng.choice([*regions, top, top])
            at_end = rng.random() < 0.3
            va = region.va + (max(region.length - rng.randrange(1, 40), 0) if at_end
                              else rng.randrange(region.length))
            access = rng.choice([Access.LOCAL, Access.RDMA_WRITE])
            wide = int(rng.random() < 0.03)
            tag = 8 if rng.random() < 0.03 else 7
            fits = region.va + region.length - va
            if access is Access.RDMA_WRITE and not region.rdma_write or wide or tag != region.tag:
                fits = 0
            bad = fits < piece
            if bad and rng.random() < 0.7:
                continue
            asked, bursts = len(client.requests), len(bus.requests)
            ok, written, _ = await runs.run(
                address={"va": va, "handle": region.handle}, tag=tag, access=access.value,
                wide=wide, bytes=piece, trace=packet)
            assert written == min(piece, fits), "what was translated, to the last byte"
            assert ok == int(not bad)
            memory.write(region.handle, va, content[at:at + written])
            assert bus.image == want
            runs_of = [list(places) for _, places in groupby(
                memory.places(region.handle, va, written), key=lambda place: place // page)]
            assert len(client.requests) - asked == len(runs_of) + int(bad)
            least = sum(-(-(run[-1] // 8 - run[0] // 8 + 1) // beats) for run in runs_of)
            assert len(bus.requests) - bursts == least, "as few bursts as max_burst allows"
            if bad and region is top and written:
                assert client.requests[-1]["wide"], "no wrap to address 0"
            at += written
            seen.add((ok, written > 0))
            await cycles(dut, rng.randrange(2))
            if rng.random() < 0.7:
                await cycles(dut, 1)
                assert client.held.value == 0, "an invalidation would wait for ever"
        await runs.restart()
        assert source.sent == words, "a word is taken with its first byte"
    assert seen == {(0, False), (0, True), (1, True)}
    for request in bus.requests:
        assert request["address"] // page == (request["address"] + 8 * request["beats"] - 1) // page


@cocotb.test()
async def takes_a_cycle_a_beat(dut: Any) -> None:
    page = 4096
    await reset_and_clock(dut, memory__max_beats=32, i__whole=1)
    memory = MemoryModel(frames=4, page=page, seed=1)
    bus = BurstMemory(dut, "memory__bus", bytearray(memory.image), max_beats=32)
    TranslatorClient(dut, "memory__translate", memory, latency=3)
    source = Source(dut, "i__words")
    runs = Runs(dut)
    region = memory.register(0, page, tag=7)
    await cycles(dut, 3)
    for offset in (0, 3):
        source.send(*range(128))
        await cycles(dut, 2)
        _, _, spent = await runs.run(address={"va": offset, "handle": region.handle}, tag=7,
                                     bytes=1024)
        # 4 or 5 bursts; the model's memory takes 2 cycles more than the beats for each.
        assert spent <= 5 + 128 + 1 + 5 * 4, spent
        await runs.restart()
    assert len(bus.requests) == 4 + 5


class WordsAndWriter(wiring.Component):
    """Both, joined as in the receiver."""

    words: In(stream.Signature(PacketWord))
    turn: In(PacketTurn)
    run: In(ScatterRun)
    memory: Out(VirtualMemory)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.queue = words = PacketWords(depth=256)
        m.submodules.writer = writer = ScatterWriter()
        connect(m, flipped(self.words), words.i)
        connect(m, flipped(self.turn), words.turn)
        connect(m, words.o, writer.i)
        connect(m, flipped(self.run), writer.run)
        connect(m, flipped(self.memory), writer.memory)
        return m


@cocotb.test()
async def waits_for_no_word(dut: Any) -> None:
    """Packets come as slowly as from a link, and the next one behind them: in a burst every word is
    there when the bus takes it, and no translation is held for one that is not. A bad packet that
    ends too early ends its run, and nothing is written behind it."""
    values = parameters()
    beats, stall = values["burst"] // 8, values["stall"]
    rng = random.Random(seed())
    await reset_and_clock(dut, memory__max_beats=beats)
    memory = MemoryModel(frames=64, page=1024, seed=seed())
    bus = BurstMemory(dut, "memory__bus", memory.image, stall=stall, seed=seed() + 2,
                      max_beats=beats)
    TranslatorClient(dut, "memory__translate", memory, stall=stall, seed=seed() + 3)
    source = Source(dut, "words", shape=PacketWord, stall=values["link"], seed=seed() + 4)
    runs = Runs(dut)
    region = memory.register(0x12345, 30000, tag=7)
    edge = RisingEdge(dut.clk)
    ended = []

    async def watch() -> None:
        begun = False
        while True:
            await edge
            if dut.memory__bus__write__ready.value == 1:
                writes = dut.memory__bus__write__valid.value == 1
                assert writes or not begun, "a burst waits for a word"
                begun = writes
            if dut.memory__bus__done.value == 1:
                begun = False

    cocotb.start_soon(watch())
    packets = []
    for _ in range(values["packets"]):
        size = rng.choice([1, 8, 9, rng.randrange(1, 65), rng.randrange(1, 1041), 1040])
        bad = rng.random() < 0.3
        words = -(-size // 8)
        comes = rng.randrange(1, words + 1) if bad and rng.random() < 0.5 else words
        content = rng.randbytes(size)
        filled = content + rng.randbytes(-size % 8)
        packets.append((size, bad, comes, content, [
            {"data": int.from_bytes(filled[8 * n:8 * n + 8], "little"), "last": int(n == comes - 1),
             "bad": int(bad and n == comes - 1)} for n in range(comes)]))
    source.send(*packets[0][-1])
    for number, (size, bad, comes, content, _) in enumerate(packets, 1):
        dut.turn__begin.value = dut.run__restart.value = 1
        await edge
        dut.turn__begin.value = dut.run__restart.value = 0
        source.send(*(packets[number][-1] if number < len(packets) else ()))
        va = region.va + rng.randrange(20000)
        before = bytes(memory.image)
        at = 0
        while at < size:
            piece = min(size - at, rng.choice([1, 7, 8, rng.randrange(1, size + 1), size]))
            ok, written, _ = await runs.run(
                address={"va": va + at, "handle": region.handle}, tag=7, bytes=piece)
            at += written
            if not ok:
                break
            assert written == piece
        ended.append((bad, at > 0))
        assert bad or at == size
        assert at <= 8 * comes
        want = bytearray(before)
        for place, byte in zip(memory.places(region.handle, va, at), content[:at], strict=True):
            want[place] = byte
        assert memory.image == want
        dut.turn__discard.value = 1
        for _ in range(5000):
            await edge
            if dut.turn__over.value == 1:
                break
        assert dut.turn__over.value == 1 and dut.turn__whole.value == 1
        assert dut.turn__bad.value == bad
        dut.turn__discard.value = 0
        await cycles(dut, rng.randrange(3))
    assert set(ended) == {(False, True), (True, False), (True, True)}, "some came as far"
    assert len({one["beats"] for one in bus.requests}) > 4


@pytest.mark.parametrize("page, burst, stall", [
    (1024, 64, 0.0), (1024, 8, 0.3), (4096, 256, 0.1),
    more(1024, 4096, 0.5),
    more(65536, 40, 0.2)])
def test_scatters(page: int, burst: int, stall: float) -> None:
    run_bench(ScatterWriter(), __file__, testcase="scatters", page=page, burst=burst, stall=stall,
              packets=120, seed=burst)


@pytest.mark.parametrize("burst, stall, link", [
    (256, 0.0, 0.75), (64, 0.2, 0.6), more(256, 0.1, 0.0), more(4096, 0.0, 0.9)])
def test_waits_for_no_word(burst: int, stall: float, link: float) -> None:
    run_bench(WordsAndWriter(), __file__, testcase="waits_for_no_word", burst=burst, stall=stall,
              link=link, packets=80)


@pytest.mark.promise("VI engine: data into memory", "a bus that is granted", "1 a beat")
def test_takes_a_cycle_a_beat() -> None:
    run_bench(ScatterWriter(), __file__, testcase="takes_a_cycle_a_beat")
