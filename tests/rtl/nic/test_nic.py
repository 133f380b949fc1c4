"""The whole NIC: both ways, both lanes, against host memory and a link that stall at random."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import Lock
from nicbed.layouts.description import Description
from nicbed.layouts.registers import RECHECK, Irq
from nicbed.layouts.rings import COMPLETION, DESCRIPTOR_CONTROL
from nicbed.layouts.trace import Block, Kind
from nicbed.rtl.nic.nic import Nic
from nicbed.rtl.parts.flit import Flit

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
from tests.models.nic import BurstMemory, Events, Pio, packet, timing, wire

NODE = 3
SEND_BASE, RECEIVE_BASE, REPORT, BUFFERS = 0x1000, 0x8000, 0x800, 0x40000


class Bench:
    """A NIC with a link, two memory ports on one image, PIO and its events."""

    def __init__(self, dut: Any, *, stall: float = 0.0, setup: int = 0, max_burst: int = 256,
                 rx_stall: float = 0.0, tx_stall: float = 0.0) -> None:
        self.dut = dut
        self.image = bytearray(1 << 19)
        options = {"stall": stall, "setup": setup, "max_beats": max_burst // 8}
        self.send = BurstMemory(dut, "dma__0", self.image, seed=seed(), **options)
        self.receive = BurstMemory(dut, "dma__1", self.image, seed=seed() + 1, **options)
        self.tx = Sink(dut, "link__tx", shape=Flit, stall=tx_stall, seed=seed() + 2)
        self.rx = Source(dut, "link__rx", shape=Flit, stall=rx_stall, seed=seed() + 3)
        self.pio = Pio(dut)
        self.events = Events(dut, *(f"events__{n}" for n in range(8)))
        self.lock = Lock()
        """Held for what several coroutines do by PIO."""
        self.posted = self.refused = self.bad_descriptors = 0

    async def packet_on_tx(self, limit: int = 5000) -> list[dict[str, int]]:
        got: list[dict[str, int]] = []
        while not got or not got[-1]["last"]:
            got += await within(limit, self.tx.receive(1))
        return got

    def descriptor(self, index: int, words: list[int], length: int, *, inline: int, payload: int,
                   source: int, trace: int) -> None:
        """Write a descriptor for the packet ``words``: ``inline`` bytes, then ``payload`` bytes
        that lie at ``source``."""
        body = b"".join(word.to_bytes(8, "little") for word in words[1:])[:length]
        at = SEND_BASE + 64 * index
        self.image[at:at + 64] = (
            words[0].to_bytes(8, "little") + body[:inline].ljust(32, b"\xA5")
            + source.to_bytes(8, "little")
            + DESCRIPTOR_CONTROL.pack(inline=inline, payload=payload, trace=trace)
            .to_bytes(8, "little") + b"\x5A" * 8)
        self.image[source:source + payload] = body[inline:inline + payload]


async def start(dut: Any, max_burst: int = 256, drop: bool = False, **options: Any) -> Bench:
    await reset_and_clock(dut, timing=timing(max_burst=max_burst, drop=drop), node=NODE)
    return Bench(dut, max_burst=max_burst, **options)


@cocotb.test()
async def sends_by_pio(dut: Any) -> None:
    bench = await start(dut)
    for trace, size in enumerate((0, 1, 7, 8, 9, 24, 80), 1):
        words = packet(bytes(range(1, size + 1)))
        await bench.pio.send(words, trace)
        written = bench.tx.cycle
        got = await bench.packet_on_tx()
        assert got == wire(words, size, trace)
        assert bench.tx.cycles[-len(got)] - written <= 4, "last word written to first flit"
    assert await bench.pio.get("packets_sent") == 7
    assert await bench.pio.get("send_space") == parameters()["fifo"]
    await cycles(dut, 5)
    assert dut.idle.value == 1


@cocotb.test()
async def sends_by_descriptor(dut: Any) -> None:
    bench = await start(dut, setup=3)
    await bench.pio.set(control=1, send_base=SEND_BASE, send_report=REPORT)
    cases = [(0, 0, 0), (0, 5, 0), (32, 0, 0), (16, 61, 3), (0, 64, 8), (8, 1, 7), (0, 9, 5),
             (32, 8, 1)]
    ring = parameters()["ring"]
    for trace, (inline, payload, offset) in enumerate(cases, 1):
        body = bytes(random.Random(trace).randbytes(inline + payload))
        words = packet(body)
        bench.descriptor((trace - 1) % ring, words, len(body), inline=inline, payload=payload,
                         source=BUFFERS + 256 * trace + offset, trace=trace)
        await bench.pio.set(send_doorbell=trace)
        rung = bench.send.cycle
        assert await bench.packet_on_tx() == wire(words, len(body), trace)
        await cycles(dut, 20)
        assert await bench.pio.get("send_done") == trace
        assert bench.send.request_cycles[0] - rung <= 3
        bench.send.request_cycles.clear()
        assert bench.send.writes[-1] == (REPORT, trace)
    assert len(bench.send.writes) == len(cases)
    assert await bench.pio.get("irq_status") == Irq.SEND
    await bench.pio.set(irq_enable=7)
    await cycles(dut, 2)
    assert dut.irq.value == 1
    await bench.pio.set(irq_status=Irq.SEND)
    await cycles(dut, 2)
    assert dut.irq.value == 0
    assert dut.idle.value == 1


@cocotb.test()
async def receives_into_ring(dut: Any) -> None:
    bench = await start(dut, setup=2)
    ring = parameters()["ring"]
    slot_bytes = parameters()["slot"]
    await bench.pio.set(control=2, receive_base=RECEIVE_BASE)
    for count, size in enumerate((0, 1, 8, 61, 64, 80, 3)):
        words = packet(bytes(range(100, 100 + size)), destination=NODE)
        bench.rx.send(*wire(words, size, count + 10))
        await within(2000, bench.rx.drain())
        arrived = bench.receive.cycle
        await cycles(dut, 60)
        assert bench.receive.request_cycles[0] - arrived <= 4, "last flit to request"
        bench.receive.request_cycles.clear()
        at = RECEIVE_BASE + count % ring * slot_bytes
        done = COMPLETION.unpack(int.from_bytes(bench.image[at:at + 8], "little"))
        assert done == {"phase": 1 - count // ring % 2, "reserved": 0, "length": size,
                        "trace": count + 10, "index": count % ring}
        got = [int.from_bytes(bench.image[at + 8 * n:at + 8 * n + 8], "little")
               for n in range(1, len(words) + 1)]
        assert got == words
        assert bench.receive.writes[-1][0] == at, "the completion word lands last"
        assert await bench.pio.get("receive_filled") == count + 1
        await bench.pio.set(receive_taken=count + 1)
    assert await bench.pio.get("packets_received") == 7
    assert await bench.pio.get("irq_status") == Irq.RECEIVE


def random_receive(rng: random.Random, mtu: int, count: int) -> list[tuple[str, list[int], int]]:
    """Packets for rx: (what becomes of it, words, bytes that really follow the header)."""
    result = []
    for _ in range(count):
        size = rng.choice((0, 1, 7, 8, 9, mtu, mtu + 16, rng.randrange(mtu + 17)))
        kind = rng.choice(("good", "good", "good", "good", "crc", "misrouted", "malformed"))
        length = size
        destination = NODE
        if kind == "misrouted":
            destination = rng.choice([n for n in range(256) if n != NODE])
        elif kind == "malformed":
            size, length = rng.choice(
                [(size, size + 1), (size, size + 8), (size + 9, size), (size + 1, size),
                 (mtu + 17, mtu + 17), (mtu + 400, mtu + 400), (8, 65535), (mtu + 50, 3)])
        words = packet(rng.randbytes(size), destination=destination, length=length,
                       protocol=rng.randrange(256), source=rng.randrange(256))
        result.append((kind, words, size))
    return result


async def ring_receiver(bench: Bench, expected: list[tuple[list[int], int, int]], ring: int,
                        slot_bytes: int, rng: random.Random) -> None:
    """Take ``expected`` (words, bytes, trace) out of the receive ring, in order."""
    for count, (words, size, trace) in enumerate(expected):
        at = RECEIVE_BASE + count % ring * slot_bytes
        want = COMPLETION.pack(phase=1 - count // ring % 2, length=size, trace=trace,
                               index=count % ring)
        for _ in range(20000):
            if int.from_bytes(bench.image[at:at + 8], "little") == want:
                break
            await cycles(bench.dut, 1)
        else:
            raise AssertionError(f"packet {count} never came into slot {count % ring}")
        got = [int.from_bytes(bench.image[at + 8 * n:at + 8 * n + 8], "little")
               for n in range(1, len(words) + 1)]
        assert got == words, f"packet {count}"
        await cycles(bench.dut, rng.choice((0, 0, 50)))
        async with bench.lock:
            await bench.pio.set(receive_taken=count + 1)


async def sender(bench: Bench, count: int, rng: random.Random) -> list[list[dict[str, int]]]:
    """Send ``count`` packets by PIO and by descriptors, now and then a bad one; what must leave."""
    ring, mtu = parameters()["ring"], parameters()["mtu"]
    left: list[list[dict[str, int]]] = []
    posted = done = refused = 0
    for trace in range(1, count + 1):
        if rng.random() < 0.5:
            size = rng.choice((0, 5, 8, mtu, mtu + 16, rng.randrange(mtu + 17)))
            bad = rng.random() < 0.1
            words = packet(rng.randbytes(size), destination=7,
                           length=mtu + 17 + rng.randrange(8) if bad else size)
            async with bench.lock:
                if bad:
                    await bench.pio.send([words[0]] + [0] * -(-(words[0] >> 16 & 0xFFFF) // 8))
                    refused += 1
                    continue
                while await bench.pio.get("send_space") < 8 * len(words):
                    pass
                await bench.pio.send(words, trace)
            left.append(wire(words, size, trace))
        else:
            while posted - done >= ring:
                async with bench.lock:
                    last = await bench.pio.get("send_done")
                done += (last - done) & 0xFFFF
            payload = rng.choice((0, 1, 8, mtu, rng.randrange(mtu + 1)))
            inline = rng.choice((0, 8, 16)) if payload else rng.randrange(33)
            inline = min(inline, mtu + 16 - payload)
            bad = rng.random() < 0.1
            words = packet(rng.randbytes(inline + payload), destination=7,
                           length=inline + payload + bad)
            source = BUFFERS + posted % 64 * 2048 + rng.randrange(8)
            bench.descriptor(posted % ring, words, inline + payload, inline=inline,
                             payload=payload, source=source, trace=trace)
            posted += 1
            if bad:
                bench.bad_descriptors += 1
            else:
                left.append(wire(words, inline + payload, trace))
            # Posted in groups, but before the next PIO packet: that is what order means.
            async with bench.lock:
                await bench.pio.set(send_doorbell=posted & 0xFFFF)
        await cycles(bench.dut, rng.choice((0, 0, 0, 1, 30, 300)))
    bench.posted = posted
    bench.refused = refused
    return left


@cocotb.test()
async def carries_everything(dut: Any) -> None:
    values = parameters()
    rng = random.Random(seed())
    bench = await start(dut, max_burst=values["burst"], stall=values["stall"],
                        setup=rng.randrange(8), tx_stall=values["tx_stall"],
                        rx_stall=values["stall"])
    await bench.pio.set(control=3, send_base=SEND_BASE, send_report=REPORT,
                        receive_base=RECEIVE_BASE)
    coming = random_receive(rng, values["mtu"], values["count"])
    expected = []
    for trace, (kind, words, size) in enumerate(coming, 1):
        bench.rx.send(*wire(words, size, trace, corrupt=0x100 if kind == "crc" else 0))
        if kind == "good":
            expected.append((words, size, trace))
    receiving = cocotb.start_soon(ring_receiver(bench, expected, values["ring"], values["slot"],
                                                random.Random(seed() + 9)))
    want = await within(400000, sender(bench, values["count"], rng))
    await within(400000, receiving)
    got: list[list[dict[str, int]]] = [await bench.packet_on_tx(20000) for _ in want]
    assert got == want
    for _ in range(5000):
        if dut.idle.value == 1:
            break
        await cycles(dut, 1)
    assert dut.idle.value == 1
    await cycles(dut, 200)
    assert bench.tx.taken == []
    kinds = [kind for kind, _, _ in coming]
    for name, value in {
            "packets_sent": len(want), "packets_received": len(expected),
            "send_refused": bench.refused + bench.bad_descriptors,
            "crc_errors": kinds.count("crc"), "misrouted": kinds.count("misrouted"),
            "malformed": kinds.count("malformed"), "overflows": 0, "doorbells_refused": 0,
            "send_done": bench.posted, "receive_filled": len(expected),
            "receive_level": 0, "send_space": values["fifo"]}.items():
        assert await bench.pio.get(name) == value, name
    reports = [data for place, data in bench.send.writes if place == REPORT]
    assert reports == sorted(set(reports)) and reports[-1] == bench.posted
    assert bench.send.busy_cycles & bench.receive.busy_cycles, "both engines work at a time"
    check_events(bench)


def check_events(bench: Bench) -> None:
    """Each block serves one message at a time, in the order BEGIN, END or DROP; each good number
    has both."""
    sources = Nic(description=Description()).event_sources
    by_block: dict[Block, list[tuple[int, int, int]]] = {}
    for cycle, name, kind, number, _ in bench.events.seen:
        block = sources[int(name.split("__")[1])]
        by_block.setdefault(block, []).append((cycle, kind, number))
    for block, seen in by_block.items():
        begun = [number for _, kind, number in seen if kind == Kind.BEGIN]
        ended = [number for _, kind, number in seen if kind == Kind.END]
        dropped = [number for _, kind, number in seen if kind == Kind.DROP]
        if block is Block.RECEIVE_LINK:
            assert sorted(begun) == sorted(ended + dropped)
        else:
            assert begun == ended, block
    for block in (Block.SEND_DMA, Block.RECEIVE_DMA):
        kinds = [kind for _, kind, _ in by_block[block] if kind != Kind.DROP]
        assert kinds == [Kind.BEGIN, Kind.END] * (len(kinds) // 2), block


@cocotb.test()
async def full_receive_fifo(dut: Any) -> None:
    """Nobody takes: with drop, what does not fit is counted; without, the link waits."""
    values = parameters()
    rng = random.Random(seed())
    bench = await start(dut, drop=values["drop"])
    sizes = [rng.randrange(values["mtu"] + 17) for _ in range(40)]
    packets = [packet(rng.randbytes(size), destination=NODE) for size in sizes]
    room = values["rx_fifo"] // 8
    kept = []
    for trace, (words, size) in enumerate(zip(packets, sizes, strict=True), 1):
        if values["drop"]:
            if len(words) <= room:
                room -= len(words)
                kept.append((words, trace))
        else:
            kept.append((words, trace))
        bench.rx.send(*wire(words, size, trace))
    await cycles(dut, 40 * (values["mtu"] // 8 + 6))
    if values["drop"]:
        assert await bench.pio.get("overflows") == 40 - len(kept)
        assert await bench.pio.get("receive_stalls") == 0
        assert await bench.pio.get("irq_status") == Irq.ERROR
        assert await bench.pio.get("receive_level") == len(kept)
    else:
        before, start_at = await bench.pio.get("receive_stalls"), bench.tx.cycle
        assert dut.idle.value == 0
        await cycles(dut, 100)
        assert await bench.pio.get("receive_stalls") - before == bench.tx.cycle - start_at
    for words, trace in kept:
        for _ in range(2000):
            if await bench.pio.get("receive_level"):
                break
        assert await bench.pio.get("receive_trace") == trace
        for word in words:
            assert await bench.pio.take() == word
    assert await bench.pio.take() == 0
    assert await bench.pio.get("receive_level") == 0
    assert await bench.pio.get("packets_received") == len(kept)
    await cycles(dut, 2)
    assert dut.idle.value == 1


@cocotb.test()
async def refuses_doorbells(dut: Any) -> None:
    bench = await start(dut)
    ring = parameters()["ring"]
    await bench.pio.set(send_doorbell=1)
    assert await bench.pio.get("doorbells_refused") == 1, "the ring is off"
    await bench.pio.set(control=1, send_base=SEND_BASE)
    await bench.pio.set(send_doorbell=ring + 1)
    assert await bench.pio.get("send_doorbell") == 0
    assert await bench.pio.get("doorbells_refused") == 2
    assert await bench.pio.get("irq_status") == Irq.ERROR
    words = packet(b"12345678")
    for index in range(ring):
        bench.descriptor(index, words, 8, inline=8, payload=0, source=BUFFERS, trace=index + 1)
    await bench.pio.set(send_doorbell=ring)
    await bench.pio.set(send_doorbell=ring - 1)
    assert await bench.pio.get("doorbells_refused") == 3, "backwards"
    assert await bench.pio.get("send_doorbell") == ring
    for index in range(ring):
        assert await bench.packet_on_tx() == wire(words, 8, index + 1)
    assert await bench.pio.get("send_done") == ring


async def into_ring(bench: Bench, count: int) -> None:
    """So many more packets come into the receive ring."""
    before = await bench.pio.get("receive_filled")
    for number in range(count):
        bench.rx.send(*wire(packet(b"12345678", destination=NODE), 8, number + 1))
    for _ in range(500):
        if await bench.pio.get("receive_filled") == before + count:
            return
    raise AssertionError("the packets never came")


@cocotb.test()
async def counts_only_move_on(dut: Any) -> None:
    """A late count of slots taken is ignored. One of a slot of which the NIC has not seen yet that
    it is filled counts."""
    bench = await start(dut)
    await bench.pio.set(control=2, receive_base=RECEIVE_BASE)
    await into_ring(bench, 3)
    for written, found in ((1, 1), (0x8001, 1), (0, 1), (3, 3), (2, 3), (0, 3), (0xFFFF, 3)):
        await bench.pio.set(receive_taken=written)
        assert await bench.pio.get("receive_taken") == found, written
    await into_ring(bench, 4)
    for written, found in ((5, 5), (4, 5), (8, 8), (7, 8), (0x8008, 8), (0x4008, 0x4008),
                           (0x8007, 0x8007), (0xFFFF, 0xFFFF), (0, 0), (0xFFFF, 0), (1, 1)):
        await bench.pio.set(receive_taken=written)
        assert await bench.pio.get("receive_taken") == found, written


@cocotb.test()
async def checks_the_ring_behind_a_clear(dut: Any) -> None:
    bench = await start(dut)
    await bench.pio.set(control=2, receive_base=RECEIVE_BASE)

    async def raised(**written: int) -> bool:
        """Whether a write raises the interrupt again, which has been cleared."""
        await bench.pio.set(irq_status=Irq.RECEIVE)
        assert await bench.pio.get("irq_status") == 0
        await bench.pio.set(**written)
        await cycles(dut, 2)
        return bool(await bench.pio.get("irq_status") & Irq.RECEIVE)

    assert not await raised(receive_taken=RECHECK)
    assert not await raised(irq_status=Irq.RECEIVE | RECHECK)
    await into_ring(bench, 3)
    assert not await raised(receive_taken=1), "nobody asks"
    assert not await raised(send_base=RECHECK), "another register"
    assert await raised(receive_taken=2 | RECHECK), "1 slot is left"
    assert await raised(receive_taken=1 | RECHECK), "so it is with a count that is ignored"
    assert await raised(irq_status=Irq.RECEIVE | RECHECK)
    await bench.pio.set(irq_status=Irq.RECEIVE)
    bench.pio.process = 7
    await bench.pio.set(irq_status=RECHECK, receive_taken=RECHECK)
    bench.pio.process = 0
    assert await bench.pio.get("irq_status") == 0, "a process has no right to ask"
    assert not await raised(receive_taken=3 | RECHECK)
    assert not await raised(receive_taken=1 | RECHECK), "a late count"
    assert not await raised(irq_status=Irq.RECEIVE | RECHECK)
    assert not await raised(receive_taken=4 | RECHECK), "ahead: its packet will interrupt"


@cocotb.test()
async def has_no_send_ring(dut: Any) -> None:
    """A doorbell that would post is refused, what PIO sends goes."""
    if parameters()["ring"]:
        return  # not the NIC of test_no_send_ring
    bench = await start(dut)
    await bench.pio.set(control=1, send_base=SEND_BASE, send_report=REPORT)
    for count, value in enumerate((1, 4, 0xFFFF), 1):
        await bench.pio.set(send_doorbell=value)
        assert await bench.pio.get("doorbells_refused") == count
        assert await bench.pio.get("send_doorbell") == 0
        words = packet(bytes(range(8 * count)))
        await bench.pio.send(words, count)
        assert await bench.packet_on_tx() == wire(words, 8 * count, count)
    assert await bench.pio.get("send_done") == 0
    await cycles(dut, 5)
    assert dut.idle.value == 1 and dut.dma__0__request__valid.value == 0


@cocotb.test()
async def switches_receive_mode(dut: Any) -> None:
    """A packet half read by PIO is dropped by the ring, and the next one arrives whole."""
    bench = await start(dut)
    first, second = packet(bytes(40), destination=NODE), packet(b"abcdefgh", destination=NODE)
    bench.rx.send(*wire(first, 40, 1), *wire(second, 8, 2))
    await cycles(dut, 60)
    assert await bench.pio.take() == first[0]
    await bench.pio.set(receive_base=RECEIVE_BASE, control=2)
    await cycles(dut, 60)
    assert await bench.pio.get("receive_filled") == 1
    assert int.from_bytes(bench.image[RECEIVE_BASE + 16:RECEIVE_BASE + 24], "little") == second[1]
    assert await bench.pio.take() == 0, "the ring is on"


@cocotb.test()
async def refuses_processes(dut: Any) -> None:
    """Registers and windows are the kernel's, process 0."""
    bench = await start(dut)
    await bench.pio.set(send_base=0x1000)
    bench.pio.process = 7
    await bench.pio.set(send_base=0x2000, control=1)
    assert await bench.pio.get("send_base") == 0
    await bench.pio.send(packet(b"12345678"))
    bench.pio.process = 0
    assert await bench.pio.get("send_base") == 0x1000
    assert await bench.pio.get("control") == 0
    assert await bench.pio.get("process_refused") == 5
    await cycles(dut, 50)
    assert await bench.pio.get("packets_sent") == 0


