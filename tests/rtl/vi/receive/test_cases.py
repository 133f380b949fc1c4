"""The receive side of the VI engine: what random packets hardly reach."""

from collections import deque
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.layouts.trace import Kind
from nicbed.layouts.via import (
    ADDRESS,
    BreakCode,
    Event,
    PacketKind,
    Reliability,
    RemoteOperation,
    Status,
    ViState,
)
from nicbed.rtl.vi.types import ControlAction

from tests.labs.bench import cycles, reset_and_clock, run_bench
from tests.labs.vi_receiver import Bench, status_of
from tests.models.nic import Events
from tests.rtl.vi.receive.test_receiver import completion, small

UD, RD, RR = Reliability
RECEIVE = RemoteOperation.RECEIVE


async def bench_of(dut: Any, *levels: Reliability, **options: Any) -> Bench:
    await reset_and_clock(dut)
    bench = Bench(dut, **options)
    for vi, level in enumerate(levels):
        await bench.connect(vi, level, rdma_read=1, rdma_write=1)
    return bench


@cocotb.test()
async def a_read_that_waits(dut: Any) -> None:
    """A READ_REQUEST waits until its job is taken; nothing passes it."""
    bench = await bench_of(dut, RR, RR)
    bench.read_job.stall = 1.0
    await cycles(dut, 2)
    bench.packet(0, PacketKind.READ_REQUEST, 0, address=(64, 1), field=9, acknowledge=True)
    bench.packet(1, PacketKind.PROBE, 0, field=5)
    await cycles(dut, 200)
    assert bench.control_packet.taken == [] and dut.sender__read_job__valid.value == 1
    bench.read_job.stall = 0.0
    await bench.settle()
    assert bench.read_job.taken == [
        {"vi": 0, "address": ADDRESS.pack(va=64, handle=1), "length": 9}]
    assert [(one["vi"], one["kind"], one["sequence"]) for one in bench.control_packet.taken] == [
        (0, PacketKind.ACK, 1), (1, PacketKind.ACK, 0)]


@cocotb.test()
async def what_is_owed(dut: Any) -> None:
    """Of a hole a NAK, once; what replaces it before it is gone says as much: a duplicate's answer
    is a NAK too, a probe's has its number. An abort owes what it owed, a new connection nothing."""
    bench = await bench_of(dut, RD)
    told = bench.control_packet
    assert told.forgotten == [0, 0], "at CREATE and CONNECT"
    bench.packet(0, PacketKind.SEND, 1, first=True, last=True)
    bench.packet(0, PacketKind.SEND, 2, first=True, last=True)
    bench.packet(0, PacketKind.SEND, 255, first=True, last=True)
    bench.packet(0, PacketKind.PROBE, 77, field=0x89AB_CDEF)
    await bench.settle()
    assert told.taken == [
        {"vi": 0, "kind": PacketKind.NAK, "echo": 0, "sequence": 0, "code": 0}] * 2 + [
        {"vi": 0, "kind": PacketKind.ACK, "echo": 1, "sequence": 0, "code": 0x89AB_CDEF}]
    told.taken.clear()
    bench.post(0, [])
    bench.packet(0, PacketKind.SEND, 0, first=True, last=True, acknowledge=True)
    bench.packet(0, PacketKind.SEND, 255, first=True, last=True)
    bench.packet(0, PacketKind.SEND, 1, first=True, last=True, acknowledge=True)
    await bench.settle()
    assert [(one["kind"], one["sequence"], one["code"]) for one in told.taken] == [
        (PacketKind.ACK, 1, 0), (PacketKind.ACK, 1, 0), (PacketKind.BREAK, 1, BreakCode.LOST)]
    bench.control.send({"vi": 0, "action": ControlAction.ABORT.value})
    await bench.settle()
    assert told.forgotten == [0, 0]
    await bench.connect(0, RD)
    assert told.forgotten == [0] * 4


