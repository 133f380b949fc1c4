"""The receive FIFO and the receive window behind it."""

import random
from typing import Any

import cocotb
import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from cocotb.triggers import RisingEdge
from nicbed.layouts.packet import Protocol
from nicbed.layouts.trace import Kind
from nicbed.rtl.nic.fifos.receive_fifo import ReceiveFifo
from nicbed.rtl.nic.fifos.receive_window import ReceiveWindow
from nicbed.rtl.parts.event import EventPort
from nicbed.rtl.parts.flit import Flit, FlitStream
from nicbed.rtl.parts.receive_word import ReceiveWord

from tests.labs.bench import (
    Sink,
    Source,
    cycles,
    pack,
    parameters,
    reset_and_clock,
    run_bench,
    seed,
    unpack,
    within,
)
from tests.labs.rows import more
from tests.models.nic import Events, flits, packet

NODE = 9
COUNTERS = ("good", "crc_error", "malformed", "misrouted", "overflow")


@cocotb.test()
async def sorts_packets(dut: Any) -> None:
    """Packets of every kind against a model of the room and of the rules' order. Those of VIA,
    where they are visible early, come out whatever becomes of them; their last word says what."""
    values = parameters()
    early = values["early"]
    mtu, drop = values["mtu"], values["drop"]
    await reset_and_clock(dut, node=NODE, drop=int(drop))
    rng = random.Random(seed())
    source = Source(dut, "i", shape=Flit, stall=values["i_stall"], seed=seed())
    sink = Sink(dut, "o", shape=ReceiveWord, stall=values["o_stall"], seed=seed() + 1)
    events = Events(dut, "end")
    edge = RisingEdge(dut.clk)
    counted = dict.fromkeys(COUNTERS, 0)
    outcomes: list[str] = []
    bad: list[int] = []
    want: list[dict[str, int | None]] = []
    model = {"free": values["fifo"] // 8, "packet": 0}
    sent = []

    async def watch() -> None:
        """Plays the model at each edge, from what passes the ports."""
        flits_in: list[dict[str, int]] = []
        dropped = shown = False
        while True:
            dut.bad.value = bad[len(outcomes)] if len(outcomes) < len(bad) else 0
            await edge
            for name in COUNTERS:
                counted[name] += int(getattr(dut, f"counts__{name}").value)
            taken = dut.o__valid.value == 1 and dut.o__ready.value == 1
            if dut.o__valid.value == 1:
                word = unpack(ReceiveWord, int(dut.o__payload.value))
                visible = len(outcomes) + shown
                assert word["trace"] <= (len(outcomes) if word["last"] else visible), word
                assert word["last"] or not word["bad"]
            assert not (shown and dut.idle.value == 1)
            if dut.i__valid.value == 1:
                index = len(outcomes)
                words, size, declared, destination, trace, protocol = sent[index]
                need = 1 + -(-declared // 8)
                longer = declared > mtu + 16
                fits = need <= model["free"]
                first = not flits_in
                may_wait = first and not longer and destination == NODE and not drop
                stalls = may_wait and not fits
                assert dut.i__ready.value == int(not stalls), index
                assert dut.counts__stalled.value == int(stalls)
                if not stalls:
                    if first:
                        dropped = longer or destination != NODE or not fits
                        shown = (early and not dropped and protocol == Protocol.VIA
                                 and declared > 0 and len(words) > 1)
                    flits_in.append({})
                    if len(flits_in) == len(words):
                        if bad[index]:
                            outcome = "crc_error"
                        elif longer or declared != size:
                            outcome = "malformed"
                        elif destination != NODE:
                            outcome = "misrouted"
                        elif dropped:
                            outcome = "overflow"
                        else:
                            outcome = "good"
                        if outcome == "good" or shown:
                            count = min(len(words), need)
                            model["free"] -= count
                            for n, word in enumerate(words[:count]):
                                last = n == count - 1
                                broken = last and outcome != "good"
                                want.append({"data": None if broken else word, "first": int(n == 0),
                                             "trace": trace, "last": int(last),
                                             "bad": int(broken)})
                        shown = False
                        assert getattr(dut, f"counts__{outcome}").value == 1, (index, outcome)
                        outcomes.append(outcome)
                        flits_in.clear()
            model["free"] += taken

    for trace in range(1, 161):
        size = rng.choice((0, 1, 8, 9, mtu, mtu + 16, rng.randrange(mtu + 17)))
        declared, destination = size, NODE
        kind = rng.choice(("good", "good", "good", "length", "node", "long", "runaway"))
        if kind == "length":
            declared = max(0, size + rng.choice((-9, -8, -1, 1, 8, 9, 60000)))
        elif kind == "runaway":
            declared, size = rng.randrange(9), mtu + rng.randrange(2 * mtu)
        elif kind == "node":
            destination = rng.randrange(NODE)
        elif kind == "long":
            size = declared = mtu + 17 + rng.randrange(200)
        protocol = rng.choice((Protocol.AM, Protocol.VIA))
        words = packet(rng.randbytes(size), destination=destination, length=declared,
                       protocol=protocol)
        sent.append((words, size, declared, destination, trace, protocol))
        bad.append(int(rng.random() < 0.15))
        source.send(*flits(words, size, trace))
    cocotb.start_soon(watch())
    await within(200000, source.drain())
    for _ in range(20000):
        if len(outcomes) == len(sent) and len(sink.taken) >= len(want) and dut.level.value == 0:
            break
        await edge
    got = sink.taken
    assert [{name: word[name] for name in ("data", "first", "last", "trace", "bad")}
            | ({"data": None} if word["bad"] else {}) for word in got] == want
    assert {word["bad"] for word in got} == ({0, 1} if early else {0})
    headers = [word for word in got if word["first"]]
    assert [word["following"] for word in headers] == [
        -(-(word["data"] >> 16 & 0xFFFF) // 8) for word in headers]
    assert counted == {name: outcomes.count(name) for name in COUNTERS}
    assert counted["overflow"] > 0 if drop else counted["overflow"] == 0
    reasons = {"overflow": 0, "crc_error": 1, "misrouted": 2, "malformed": 3}
    assert [(kind, number, arg) for _, _, kind, number, arg in events.seen] == [
        (Kind.END, n, 0) if outcome == "good" else (Kind.DROP, n, reasons[outcome])
        for n, outcome in enumerate(outcomes, 1)]
    assert dut.idle.value == 1


@cocotb.test()
async def shows_words_as_they_come(dut: Any) -> None:
    """Two cycles behind its flit, the last one with the packet's end. A packet of no words, one
    that ends with its header and one of another protocol only once they are known to be good."""
    await reset_and_clock(dut, node=NODE)
    edge = RisingEdge(dut.clk)
    dut.o__ready.value = 1
    now = 0
    seen: list[tuple[int, int, int]] = []
    given: list[int] = []

    async def give(words: list[int], size: int, bad: int = 0) -> None:
        nonlocal now
        given.clear()
        seen.clear()
        for flit in [*flits(words, size, 1), *[None] * 6]:
            dut.i__valid.value = int(flit is not None)
            dut.i__payload.value = pack(Flit, flit or {})
            dut.bad.value = bad if flit is not None and flit["last"] else 0
            for _ in range(4):
                await edge
                now += 1
                dut.i__valid.value = dut.bad.value = 0
                if flit is not None and len(given) < len(words) and not _:
                    given.append(now)
                if dut.o__valid.value == 1:
                    word = unpack(ReceiveWord, int(dut.o__payload.value))
                    seen.append((now, word["last"], word["bad"]))

    def told(delays: list[int], bad: int) -> None:
        at = [given[n] + 2 for n in delays]
        assert seen == [(cycle, int(n == len(at) - 1), bad if n == len(at) - 1 else 0)
                        for n, cycle in enumerate(at)]

    for bad in (0, 1):
        await give(packet(bytes(20), destination=NODE, protocol=Protocol.VIA), 20, bad)
        told([0, 1, 2, 3], bad)
    # Longer than it says: its last word only at its end. Shorter: at its end.
    await give(packet(bytes(32), destination=NODE, protocol=Protocol.VIA, length=16), 32)
    told([0, 1, 4], 1)
    await give(packet(bytes(16), destination=NODE, protocol=Protocol.VIA, length=32), 16)
    told([0, 1, 2], 1)
    for protocol, length in ((Protocol.VIA, 0), (Protocol.AM, 8), (Protocol.AM, 16)):
        await give(packet(bytes(16), destination=NODE, protocol=protocol, length=length), 16)
        assert [cycle for cycle, *_ in seen] == (
            [given[2] + 2 + n for n in range(3)] if length == 16 else [])
    await give(packet(b"", destination=NODE, protocol=Protocol.VIA, length=8), 0)
    assert seen == []
    await give(packet(b"", destination=NODE, protocol=Protocol.VIA), 0)
    told([0], 0)
    assert dut.idle.value == 1 and dut.level.value == 0


class FifoAndWindow(wiring.Component):
    """Both, joined."""

    i: In(FlitStream)
    node: In(8)
    level: Out(16)
    enable: In(1)
    read: In(1)
    data: Out(64)
    begin: Out(EventPort)
    end: Out(EventPort)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.fifo = fifo = ReceiveFifo(fifo_bytes=256, mtu=64)
        m.submodules.window = window = ReceiveWindow()
        connect(m, fifo.i, flipped(self.i))
        connect(m, window.i, fifo.o)
        connect(m, flipped(self.begin), window.begin)
        connect(m, flipped(self.end), window.end)
        m.d.comb += [fifo.node.eq(self.node), self.level.eq(fifo.level),
                     window.enable.eq(self.enable), window.read.eq(self.read),
                     self.data.eq(window.data)]
        return m


@cocotb.test()
async def reads_by_window(dut: Any) -> None:
    await reset_and_clock(dut, node=NODE, enable=1)
    rng = random.Random(seed())
    source = Source(dut, "i", shape=Flit)
    events = Events(dut, "begin", "end")
    edge = RisingEdge(dut.clk)
    sizes = [0, 0, 8, 1, *(rng.randrange(81) for _ in range(40))]
    packets = [packet(rng.randbytes(size), destination=NODE) for size in sizes]
    for trace, (words, size) in enumerate(zip(packets, sizes, strict=True), 1):
        source.send(*flits(words, size, trace))
    want = [word for words in packets for word in words]
    got: list[int] = []
    dut.enable.value = 0
    dut.read.value = 1
    await cycles(dut, 30)
    assert int(dut.level.value) > 0 and int(dut.data.value) == 0, "off: nothing is taken"
    dut.enable.value = 1
    # A header is never 0 here, nor are there zero words: a 0 is an empty FIFO.
    want = [word for word in want if word]
    reading = 0
    for _ in range(20000):
        dut.read.value = int(rng.random() < 0.6)
        await edge
        if int(dut.data.value):
            assert reading
            got.append(int(dut.data.value))
        reading = int(dut.read.value)
        if len(got) == len(want):
            break
    assert got == want
    await cycles(dut, 3)
    assert int(dut.level.value) == 0
    count = len(sizes)
    assert [number for _, name, _, number, _ in events.seen if name == "begin"] == [
        *range(1, count + 1)]
    assert [number for _, name, _, number, _ in events.seen if name == "end"] == [
        *range(1, count + 1)]


@pytest.mark.parametrize("fifo, mtu, drop, i_stall, o_stall, early", [
    more(4096, 1024, False, 0.0, 0.4, False),
    more(4096, 1024, True, 0.0, 0.9, False),
    more(128, 64, False, 0.3, 0.5, False), (128, 64, True, 0.1, 0.7, False),
    more(128, 96, False, 0.0, 0.0, False),
    more(128, 64, False, 0.3, 0.5, True), (256, 64, False, 0.7, 0.0, True),
    more(128, 96, False, 0.0, 0.0, True), more(128, 64, True, 0.1, 0.7, True),
    more(4096, 1024, False, 0.75, 0.1, True), more(4096, 1024, True, 0.0, 0.9, True)])
def test_sorts_packets(fifo: int, mtu: int, drop: bool, i_stall: float, o_stall: float,
                       early: bool) -> None:
    run_bench(ReceiveFifo(fifo_bytes=fifo, mtu=mtu, early=Protocol.VIA if early else None),
              __file__, testcase="sorts_packets", fifo=fifo, mtu=mtu, drop=drop, i_stall=i_stall,
              o_stall=o_stall, early=early)


def test_shows_words_as_they_come() -> None:
    run_bench(ReceiveFifo(fifo_bytes=256, mtu=64, early=Protocol.VIA), __file__,
              testcase="shows_words_as_they_come")


@pytest.mark.parametrize("number", [1, more(2)])
def test_reads_by_window(number: int) -> None:
    run_bench(FifoAndWindow(), __file__, testcase="reads_by_window", seed=number)


def test_holds_a_packet() -> None:
    with pytest.raises(ValueError, match="fifo_bytes = 512: must hold a packet of 536 bytes"):
        ReceiveFifo(fifo_bytes=512, mtu=512)
    made = ReceiveFifo(fifo_bytes=1024, mtu=512)
    assert (made.fifo_bytes, made.mtu, made.early) == (1024, 512, None)
    with pytest.raises(TypeError, match="early must be a Protocol, not 2"):
        ReceiveFifo(fifo_bytes=1024, mtu=512, early=2)
