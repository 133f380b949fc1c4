"""Status and entries are written in order, where they may be, in the cycles that are promised."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.layouts.via import CQ_ENTRY, Status
from nicbed.rtl.vi.complete.completion_queues import CqState
from nicbed.rtl.vi.complete.completion_write import CompletionWrite
from nicbed.rtl.vi.types import Address, Completion

from tests.labs.bench import parameters, reset_and_clock, run_bench, seed
from tests.models.nic import BurstMemory
from tests.models.vi.consumer import Memory, TranslatorModel, field


@cocotb.test()
async def writes(dut: Any) -> None:
    stall, beats = parameters()["stall"], parameters()["beats"]
    await reset_and_clock(dut, memory__max_beats=beats)
    memory = Memory(seed=seed())
    TranslatorModel(dut, "memory__translate", memory, latency=2, stall=stall, seed=seed())
    bus = BurstMemory(dut, "memory__bus", memory.image, stall=stall, seed=seed(), max_beats=beats)
    rng = random.Random(seed())
    edge = RisingEdge(dut.clk)
    ends = set()
    for number in range(100):
        entry = rng.random() < 0.4
        va, handle = memory.region(rng.choice((64, 64, 24)), offset=64 * rng.randrange(8))
        va += rng.choice((0, 0, 0, 8))
        tag = rng.choice((7, 7, 7, 8))
        immediate = rng.random() < 0.5
        status = int(Status.IMMEDIATE) if immediate else 0
        dut.user__completion.value = field(
            Completion, queue=6 + number % 2, address=field(Address, va=va, handle=handle),
            length=number, status=status, immediate=0xABCD)
        dut.user__queue.value = field(CqState, address=field(Address, va=va, handle=handle),
                                      tag=tag, phase=1)
        dut.user__tag.value = tag
        start = dut.user__entry if entry else dut.user__status
        start.value = 1
        before = len(bus.writes)
        await edge
        start.value = 0
        cycles, landed, refused = 0, False, False
        while not landed and not refused:
            await edge
            cycles += 1
            assert cycles < 500, "no end"
            landed, refused = dut.user__landed.value == 1, dut.user__refused.value == 1
            assert dut.memory__translate__hold.value == 1
        assert landed != refused
        await edge
        found = memory.lookup(va, handle, tag)
        good = found is not None and (found[1] >= 8 and found[0] % 8 == 0 if entry else
                                      found[1] >= 32 and found[0] % 64 == 0)
        assert landed == good
        wrote = bus.writes[before:]
        if not good:
            assert wrote == []
        elif entry:
            word = (1 << CQ_ENTRY.offset("phase") | number % 2 << CQ_ENTRY.offset("receive")
                    | 3 << CQ_ENTRY.offset("vi"))
            assert wrote == [(found[0], word)]
        else:
            place = found[0]
            assert [at for at, _ in wrote] == [place + 16, place + 24][not immediate:]
            assert wrote[-1][1] == number | (status | int(Status.DONE)) << 32
            assert not immediate or wrote[0][1] >> 32 == 0xABCD
        if not stall and good and beats > 1:
            assert cycles == 6 + (immediate and not entry)
        ends.add((entry, immediate, landed))
    assert len(ends) == 8


@pytest.mark.parametrize("beats, stall", [(32, 0.0), (1, 0.0), (32, 0.4)])
def test_writes(beats: int, stall: float) -> None:
    run_bench(CompletionWrite(), __file__, testcase="writes", beats=beats, stall=stall,
              seed=beats + int(stall * 10))
