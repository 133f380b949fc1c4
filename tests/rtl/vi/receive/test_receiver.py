"""The receive side of the VI engine: sends."""

from itertools import pairwise
from typing import Any

import cocotb
import pytest
from nicbed.layouts.description import Description
from nicbed.layouts.via import ADDRESS, PacketKind, Reliability, RemoteOperation
from nicbed.rtl.vi.receive.receiver import Receiver

from tests.labs.bench import reset_and_clock, run_bench
from tests.labs.rows import more
from tests.labs.vi_receiver import Bench, status_of, values

UD, RD, RR = Reliability


def small() -> Receiver:
    return Receiver(description=Description.model_validate({"via": {"vis": 8, "page_bytes": 1024}}))


def completion(vi: int, address: tuple[int, int], length: int, status: int, trace: int = 0,
               immediate: int = 0) -> dict[str, int]:
    return {"queue": 2 * vi + 1, "address": ADDRESS.pack(va=address[0], handle=address[1]),
            "length": length, "status": status, "immediate": immediate, "silent": 0,
            "trace": trace}


@cocotb.test()
async def sends_arrive(dut: Any) -> None:
    await reset_and_clock(dut)
    bench = Bench(dut, **values())
    rng, memory = bench.rng, bench.memory
    levels = [UD, RD, RR, RR, UD, RD, RD, RR]
    for vi, level in enumerate(levels):
        await bench.connect(vi, level)
    buffers = {vi: memory.register(0x10_0000 * (vi + 1) + rng.randrange(4096), 30000, tag=1000 + vi)
               for vi in range(8)}
    want = bytearray(memory.image)
    used = dict.fromkeys(range(8), 0)
    expected: dict[int, list[dict[str, int]]] = {vi: [] for vi in range(8)}
    queued: list[list[Any]] = []
    acknowledgements = []
    for vi in range(8):
        sequence = 0
        packets = []
        for _ in range(12):
            size = rng.choice([0, 1, 7, 8, rng.randrange(64), rng.randrange(1200)])
            content = rng.randbytes(size)
            immediate = rng.getrandbits(32) if rng.random() < 0.4 else None
            # Segments of any lengths, together at least what is needed.
            segments, left, at = [], size, 0
            while left > 0 or not segments and rng.random() < 0.9:
                length = rng.choice([0, 1, 5, 8, rng.randrange(400), size])
                segments.append((buffers[vi].va + used[vi], buffers[vi].handle, length))
                piece = min(length, left)
                memory_places = memory.places(buffers[vi].handle, buffers[vi].va + used[vi], piece)
                for place, byte in zip(memory_places, content[at:at + piece], strict=True):
                    want[place] = byte
                at += piece
                left -= piece
                used[vi] += piece + rng.randrange(4)
                if length > piece:
                    used[vi] += length - piece
            address = bench.post(vi, segments)
            mtu = rng.choice([64, 100, 1024])
            pieces = [content[n:n + mtu] for n in range(0, size, mtu)] or [b""]
            for number, piece in enumerate(pieces):
                last = number == len(pieces) - 1
                asks = last or rng.random() < 0.2
                packets.append((vi, sequence, piece, number == 0, last, immediate if last else None,
                                asks))
                sequence += 1
                if asks and levels[vi] is not UD:
                    acknowledgements.append((vi, sequence & 255))
            expected[vi].append(completion(
                vi, address, size, status_of(RemoteOperation.RECEIVE,
                                             immediate=immediate is not None),
                immediate=immediate or 0))
        queued.append(packets)
    descriptors = {vi: memory.places(bench.arena[vi].handle, bench.arena[vi].va, 12288)
                   for vi in range(8)}
    for places in descriptors.values():
        for place in places:
            want[place] = memory.image[place]
    # The VIs' packets come in any order, each VI's in its own.
    while any(queued):
        packets = rng.choice([packets for packets in queued if packets])
        vi, sequence, piece, first, last, immediate, asks = packets.pop(0)
        bench.packet(vi, PacketKind.SEND, sequence, piece, first=first, last=last,
                     immediate=immediate, acknowledge=asks)
    await bench.settle()
    for vi in range(8):
        got = [{**one, "trace": 0} for one in bench.complete.taken if one["queue"] == 2 * vi + 1]
        for one in got:
            if not one["status"] & 0x80000:
                one["immediate"] = 0
        assert got == expected[vi]
    assert len(bench.complete.taken) == 96
    assert memory.image == want, "no byte beside the messages"
    told = [(one["vi"], one["sequence"]) for one in bench.control_packet.taken]
    assert sorted(told) == sorted(acknowledgements)
    assert all(one["kind"] == PacketKind.ACK for one in bench.control_packet.taken)
    assert bench.break_.taken == [] and bench.event.taken == []
    assert bench.counts == {"unmatched": 0, "duplicate": 0, "gap": 0, "dropped": 0}


@cocotb.test()
async def keeps_pace(dut: Any) -> None:
    """Cycles a message, receives posted ahead, with what the ideal NIC takes for a DMA read of n
    beats, n + 3, and for a write, n + 2; translations found in the NIC."""
    await reset_and_clock(dut)
    bench = Bench(dut, page=4096)
    await bench.connect(1, RR)
    buffer = bench.memory.register(0x10_0000, 40000, tag=1001)
    for size, most in ((8, LATEST[8]), (1024, LATEST[1024])):
        for offset in (0, 3):
            start = len(bench.complete.cycles)
            for number in range(10):
                bench.post(1, [(buffer.va + 2048 * number + offset, buffer.handle, size)])
            sequence = 20 * (size == 1024) + 10 * (offset == 3)
            for number in range(10):
                bench.packet(1, PacketKind.SEND, sequence + number, bytes(size), first=True,
                             last=True, acknowledge=True)
            await bench.settle()
            ends = bench.complete.cycles[start:]
            gaps = [b - a for a, b in pairwise(ends)]
            assert max(gaps) <= most, gaps


LATEST = {8: 27, 1024: 170}
"""Most cycles from completion to completion: 26 and 159 aligned. The issue asks for 30, and for no
more than the link takes, 512."""


def test_keeps_pace() -> None:
    run_bench(small(), __file__, testcase="keeps_pace")


@pytest.mark.parametrize("stall, burst, page", [
    (0.3, 64, 1024), more(0.1, 8, 4096), more(0.0, 256, 1024)])
def test_sends_arrive(stall: float, burst: int, page: int) -> None:
    run_bench(small(), __file__, testcase="sends_arrive", stall=stall, burst=burst, page=page,
              seed=burst, many_cycles=True)