@cocotb.test()
async def control_passes_a_waiting_break(dut: Any) -> None:
    bench = await bench_of(dut, RD, RD)
    bench.break_.stall = bench.acknowledged.stall = 1.0
    await cycles(dut, 2)
    bench.packet(0, PacketKind.SEND, 0, first=True, last=True)
    await cycles(dut, 50)
    assert dut.reports__break___valid.value == 1
    bench.control.send({"vi": 0, "action": ControlAction.ABORT.value})
    bench.reading.send({"vi": 1, "address": 64})
    bench.packet(1, PacketKind.ACK, 3)
    for _ in range(60):
        await RisingEdge(dut.clk)
    assert bench.control.sent == 5 and bench.reading.sent == 1
    assert bench.acknowledged.taken == [] and dut.sender__acknowledged__valid.value == 0
    bench.break_.stall = 0.0
    await cycles(dut, 50)
    assert dut.sender__acknowledged__valid.value == 1, "an acknowledgement may wait"
    bench.control.send({"vi": 1, "action": ControlAction.ABORT.value})
    await cycles(dut, 50)
    assert bench.control.sent == 6
    assert [one["status"] for one in bench.complete.taken] == [
        status_of(RemoteOperation.RDMA_READ, Status.FLUSHED)]
    bench.acknowledged.stall = 0.0
    await bench.settle()
    assert bench.break_.taken == [{"vi": 0, "event": Event.CONN_LOST}]
    assert bench.acknowledged.taken == [
        {"vi": 1, "sequence": 3, "again": 0, "echo": 0, "broken": 0, "code": 0}]


@cocotb.test()
async def aborted_with_packets_ahead(dut: Any) -> None:
    """Two VIs' packets wait for their turn, each with a descriptor taken for it. Whichever VI is
    aborted, its own descriptor is flushed, at once, and the other one's is left."""
    bench = await bench_of(dut, RD, RD, RD, RD)
    buffers = {vi: [(0x1000, bench.memory.register(0x1000, 100, tag=1000 + vi).handle, 100)]
               for vi in (1, 2)}
    for aborted in ((1,), (2,), (1, 2), (2, 1), (3,)):
        for vi in (1, 2, 3):
            await bench.connect(vi, RD)
            bench.forget(vi)
        bench.counts["unmatched"] = 0
        bench.acknowledged.stall = 1.0
        await cycles(dut, 2)
        addresses = {vi: bench.post(vi, segments) for vi, segments in buffers.items()}
        bench.packet(0, PacketKind.ACK, 0)
        traces = {vi: bench.packet(vi, PacketKind.SEND, 0, b"waits", first=True, last=True)
                  for vi in addresses}
        await cycles(dut, 100)
        assert not any(bench.queues.posted[vi] for vi in addresses), "taken ahead"
        for vi in aborted:
            bench.contexts.vis[vi]["state"] = ViState.ERROR
            bench.control.send({"vi": vi, "action": ControlAction.ABORT.value})
        await cycles(dut, 100)
        wanted = [completion(vi, addresses[vi], 0, status_of(RECEIVE, Status.FLUSHED))
                  for vi in aborted if vi in addresses]
        assert bench.complete.taken == wanted, aborted
        bench.acknowledged.stall = 0.0
        await bench.settle()
        wanted += [completion(vi, addresses[vi], 5, status_of(RECEIVE), traces[vi])
                   for vi in addresses if vi not in aborted]
        assert bench.complete.taken == wanted, aborted
        assert bench.counts["unmatched"] == len(set(aborted) & set(addresses))
        bench.forget_results()


