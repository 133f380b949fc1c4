"""The byte realigner, at every offset and length."""

import random
from typing import Any

import cocotb
import pytest
from bench import Sink, Source, cycles, parameters, reset_and_clock, run_bench, seed, within
from nicbed.rtl.align import Aligner


async def run(dut: Any, source: Source, sink: Sink, rng: random.Random, offset: int,
              count: int) -> None:
    """One run: the bytes that come out are those asked for, in the words that hold them."""
    words = -(-(offset + count) // 8)
    memory = rng.randbytes(8 * words)
    dut.start.value = 1
    dut.offset.value = offset
    dut.bytes.value = count
    await cycles(dut, 1)
    dut.start.value = 0
    source.send(*(int.from_bytes(memory[8 * n:8 * n + 8], "little") for n in range(words)))
    got = await within(20 * words + 200, sink.receive(-(-count // 8)))
    data = b"".join(word.to_bytes(8, "little") for word in got)
    assert data[:count] == memory[offset:offset + count], (offset, count)
    await within(50, source.drain())
    await cycles(dut, 1)
    assert dut.busy.value == 0
    assert sink.taken == []


@cocotb.test()
async def realigns(dut: Any) -> None:
    await reset_and_clock(dut)
    source = Source(dut, "i", stall=parameters()["i_stall"], seed=seed())
    sink = Sink(dut, "o", stall=parameters()["o_stall"], seed=seed() + 1)
    rng = random.Random(seed())
    for offset in range(8):
        for count in (*range(1, 26), 64, 129):
            await run(dut, source, sink, rng, offset, count)


@cocotb.test()
async def is_fast(dut: Any) -> None:
    """A word a cycle, whatever the offset."""
    await reset_and_clock(dut)
    source, sink = Source(dut, "i"), Sink(dut, "o")
    for offset in (0, 5):
        source.cycles.clear()
        sink.cycles.clear()
        await run(dut, source, sink, random.Random(1), offset, 800)
        assert sink.cycles == list(range(sink.cycles[0], sink.cycles[0] + 100))
        assert sink.cycles[0] - source.cycles[0] == (1 if offset else 0)


@pytest.mark.parametrize("i_stall, o_stall", [(0.0, 0.0), (0.6, 0.0), (0.2, 0.6)])
def test_realigns(i_stall: float, o_stall: float) -> None:
    run_bench(Aligner(), __file__, testcase="realigns", i_stall=i_stall, o_stall=o_stall)


def test_is_fast() -> None:
    run_bench(Aligner(), __file__, testcase="is_fast")
