"""The PIO lane of the send FIFO."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.layouts.trace import Kind
from nicbed.rtl.nic.fifos.lanes import SendPacket
from nicbed.rtl.nic.fifos.send_window import SendWindow

from tests.labs.bench import Sink, parameters, reset_and_clock, run_bench, seed, within
from tests.labs.rows import more
from tests.models.nic import Events, packet


@cocotb.test()
async def collects_packets(dut: Any) -> None:
    """Against a model of words and packets, with packets of every kind and a reader that stalls."""
    await reset_and_clock(dut)
    fifo, mtu = parameters()["fifo"], parameters()["mtu"]
    rng = random.Random(seed())
    words_out = Sink(dut, "lane__words", stall=parameters()["stall"], seed=seed())
    packets_out = Sink(dut, "lane__packets", shape=SendPacket, stall=parameters()["stall"],
                       seed=seed() + 1)
    events = Events(dut, "begin")
    edge = RisingEdge(dut.clk)
    words: list[int] = []
    packets: list[dict[str, int]] = []
    begun: list[tuple[int, int]] = []
    refused = 0
    for trace in range(1, 151):
        size = rng.choice((0, 1, 8, mtu + 16, mtu + 17, rng.randrange(mtu + 17),
                           rng.randrange(3 * mtu)))
        data = packet(rng.randbytes(size))
        posted = rng.getrandbits(16)
        for index, word in enumerate(data):
            dut.write.value = 1
            dut.data.value = word
            dut.trace.value = 0xABC if index else trace
            dut.posted.value = posted
            await edge
            assert int(dut.space.value) % 8 == 0
            if index == 0:
                fits = int(dut.space.value) >= 8 * len(data) and size <= mtu + 16
                assert dut.refused.value == int(not fits)
                refused += not fits
                begun.append((Kind.BEGIN if fits else Kind.DROP, trace))
                if fits:
                    words += data
                    packets.append({"trace": trace, "after": posted})
            else:
                assert dut.refused.value == 0
            dut.write.value = 0
            while rng.random() < 0.2:
                await edge
        while rng.random() < parameters()["pause"]:
            await edge
    assert await within(20000, words_out.receive(len(words))) == words
    assert await within(20000, packets_out.receive(len(packets))) == packets
    await edge
    assert int(dut.space.value) == fifo
    assert [(kind, number) for _, _, kind, number, _ in events.seen] == begun
    assert refused and len(packets) > 20


@pytest.mark.parametrize("fifo, mtu, stall, pause", [
    more(4096, 1024, 0.5, 0.99), (128, 64, 0.3, 0.9),
    (128, 64, 0.9, 0.95), more(128, 96, 0.5, 0.9)])
def test_collects_packets(fifo: int, mtu: int, stall: float, pause: float) -> None:
    run_bench(SendWindow(fifo_bytes=fifo, mtu=mtu), __file__, fifo=fifo, mtu=mtu, stall=stall,
              pause=pause)


def test_holds_a_packet() -> None:
    with pytest.raises(ValueError, match="fifo_bytes = 1024: must hold a packet of 1048 bytes"):
        SendWindow(fifo_bytes=1024, mtu=1024)
    made = SendWindow(fifo_bytes=2048, mtu=512)
    assert (made.fifo_bytes, made.mtu) == (2048, 512)