@cocotb.test()
async def short_packets_and_strange_vis(dut: Any) -> None:
    bench = await bench_of(dut, UD)
    events = Events(dut, "events__0", "events__1")
    region = bench.memory.register(0x1000, 100, tag=1000)
    address = bench.post(0, [(0x1000, region.handle, 100)])
    before = bytes(bench.image)
    header = {"first": 1, "following": 0, "last": 1, "trace": 1}
    bench.i.send({"data": 0x5_03_0000_0000, **header})
    for length, detail, words in ((7, 0, 1), (8, 1, 1), (15, 2, 2), (1, 0, 1)):
        bench.i.send({"data": detail << 56 | 3 << 32 | length << 16, "first": 1, "last": 0,
                      "following": words, "trace": 2},
                     *({"data": 100 << 12, "first": 0, "last": int(n == words - 1),
                        "following": 0, "trace": 2} for n in range(words)))
    for vi in (8, 4095, 7):
        bench.packet(vi, PacketKind.SEND, 0, b"x", first=True, last=True, source=100)
    # A create of a VI that is not there is of no other.
    bench.control.send({"vi": 8, "action": ControlAction.CREATE.value})
    await bench.settle()
    assert bench.counts["unmatched"] == 8 and bench.complete.taken == []
    assert bench.image == before
    trace = bench.packet(0, PacketKind.SEND, 0, b"abc", first=True, last=True)
    await bench.settle()
    assert bench.complete.taken == [completion(0, address, 3, status_of(RECEIVE), trace)]
    kinds = [(name, kind, number) for _, name, kind, number, _ in events.seen]
    assert kinds[-2:] == [("events__0", Kind.BEGIN, trace), ("events__1", Kind.END, trace)]
    assert [kind for name, kind, _ in kinds if name == "events__1"] == [Kind.DROP] * 8 + [Kind.END]
    assert [kind for name, kind, _ in kinds if name == "events__0"] == [Kind.BEGIN] * 9


@cocotb.test()
async def descriptors_at_a_regions_end(dut: Any) -> None:
    """A head of less than 64 bytes will do; less than 32 will not; a segment that cannot be read is
    a protection error; a held translation is let go."""
    bench = await bench_of(dut, UD, UD, UD)
    # Descriptors in regions that end behind so many bytes of them.
    for vi, bytes_, error, silent in ((0, 48, 0, 0), (1, 64, Status.PROTECTION, 0), (2, 24, 0, 1)):
        data = bench.memory.register(0x9000 + 0x10000 * vi, 100, tag=1000 + vi)
        arena = bench.memory.register(0x5000_0000 + 0x10000 * vi, bytes_, tag=1000 + vi)
        bench.arena[vi] = bench.memory.register(0x6000_0000 + 0x10000 * vi, 512, tag=1000 + vi)
        bench._used[vi] = 0
        address = bench.describe(vi, [(data.va, data.handle, 40)] * (1 if vi == 0 else 3))
        content = bench.memory.read(address[1], address[0], bytes_)
        bench.memory.write(arena.handle, arena.va, content)
        bench.queues.posted[vi] = deque([(arena.va, arena.handle)])
        sent = bench.rng.randbytes(40 if vi == 0 else 100)
        bench.packet(vi, PacketKind.SEND, 0, sent, first=True, last=True)
        await bench.settle()
        done = bench.complete.taken.pop()
        assert done["silent"] == silent
        if not silent:
            partial = Status.PARTIAL if error else 0
            assert done["status"] == status_of(RECEIVE, error | partial)
            assert done["length"] == (80 if error else 40)
            assert bench.memory.read(data.handle, data.va, 40) == sent[40 if error else 0:][:40]
        assert all(client.held.value == 0 for client in bench.translators)
    assert bench.break_.taken == [{"vi": 2, "event": Event.POST_DESC}]


@cocotb.test()
async def between_the_packets_of_a_message(dut: Any) -> None:
    """A peer's read, an acknowledgement and another VI's message leave a message where it was."""
    bench = await bench_of(dut, RR, RR)
    region = bench.memory.register(0x1000, 100, tag=1000)
    other = bench.memory.register(0x8000, 100, tag=1001)
    address = bench.post(0, [(0x1000, region.handle, 3), (0x1010, region.handle, 90)])
    bench.post(1, [(0x8000, other.handle, 90)])
    bench.packet(0, PacketKind.SEND, 0, b"first", first=True)
    bench.packet(1, PacketKind.SEND, 0, b"another", first=True, last=True)
    bench.packet(0, PacketKind.READ_REQUEST, 1, address=(64, 1), field=9, first=True, last=True)
    bench.packet(0, PacketKind.ACK, 0)
    trace = bench.packet(0, PacketKind.SEND, 2, b"second", last=True)
    await bench.settle()
    assert bench.complete.taken[1:] == [completion(0, address, 11, status_of(RECEIVE), trace)]
    assert bench.memory.read(region.handle, 0x1000, 3) == b"fir"
    assert bench.memory.read(region.handle, 0x1010, 8) == b"stsecond"


