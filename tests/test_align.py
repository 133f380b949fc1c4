"""The byte realigner, at every offset and length."""

import random
from typing import Any

import cocotb
import pytest
from bench import Sink, Source, cycles, parameters, reset_and_clock, run_bench, seed, within
from nicbed.rtl.align import Aligner


async def run(dut: Any, source: Source, sink: Sink, rng: random.Random,
              cases: list[tuple[int, int]]) -> None:
    """Runs of (offset, bytes), their words all offered at once: what comes out of each are the
    bytes asked for, and it takes no word of the next."""
    memories = [rng.randbytes(8 * -(-(offset + count) // 8)) for offset, count in cases]
    for memory in memories:
        source.send(*(int.from_bytes(memory[at:at + 8], "little")
                      for at in range(0, len(memory), 8)))
    taken = source.sent
    for (offset, count), memory in zip(cases, memories, strict=True):
        dut.start.value = 1
        dut.offset.value = offset
        dut.bytes.value = count
        await cycles(dut, 1)
        dut.start.value = 0
        got = await within(20 * len(memory) + 200, sink.receive(-(-count // 8)))
        data = b"".join(word.to_bytes(8, "little") for word in got)
        assert data[:count] == memory[offset:offset + count], (offset, count)
        await cycles(dut, 1)
        taken += len(memory) // 8
        assert dut.busy.value == 0 and source.sent == taken
        assert sink.taken == []


@cocotb.test()
async def realigns(dut: Any) -> None:
    await reset_and_clock(dut)
    source = Source(dut, "i", stall=parameters()["i_stall"], seed=seed())
    sink = Sink(dut, "o", stall=parameters()["o_stall"], seed=seed() + 1)
    await run(dut, source, sink, random.Random(seed()),
              [(offset, count) for offset in range(8) for count in (*range(1, 26), 64, 129)])


@cocotb.test()
async def is_fast(dut: Any) -> None:
    """A word a cycle, whatever the offset."""
    await reset_and_clock(dut)
    source, sink = Source(dut, "i"), Sink(dut, "o")
    for offset in (0, 5):
        source.cycles.clear()
        sink.cycles.clear()
        await run(dut, source, sink, random.Random(1), [(offset, 800)])
        assert sink.cycles == list(range(sink.cycles[0], sink.cycles[0] + 100))
        assert sink.cycles[0] - source.cycles[0] == (1 if offset else 0)


@pytest.mark.parametrize("i_stall, o_stall", [(0.0, 0.0), (0.6, 0.0), (0.2, 0.6)])
def test_realigns(i_stall: float, o_stall: float) -> None:
    run_bench(Aligner(), __file__, testcase="realigns", i_stall=i_stall, o_stall=o_stall)


def test_is_fast() -> None:
    run_bench(Aligner(), __file__, testcase="is_fast")