SMALL = {"send_fifo": 128, "receive_fifo": 128, "mtu": 64, "send_ring": 4, "receive_ring": 4}


def nic(**changes: int) -> tuple[Nic, dict[str, int]]:
    description = Description.model_validate({"nic": changes})
    made = Nic(description=description)
    return made, {"fifo": description.nic.send_fifo, "ring": description.nic.send_ring,
                  "slot": description.slot_bytes, "mtu": description.nic.mtu,
                  "rx_fifo": description.nic.receive_fifo}


@pytest.mark.parametrize("changes, drop, burst, stall, tx_stall, number, count", [
    ({}, False, 64, 0.3, 0.75, 2, 20), more(SMALL, True, 256, 0.3, 0.3, 3, 40)],
    ids=["default", "small"])
def test_all(changes: dict[str, int], drop: bool, burst: int, stall: float, tx_stall: float,
             number: int, count: int) -> None:
    """Every case above in one simulation."""
    made, values = nic(**changes)
    run_bench(made, __file__, seed=number, drop=drop, burst=burst, stall=stall,
              tx_stall=tx_stall, count=count, **values)


@pytest.mark.full
@pytest.mark.parametrize("changes, burst, stall, tx_stall, number", [
    ({}, 256, 0.0, 0.0, 1),
    ({}, 64, 0.3, 0.75, 2),
    (SMALL, 256, 0.3, 0.3, 3),
    (SMALL, 8, 0.1, 0.5, 4),
    ({**SMALL, "mtu": 96, "send_fifo": 256}, 40, 0.0, 0.9, 5),
], ids=["default", "stalled", "small", "beatwise", "odd"])
def test_carries_everything(changes: dict[str, int], burst: int, stall: float, tx_stall: float,
                            number: int) -> None:
    made, values = nic(**changes)
    run_bench(made, __file__, testcase="carries_everything", seed=number, burst=burst,
              stall=stall, tx_stall=tx_stall, count=60, **values)


@pytest.mark.full
@pytest.mark.parametrize("changes, drop", [({}, True), (SMALL, False)],
                         ids=["default", "small"])
def test_full_receive_fifo(changes: dict[str, int], drop: bool) -> None:
    made, values = nic(**changes)
    run_bench(made, __file__, testcase="full_receive_fifo", drop=drop, **values)


def test_no_send_ring() -> None:
    made, values = nic(**{**SMALL, "send_ring": 0})
    run_bench(made, __file__, testcase="has_no_send_ring", **values)


def test_wants_a_description() -> None:
    with pytest.raises(TypeError, match="description must be a Description, not 3"):
        Nic(description=3)  # type: ignore[arg-type]