@cocotb.test()
async def nothing_counts_after_a_break(dut: Any) -> None:
    bench = await bench_of(dut, RR)
    bench.post(0, [])
    bench.packet(0, PacketKind.BREAK, 4, field=2)
    bench.packet(0, PacketKind.SEND, 0, first=True, last=True, acknowledge=True)
    await bench.settle()
    assert bench.acknowledged.taken == [
        {"vi": 0, "sequence": 4, "again": 0, "echo": 0, "broken": 1, "code": 2}]
    assert bench.complete.taken == [] and bench.counts["unmatched"] == 1
    assert bench.control_packet.taken == [] and bench.break_.taken == []


@cocotb.test()
async def a_read_for_a_broken_vi(dut: Any) -> None:
    """Told of a read when the VI is no longer connected, it flushes the read at once; an abort
    flushes a message begun, and the read, and forgets both."""
    bench = await bench_of(dut, RR, RD)
    region = bench.memory.register(0x1000, 100, tag=1000)
    bench.contexts.vis[1]["state"] = 3
    bench.reading.send({"vi": 1, "address": 64}, {"vi": 0, "address": 128})
    address = bench.post(0, [(0x1000, region.handle, 100)])
    await bench.settle()
    bench.packet(0, PacketKind.SEND, 0, b"12345", first=True)
    await bench.settle()
    flushed = status_of(RemoteOperation.RDMA_READ, Status.FLUSHED)
    assert [(one["queue"], one["address"], one["status"]) for one in bench.complete.taken] == [
        (2, 64, flushed)]
    bench.complete.taken.clear()
    for _ in range(2):
        bench.control.send({"vi": 0, "action": ControlAction.ABORT.value})
    await bench.settle()
    packed = ADDRESS.pack(va=address[0], handle=address[1])
    assert [(one["queue"], one["address"], one["status"], one["length"])
            for one in bench.complete.taken] == [
                (1, packed, status_of(RECEIVE, Status.FLUSHED | Status.PARTIAL), 0),
                (0, 128, flushed, 0)]
    assert bench.read_done.taken == []


@cocotb.test()
async def a_read_lost(dut: Any) -> None:
    """It completes with TRANSPORT, half read or not; none outstanding, nothing happens. What comes
    for it afterwards goes nowhere."""
    bench = await bench_of(dut, RR, RD, RR)
    region = bench.memory.register(0x1000, 100, tag=1000)
    after = bench.memory.read(region.handle, 0x1007, 3)
    address = bench.describe(0, [(0, 0, 0), (0x1000, region.handle, 100)], control=2)
    packed = ADDRESS.pack(va=address[0], handle=address[1])
    bench.reading.send({"vi": 0, "address": packed}, {"vi": 1, "address": 128})
    bench.packet(0, PacketKind.READ_RESPONSE, 0, b"half of", first=True, acknowledge=True)
    await bench.settle()
    bench.read_lost.send(0, 1, 2, 0)
    await bench.settle()
    bench.packet(0, PacketKind.READ_RESPONSE, 1, b" it", last=True, acknowledge=True)
    await bench.settle()
    lost = status_of(RemoteOperation.RDMA_READ, Status.TRANSPORT)
    assert [(one["queue"], one["address"], one["status"], one["length"])
            for one in bench.complete.taken] == [(0, packed, lost | Status.PARTIAL, 0),
                                                 (2, 128, lost, 0)]
    assert bench.memory.read(region.handle, 0x1000, 10) == b"half of" + after
    assert bench.read_done.taken == [] and bench.break_.taken == []
    assert [one["kind"] for one in bench.control_packet.taken] == [PacketKind.ACK] * 2
    # The next one starts anew.
    bench.reading.send({"vi": 0, "address": packed})
    await bench.settle()
    bench.packet(0, PacketKind.READ_RESPONSE, 2, b"a new one", first=True, last=True)
    await bench.settle()
    assert bench.complete.taken[-1]["status"] == status_of(RemoteOperation.RDMA_READ)
    assert bench.complete.taken[-1]["length"] == 9 and bench.read_done.taken == [0]


