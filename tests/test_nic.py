"""The whole NIC: both ways, both lanes, against host memory and a link that stall at random."""

import random
from typing import Any

import cocotb
import pytest
from bench import Sink, Source, cycles, parameters, reset_and_clock, run_bench, seed, within
from nic_models import BurstMemory, Events, Pio, packet, timing, wire
from nicbed.layouts.description import Description
from nicbed.layouts.registers import Irq
from nicbed.layouts.rings import COMPLETION, DESCRIPTOR_CONTROL
from nicbed.rtl.flit import Flit
from nicbed.rtl.nic import Nic

NODE = 3
SEND_BASE, RECEIVE_BASE, REPORT, BUFFERS = 0x1000, 0x8000, 0x800, 0x40000


class Bench:
    """A NIC with a link, two memory ports on one image, PIO and its events."""

    def __init__(self, dut: Any, *, stall: float = 0.0, setup: int = 0, max_burst: int = 256,
                 rx_stall: float = 0.0, tx_stall: float = 0.0) -> None:
        self.dut = dut
        self.image = bytearray(1 << 19)
        options = {"stall": stall, "setup": setup, "max_beats": max_burst // 8}
        self.send = BurstMemory(dut, "dma_send", self.image, seed=seed(), **options)
        self.receive = BurstMemory(dut, "dma_receive", self.image, seed=seed() + 1, **options)
        self.tx = Sink(dut, "tx", shape=Flit, stall=tx_stall, seed=seed() + 2)
        self.rx = Source(dut, "rx", shape=Flit, stall=rx_stall, seed=seed() + 3)
        self.pio = Pio(dut)
        self.events = Events(dut, *(f"events__{n}" for n in range(8)))

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


SMALL = {"send_fifo": 128, "receive_fifo": 128, "mtu": 64, "send_ring": 4, "receive_ring": 4}


def nic(**changes: int) -> tuple[Nic, dict[str, int]]:
    description = Description.model_validate({"nic": changes})
    made = Nic(description=description)
    return made, {"fifo": description.nic.send_fifo, "ring": description.nic.send_ring,
                  "slot": description.slot_bytes, "mtu": description.nic.mtu,
                  "rx_fifo": description.nic.receive_fifo}


@pytest.mark.parametrize("changes", [{}, SMALL], ids=["default", "small"])
@pytest.mark.parametrize("case", ["sends_by_pio", "sends_by_descriptor", "receives_into_ring"])
def test_directed(changes: dict[str, int], case: str) -> None:
    made, values = nic(**changes)
    run_bench(made, __file__, testcase=case, **values)
