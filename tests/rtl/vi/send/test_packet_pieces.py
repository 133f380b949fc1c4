"""Packets of any pieces land in their slot, whole, or end with the error of their descriptor."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.layouts.via import Status
from nicbed.rtl.vi.descriptors.segment_walk import Head
from nicbed.rtl.vi.send.job import Job, JobKind
from nicbed.rtl.vi.send.packet_pieces import PacketPieces
from nicbed.rtl.vi.types import Address

from tests.labs.bench import pack, parameters, reset_and_clock, run_bench, seed
from tests.models.nic import BurstMemory
from tests.models.vi.consumer import Memory, TranslatorModel, data_segment, field

LIMIT = 4000


@cocotb.test()
async def gathers(dut: Any) -> None:
    stall = parameters()["stall"]
    await reset_and_clock(dut, pieces__max_beats=32, chunks__max_beats=8)
    memory = Memory(page=1024, seed=seed())
    TranslatorModel(dut, "pieces__translate", memory, stall=stall, seed=seed())
    BurstMemory(dut, "pieces__bus", memory.image, stall=stall, seed=seed(), max_beats=32)
    rng = random.Random(seed())
    edge = RisingEdge(dut.clk)
    ends = set()
    for _ in range(parameters()["count"]):
        kind = rng.choice((JobKind.PACKET, JobKind.PACKET, JobKind.RESPOND, JobKind.READ))
        lengths = [rng.choice((0, 1, 7, 8, rng.randrange(1, 300))) for _ in range(rng.randrange(3))]
        if kind is JobKind.RESPOND:
            lengths = [rng.randrange(1, 600)]
        regions = [memory.region(max(1, length), access=3, offset=rng.randrange(1024))
                   for length in lengths]
        want = b"".join(memory.read(va, handle, length)
                        for (va, handle), length in zip(regions, lengths, strict=True) if length)
        says = len(want) + rng.choice((0, 0, 0, -1, 1)) * (len(want) > 1
                                                           and kind is not JobKind.RESPOND)
        broken = bool(want) and rng.random() < 0.2
        if broken:
            memory.forget(next(handle for (_, handle), length
                               in zip(regions, lengths, strict=True) if length))
        segments = b"".join(data_segment(va, handle, length)
                            for (va, handle), length in zip(regions, lengths, strict=True))
        remote = field(Address, va=regions[0][0], handle=regions[0][1]) if regions else 0
        job = field(
            Job, kind=kind.value, tag=7, segments=len(lengths), fresh=1, last=1, bytes=says,
            length=says, remote=remote, trace=3,
            head=pack(Head, {"segments": int.from_bytes(segments.ljust(32, b"\0"), "little"),
                             "count": len(lengths)}))
        dut.user__offered.value, dut.user__load.value = job, 1
        await edge
        dut.job.value, dut.user__load.value = job, 0
        start = dut.user__sum if kind is JobKind.READ else dut.user__gather
        dut.user__at_once.value = rng.randrange(2)
        start.value = 1
        headed, stops = rng.randrange(60), rng.choice((LIMIT, LIMIT, LIMIT, rng.randrange(60)))
        words: dict[int, int] = {}
        commits = 0
        for cycle in range(LIMIT):
            await edge
            start.value = 0
            if dut.body__valid.value == 1:
                words[int(dut.body__index.value)] = int(dut.body__data.value)
            commits += int(dut.user__commit.value)
            found = [name for name in ("whole", "summed", "stopped", "failed")
                     if getattr(dut, f"user__{name}").value == 1]
            if found:
                break
            dut.user__headed.value = int(cycle >= headed)
            dut.user__stop.value = int(cycle >= stops)
        assert len(found) == 1, "no end"
        status = int(dut.user__status.value)
        dut.user__headed.value = dut.user__stop.value = 0
        await edge
        assert dut.part.value == 0
        assert commits == (found[0] == "whole")
        if found[0] == "stopped":
            assert stops < LIMIT
        elif found[0] == "failed":
            assert status in ({Status.LENGTH} if says != len(want) else set()) | (
                {Status.PROTECTION} if broken else set())
        else:
            # The sum of an RDMA read's segments does not look at their memory.
            assert says == len(want) and (not broken or kind is JobKind.READ)
            assert (found[0] == "summed") == (kind is JobKind.READ)
        if found[0] == "whole":
            padded = want + bytes(-len(want) % 8)
            assert words == {at // 8: int.from_bytes(padded[at:at + 8], "little")
                             for at in range(0, len(padded), 8)}
        ends.add((found[0], status))
    assert len(ends) == 5, ends


@pytest.mark.parametrize("stall", [0.0, 0.3])
def test_gathers(stall: float) -> None:
    run_bench(PacketPieces(), __file__, testcase="gathers", stall=stall, count=120,
              seed=int(stall * 10) + 1)
