"""The byte realigner, at every pair of alignments and many lengths."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.rtl.parts.aligner import Aligner

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


class Strobes:
    """What goes beside the words of ``o``: (strobe, last) of each transfer."""

    def __init__(self, dut: Any) -> None:
        self.seen: list[tuple[int, int]] = []
        cocotb.start_soon(self._run(dut))

    async def _run(self, dut: Any) -> None:
        edge = RisingEdge(dut.clk)
        while True:
            await edge
            if dut.o__valid.value == 1 and dut.o__ready.value == 1:
                self.seen.append((int(dut.strobe.value), int(dut.last.value)))


async def run(dut: Any, source: Source, sink: Sink, strobes: Strobes, rng: random.Random,
              cases: list[tuple[int, int, int]]) -> None:
    """Runs (source, target, bytes), their words all offered at once."""
    memories = [rng.randbytes(-(-(at + count) // 8) * 8) for at, _, count in cases]
    for memory in memories:
        source.send(*(int.from_bytes(memory[at:at + 8], "little")
                      for at in range(0, len(memory), 8)))
    taken = source.sent
    for (at, to, count), memory in zip(cases, memories, strict=True):
        dut.start.value = 1
        dut.offset.value, dut.target.value, dut.bytes.value = at, to, count
        await cycles(dut, 1)
        dut.start.value = 0
        words = -(-(to + count) // 8)
        got = await within(20 * len(memory) + 200, sink.receive(words))
        data = b"".join(word.to_bytes(8, "little") for word in got)
        assert data[to:to + count] == memory[at:at + count], (at, to, count)
        mask = (1 << to + count) - (1 << to)
        assert strobes.seen[-words:] == [
            (mask >> 8 * n & 0xFF, int(n == words - 1)) for n in range(words)]
        await cycles(dut, 1)
        taken += len(memory) // 8
        assert dut.busy.value == 0 and source.sent == taken
        assert sink.taken == []


@cocotb.test()
async def realigns(dut: Any) -> None:
    await reset_and_clock(dut)
    source = Source(dut, "i", stall=parameters()["i_stall"], seed=seed())
    sink = Sink(dut, "o", stall=parameters()["o_stall"], seed=seed() + 1)
    await run(dut, source, sink, Strobes(dut), random.Random(seed()),
              [(at, to, count) for at in range(8) for to in range(8)
               for count in (*range(1, 26), 64, 129)])


@cocotb.test()
async def is_fast(dut: Any) -> None:
    """A word a cycle, whatever the alignments; and the longest run."""
    await reset_and_clock(dut)
    source, sink, strobes = Source(dut, "i"), Sink(dut, "o"), Strobes(dut)
    for at, to, count in ((0, 0, 800), (5, 2, 800), (2, 5, 800), (7, 7, 65535)):
        source.cycles.clear()
        sink.cycles.clear()
        await run(dut, source, sink, strobes, random.Random(1), [(at, to, count)])
        words = -(-(to + count) // 8)
        assert sink.cycles == list(range(sink.cycles[0], sink.cycles[0] + words))
        assert sink.cycles[0] - source.cycles[0] == int(at > to)


@pytest.mark.parametrize("i_stall, o_stall", [more(0.0, 0.0), (0.2, 0.6), more(0.6, 0.0)])
def test_realigns(i_stall: float, o_stall: float) -> None:
    run_bench(Aligner(), __file__, testcase="realigns", i_stall=i_stall, o_stall=o_stall,
              many_cycles=True)


def test_is_fast() -> None:
    run_bench(Aligner(), __file__, testcase="is_fast")
