"""Descriptor blocks are read whole or to the region's end; segments are walked in order."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import ReadOnly, RisingEdge
from nicbed.rtl.vi.descriptors.fetch import DescriptorFetch, FetchRequest
from nicbed.rtl.vi.descriptors.segment_walk import Head, Piece, SegmentWalk, Walk
from nicbed.rtl.vi.types import Address

from tests.labs.bench import Source, pack, parameters, reset_and_clock, run_bench, seed, unpack
from tests.models.nic import BurstMemory
from tests.models.vi.consumer import Memory, TranslatorModel, data_segment, field


def asked(va: int, handle: int, tag: int = 7) -> dict[str, int]:
    return {"address": field(Address, va=va, handle=handle), "tag": tag, "trace": 5}


@cocotb.test()
async def reads_blocks(dut: Any) -> None:
    values = parameters()
    await reset_and_clock(dut, memory__max_beats=values["beats"])
    memory = Memory(page=values["page"], seed=seed())
    TranslatorModel(dut, "memory__translate", memory, stall=values["stall"], seed=seed())
    bus = BurstMemory(dut, "memory__bus", memory.image, stall=values["stall"], seed=seed() + 1,
                      max_beats=values["beats"])
    source = Source(dut, "request", shape=FetchRequest, stall=values["stall"], seed=seed() + 2)
    rng = random.Random(seed())
    edge = RisingEdge(dut.clk)
    for _ in range(values["count"]):
        size = rng.randrange(1, 300)
        offset = rng.randrange(values["page"]) & ~63
        va, handle = memory.region(size, offset=offset)
        at = va + (rng.randrange(size) & ~63)
        kind = rng.choice(("good", "good", "good", "tag", "handle", "odd"))
        room = min(64, size - (at - va), values["page"] - at % values["page"])
        before = len(bus.requests)
        source.send(asked(at + (kind == "odd") * rng.choice((1, 8, 32)),
                          handle + (kind == "handle"), 7 + (kind == "tag")))
        for _ in range(2000):
            await edge
            if dut.valid.value == 1:
                break
        assert dut.valid.value == 1, "no answer"
        if kind != "good":
            memory.forget(handle)
            assert dut.ok.value == 0 and dut.count.value == 0 and len(bus.requests) == before
            continue
        assert dut.ok.value == 1 and int(dut.count.value) == room // 8
        got = int(dut.words.value).to_bytes(64, "little")
        assert got[:room // 8 * 8] == memory.read(at, handle, room // 8 * 8)
        memory.forget(handle)
        assert sum(request["beats"] for request in bus.requests[before:]) == room // 8
    await edge
    assert dut.idle.value == 1


@pytest.mark.parametrize("beats, stall, page", [(32, 0.0, 1024), (32, 0.4, 4096), (3, 0.2, 1024),
                                                (1, 0.0, 65536), (8, 0.3, 1024)])
def test_reads_blocks(beats: int, stall: float, page: int) -> None:
    run_bench(DescriptorFetch(), __file__, testcase="reads_blocks", beats=beats, stall=stall,
              page=page, count=60, seed=beats)


@cocotb.test()
async def walks(dut: Any) -> None:
    values = parameters()
    await reset_and_clock(dut, memory__max_beats=values["beats"])
    memory = Memory(page=1024, seed=seed())
    TranslatorModel(dut, "memory__translate", memory, stall=values["stall"], seed=seed())
    BurstMemory(dut, "memory__bus", memory.image, stall=values["stall"], seed=seed() + 1,
                max_beats=values["beats"])
    rng = random.Random(seed())
    edge = RisingEdge(dut.clk)
    outcomes = set()
    for round_ in range(values["count"]):
        count = rng.choice((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, rng.randrange(253)))
        segments = [(rng.randrange(1 << 38) if rng.random() < 0.9 else rng.randrange(1 << 64),
                     rng.randrange(1 << 26) if rng.random() < 0.9 else rng.randrange(1 << 32),
                     rng.choice((0, 1, 8, 40, rng.randrange(1 << 20)))) for _ in range(count)]
        # A region that ends early: some segments cannot be read.
        whole = 32 + 16 * count
        readable = whole if rng.random() < 0.7 else rng.randrange(32, whole + 1)
        pages = rng.randrange(16) * 64
        va, handle = memory.region(readable, offset=pages)
        image = b"\0" * 32 + b"".join(data_segment(*item) for item in segments)
        memory.write(va, handle, image[:readable])
        # What the head's reader would have seen of the first two.
        room = min(64, readable, 1024 - va % 1024)
        index = rng.choice((0, 0, 1, rng.randrange(count + 1))) if count else 0
        start = rng.choice((0, 0, rng.randrange(segments[index][2] + 1))) if index < count else 0
        dut.user__walk.value = field(Walk, address=field(Address, va=va, handle=handle), tag=7,
                               segments=count, index=index, offset=start, trace=9)
        fresh = rng.random() < 0.8
        dut.user__fresh.value = int(fresh)
        dut.user__head.value = pack(Head, {
            "segments": int.from_bytes(image[32:64].ljust(32, b"\0"), "little"),
            "count": max(0, room - 32) // 16})
        dut.user__load.value = 1
        await edge
        dut.user__load.value = 0
        want = [(number, segments[number]) for number in range(index, count)]
        skip = start
        stop = rng.random() < 0.2
        for number, (place, key, length) in want:
            left, done = length - skip, skip
            skip = 0
            good = 32 + 16 * (number + 1) <= readable // 8 * 8
            while left or not good:
                await settle(dut, edge)
                if not good:
                    break
                assert dut.user__valid.value == 1, (round_, number)
                piece = unpack(Piece, int(dut.user__piece.value))
                wide = (place + done) >> 38 != 0 or key >> 26 != 0 or place >> 38 != 0
                assert piece["left"] == left and piece["wide"] == wide, (round_, number)
                if not wide:
                    assert piece["address"] == field(Address, va=place + done, handle=key)
                assert int(dut.user__index.value) == number and int(dut.user__offset.value) == done
                for _ in range(rng.choice((0, 0, 3, 30))):
                    await edge
                take = rng.choice((left, rng.randrange(1, left + 1), max(1, left - 1)))
                dut.user__bytes.value = take
                dut.user__advance.value = 1
                await edge
                dut.user__advance.value = 0
                left, done = left - take, done + take
            if not good:
                assert dut.user__failed.value == 1 and dut.user__valid.value == 0, (round_, number)
                outcomes.add("failed")
                break
            if stop and rng.random() < 0.5:
                outcomes.add("stopped")
                break
        else:
            await settle(dut, edge)
            assert dut.user__exhausted.value == 1, round_
            outcomes.add("exhausted")
    assert outcomes == {"failed", "stopped", "exhausted"}


async def settle(dut: Any, edge: RisingEdge) -> None:
    """Wait until one of the three outcomes holds."""
    for _ in range(3000):
        await ReadOnly()
        seen = tuple(int(outcome.value) for outcome in (
            dut.user__valid, dut.user__failed, dut.user__exhausted))
        assert sum(seen) <= 1
        await edge
        if sum(seen):
            return
    raise AssertionError("no outcome")


@pytest.mark.parametrize("beats, stall", [(32, 0.0), (32, 0.4), (3, 0.2)])
def test_walks(beats: int, stall: float) -> None:
    run_bench(SegmentWalk(), __file__, testcase="walks", beats=beats, stall=stall, count=120,
              seed=beats)

