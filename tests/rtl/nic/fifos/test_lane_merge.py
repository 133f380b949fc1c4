"""The merge of the send FIFO's lanes: program order, whole packets, sizes."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.layouts.trace import Kind
from nicbed.rtl.nic.fifos.lane_merge import LaneMerge
from nicbed.rtl.nic.fifos.lanes import SendPacket
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
from tests.models.nic import Events, flits, packet


@cocotb.test()
async def keeps_program_order(dut: Any) -> None:
    """A random program of PIO packets and descriptors, some of which are skipped."""
    await reset_and_clock(dut)
    rng = random.Random(seed())
    stall = parameters()["stall"]
    pio, pio_packet = Source(dut, "pio__words"), Source(dut, "pio__packets", shape=SendPacket)
    dma = Source(dut, "dma__words", stall=stall, seed=seed() + 1)
    dma_trace = Source(dut, "dma__traces")
    sink = Sink(dut, "o", shape=Flit, stall=parameters()["o_stall"], seed=seed() + 2)
    events = Events(dut, "end")
    want: list[dict[str, int]] = []
    by_pio = []
    engine: list[tuple[int, list[int]] | None] = []
    for trace in range(1, 121):
        size = rng.choice((0, 1, 7, 8, 9, 15, 16, rng.randrange(100)))
        words = packet(rng.randbytes(size))
        kind = rng.choice(("pio", "dma", "skip"))
        if kind == "skip":
            engine.append(None)
            continue
        want += flits(words, size, trace)
        if kind == "dma":
            engine.append((trace, words))
        else:
            # All PIO packets are committed before the descriptors behind them are fetched.
            pio_packet.send({"trace": trace, "after": len(engine)})
            pio.send(*words)
            by_pio.append(trace)

    async def descriptors() -> None:
        """As SendDma does: a skip waits for its turn, and nothing passes it."""
        edge = RisingEdge(dut.clk)
        for number, item in enumerate(engine):
            if item is not None:
                dma_trace.send(item[0])
                dma.send(*item[1])
                continue
            await edge
            while int(dut.dma__merged.value) != number or rng.random() < 0.5:
                await edge
            dut.dma__skip.value = 1
            await edge
            dut.dma__skip.value = 0

    cocotb.start_soon(descriptors())
    assert await within(20000, sink.receive(len(want))) == want
    await cycles(dut, 200)
    assert int(dut.dma__merged.value) == len(engine)
    assert dut.idle.value == 1
    assert [number for _, _, kind, number, _ in events.seen if kind == Kind.END] == by_pio


@pytest.mark.parametrize("stall, o_stall, number", [
    more(0.0, 0.0, 1), (0.0, 0.6, 2), (0.5, 0.3, 3)])
def test_keeps_program_order(stall: float, o_stall: float, number: int) -> None:
    run_bench(LaneMerge(), __file__, stall=stall, o_stall=o_stall, seed=number)