@cocotb.test()
async def nothing_before_the_verdict(dut: Any) -> None:
    """The last word of each packet does not come for a long time, is bad when it comes, and then
    the packet comes again. Before that nothing happens, but that data lies in a posted descriptor's
    segments, behind what was delivered."""
    levels = (RR, RR, RR, RD, UD, RD, RR, RR)
    bench = await bench_of(dut, *levels, burst=64)
    memory = bench.memory
    regions = [memory.register(0x1_0000 * (vi + 1), 1000, tag=1000 + vi, rdma_write=True)
               for vi in range(8)]

    def data(vi: int, length: int = 1000) -> list[tuple[int, int, int]]:
        return [(regions[vi].va, regions[vi].handle, length)]

    for vi in (0, 5, 7):
        bench.post(vi, data(vi))
    bench.post(2, data(2, 100))
    bench.post(4, data(4), control=1)
    va, handle = bench.describe(6, [(0, 0, 0), *data(6)], control=2)
    bench.reading.send({"vi": 6, "address": ADDRESS.pack(va=va, handle=handle)})
    bench.packet(7, PacketKind.SEND, 0, b"delivered", first=True)
    await bench.settle()
    target = (regions[3].va, regions[3].handle)
    ports = (bench.complete, bench.break_, bench.event, bench.acknowledged, bench.read_done,
             bench.control_packet, bench.read_job)
    content = bytes(range(200))

    def came() -> list[Any]:
        return [one for port in ports for one in port.taken] + [
            name for name, count in bench.counts.items() for _ in range(count)]

    seen = {}
    for name, vi, kind, sequence, more_ in (
            ("a message", 0, PacketKind.SEND, 0, {}),
            ("none posted", 1, PacketKind.SEND, 0, {}),
            ("too long", 2, PacketKind.SEND, 0, {}),
            ("a write", 3, PacketKind.RDMA_WRITE, 0, {"address": target}),
            ("a write refused", 3, PacketKind.RDMA_WRITE, 1, {"address": (5, 5)}),
            ("malformed", 4, PacketKind.SEND, 0, {}),
            ("a gap", 5, PacketKind.SEND, 2, {}),
            ("a duplicate", 5, PacketKind.SEND, 255, {}),
            ("the middle of none", 5, PacketKind.SEND, 0, {"first": False, "last": False}),
            ("a job", 5, PacketKind.READ_REQUEST, 1, {"address": target}),
            ("a stranger's", 0, PacketKind.SEND, 1, {"source": 5}),
            ("an answer", 6, PacketKind.READ_RESPONSE, 0, {}),
            ("a message in another", 7, PacketKind.SEND, 1, {}),
            ("a break", 0, PacketKind.BREAK, 0, {}),
            ("a probe", 6, PacketKind.PROBE, 0, {})):
        given = {"first": True, "last": True, "acknowledge": True} | more_
        sent = content if kind < PacketKind.ACK and name != "a job" else b""
        before = bytes(bench.image)
        bench.packet(vi, kind, sequence, sent, held=True, **given)
        await cycles(dut, 300)
        for bad in (True, False):
            assert came() == [], name
            if name not in ("a message", "too long", "an answer"):
                assert bench.image == before, f"{name}: memory"
            if bad:
                seen[name] = bench.image != before
                bench.release(bad=True)
                await bench.settle()
        bench.packet(vi, kind, sequence, sent, **given)
        await bench.settle()
        assert came() != [] or name == "the middle of none", name
        bench.forget_results()
        bench.counts.update(dict.fromkeys(bench.counts, 0))
    assert [name for name in seen if seen[name]] == ["a message", "too long", "an answer"], seen
    assert memory.read(regions[0].handle, regions[0].va, 200) == content
    assert memory.read(regions[3].handle, regions[3].va, 200) == content


@pytest.mark.parametrize("case", [
    "a_read_that_waits", "what_is_owed", "control_passes_a_waiting_break",
    "aborted_with_packets_ahead", "short_packets_and_strange_vis", "descriptors_at_a_regions_end",
    "between_the_packets_of_a_message", "nothing_counts_after_a_break",
    "a_read_for_a_broken_vi", "a_read_lost", "nothing_before_the_verdict"])
def test_cases(case: str) -> None:
    run_bench(small(), __file__, testcase=case)
