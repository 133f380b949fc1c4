"""RDMA writes and reads, asked for here and answered here."""

import random
from typing import Any

import cocotb
import pytest
from nicbed.layouts.via import BreakCode, Event, PacketKind, Status
from nicbed.rtl.vi.send.read_timer import LEAST
from nicbed.rtl.vi.types import Address

from tests.labs.bench import cycles, parameters, reset_and_clock, run_bench, seed
from tests.labs.rows import more
from tests.labs.vi_sender import RD, RR, UD, Lab
from tests.models.vi.consumer import field
from tests.rtl.vi.send.test_reliable import Peer
from tests.rtl.vi.send.test_sender import check, sender


@cocotb.test()
async def writes(dut: Any) -> None:
    """Each packet says where its bytes go."""
    await reset_and_clock(dut)
    lab = Lab(dut, vis=8, seed=seed(), stall=parameters()["stall"])
    rng = random.Random(seed())
    await lab.open(1, UD)
    await lab.open(2, RR)
    Peer(lab, 2, loss=0.0, delay=9, seed=1)
    for _ in range(parameters()["count"]):
        vi = rng.choice((1, 2))
        payload = rng.randbytes(rng.choice((0, 1, 64, 65, 300)))
        cut = rng.randrange(len(payload) + 1)
        remote = rng.randrange(1 << 30), rng.randrange(1 << 26)
        immediate = rng.choice((0, 5))
        sent = len(lab.packets)
        lab.post(2 * vi, d := lab.descriptor([payload[:cut], payload[cut:]], operation=1,
                                             remote=remote, immediate=immediate, trace=3))
        check((await lab.completed(1))[0], 2 * vi, d)
        await lab.quiet()
        packets = [p for p in lab.packets[sent:] if p.kind == PacketKind.RDMA_WRITE]
        assert b"".join(p.data for p in packets) == payload and len(packets) >= 1
        at = remote[0]
        for packet in packets:
            assert packet.address == field(Address, va=at, handle=remote[1])
            assert packet.immediate == bool(immediate)
            at += len(packet.data)
        assert packets[-1].last and packets[-1].value == immediate


@pytest.mark.parametrize("stall", [0.2, more(0.0)])
def test_writes(stall: float) -> None:
    run_bench(sender(), __file__, testcase="writes", stall=stall, count=20,
              many_cycles=True)


@cocotb.test()
async def reads(dut: Any) -> None:
    """A read waits for what is before it, and what is behind it waits for the read."""
    values = parameters()
    await reset_and_clock(dut)
    level = values["level"]
    lab = Lab(dut, vis=8, seed=seed(), stall=values["stall"], timeout=100_000)
    await lab.open(1, level)
    remote = (0x7654, 88)
    first = [lab.descriptor([b"a" * 100]), lab.descriptor([b"b"])]
    read = lab.descriptor([b"r" * 40, b"s" * 300], operation=2, remote=remote, trace=5)
    last = lab.descriptor([b"z"])
    lab.post(2, *first, read, last)
    await lab.until(lambda: len(lab.packets) >= 3, 3000, "packets")
    await cycles(dut, 500)
    if level == RR:
        assert [p.kind for p in lab.packets] == [PacketKind.SEND] * 3
        lab.acknowledge(1, 2)
        await cycles(dut, 200)
        assert len(lab.packets) == 3
        lab.acknowledge(1, 3)
    await lab.until(lambda: len(lab.packets) == 4, 500, "the request")
    request = lab.packets[3]
    assert request.kind == PacketKind.READ_REQUEST and request.first and request.last
    assert request.acknowledge and request.value == 340 and request.data == b""
    assert request.address == field(Address, va=remote[0], handle=remote[1])
    assert await lab.reading.receive(1) == [
        {"vi": 1, "address": field(Address, va=read.va, handle=read.handle)}]
    for completion, descriptor in zip(await lab.completed(2), first, strict=True):
        check(completion, 2, descriptor)
    lab.acknowledge(1, 4)
    await cycles(dut, 500)
    assert len(lab.packets) == 4 and lab.done.taken == []
    lab.read_done.send(1)
    await lab.until(lambda: len(lab.packets) == 5, 500, "what is behind")
    lab.acknowledge(1, 5)
    check((await lab.completed(1))[0], 2, last)
    # One whose segments do not add up.
    bad = lab.descriptor([b"r" * 40, b"s" * 300], operation=2, length=341)
    lab.post(2, bad)
    await lab.until(lambda: lab.breaks.taken, 1000, "a break")
    await lab.abort(1)
    check((await lab.completed(1))[0], 2, bad, Status.LENGTH)
    await lab.quiet()
    assert lab.reading.taken == []


@pytest.mark.parametrize("level, stall", [(RR, 0.3), more(RD, 0.0), more(RR, 0.0)])
def test_reads(level: int, stall: float) -> None:
    run_bench(sender(), __file__, testcase="reads", level=int(level), stall=stall,
              many_cycles=True)


@cocotb.test()
async def answers(dut: Any) -> None:
    """Reads of peers are answered, between the messages of their VI, windows kept."""
    values = parameters()
    await reset_and_clock(dut)
    lab = Lab(dut, vis=8, seed=seed(), stall=values["stall"], timeout=900, retries=100)
    rng = random.Random(seed())
    peers = {}
    for vi in (1, 2):
        await lab.open(vi, RR if vi == 1 else RD)
        peers[vi] = Peer(lab, vi, loss=values["loss"], delay=20, seed=vi)
    want: dict[int, list[bytes]] = {1: [], 2: []}
    for _ in range(values["count"]):
        for vi in (1, 2):
            content = rng.randbytes(rng.choice((0, 1, 64, 500, 1500)))
            va, handle = lab.buffer(content, access=2)
            want[vi].append(content)
            lab.read_job.send({"vi": vi, "address": field(Address, va=va, handle=handle),
                               "length": len(content)})
        messages = [(vi, lab.descriptor([rng.randbytes(rng.randrange(300))])) for vi in (1, 2)]
        await cycles(dut, rng.randrange(100))
        for vi, message in messages:
            lab.post(2 * vi, message)
        await lab.completed(2, 100_000)
        for vi in (1, 2):
            await lab.until(lambda vi=vi: len([
                p for p in peers[vi].accepted if p.kind == PacketKind.READ_RESPONSE and p.last])
                == len(want[vi]), 100_000, "the answer")
    await lab.quiet(100_000)
    for vi, peer in peers.items():
        got, body, open_ = [], b"", None
        for packet in peer.accepted:
            # A message is not interrupted by an answer, nor the other way round.
            assert open_ in (None, packet.kind) and packet.first == (open_ is None)
            open_ = None if packet.last else packet.kind
            if packet.kind == PacketKind.READ_RESPONSE:
                body += packet.data
                if packet.last:
                    got.append(body)
                    body = b""
        assert got == want[vi]
    assert lab.breaks.taken == [] and lab.events.taken == []


@pytest.mark.parametrize("loss, stall, seed", [(0.2, 0.2, 2), more(0.0, 0.0, 1)])
def test_answers(loss: float, stall: float, seed: int) -> None:
    run_bench(sender(), __file__, testcase="answers", loss=loss, stall=stall, count=8, seed=seed,
              many_cycles=True)


@cocotb.test()
async def refuses(dut: Any) -> None:
    """A read of what may not be read: the event, a BREAK, a broken connection; nothing of it."""
    await reset_and_clock(dut)
    lab = Lab(dut, vis=8, seed=seed())
    await lab.open(1, RD)
    va, handle = lab.buffer(b"secret" * 100, access=1)
    lab.read_job.send({"vi": 1, "address": field(Address, va=va, handle=handle), "length": 600})
    await lab.until(lambda: lab.breaks.taken, 1000, "a break")
    assert lab.breaks.taken == [{"vi": 1, "event": Event.CONN_LOST}]
    assert lab.events.taken == [{"code": Event.RDMAR_PROT, "number": 1}]
    await lab.until(lambda: lab.packets, 200, "a BREAK")
    assert [(p.kind, p.value) for p in lab.packets] == [
        (PacketKind.BREAK, BreakCode.RDMA_PROTECTION)]
    await lab.abort(1)
    await lab.quiet()
    assert [p.kind for p in lab.packets] == [PacketKind.BREAK] * 2


def test_refuses() -> None:
    run_bench(sender(), __file__, testcase="refuses")


@cocotb.test()
async def control_packets(dut: Any) -> None:
    """An answer replaces one of its VI that has not left; those of an unreliable VI go nowhere."""
    await reset_and_clock(dut)
    lab = Lab(dut, vis=8, seed=seed(), ready=0.8)
    await lab.open(1, RD)
    await lab.open(2, UD)
    await lab.open(3, RR)
    lab.control_packet.send({"vi": 3, "kind": PacketKind.ACK, "sequence": 5, "echo": 1, "code": 77},
                            {"vi": 1, "kind": PacketKind.ACK, "sequence": 9},
                            {"vi": 2, "kind": PacketKind.BREAK, "code": 1},
                            {"vi": 1, "kind": PacketKind.NAK, "sequence": 10})
    await lab.until(lambda: len(lab.packets) == 2, 500, "two packets")
    assert [(p.kind, p.source, p.sequence, p.acknowledge, p.value) for p in lab.packets] == [
        (PacketKind.ACK, 3, 5, 1, 77), (PacketKind.NAK, 1, 10, 0, 0)]
    await lab.quiet()
    assert len(lab.packets) == 2


def test_control_packets() -> None:
    run_bench(sender(), __file__, testcase="control_packets")


@cocotb.test()
async def read_of_a_silent_peer(dut: Any) -> None:
    """While its read is outstanding and nothing else is, a peer is asked whether it is there: one
    that answers is asked on and on, one that does not is given up after the retries."""
    level = parameters()["level"]
    await reset_and_clock(dut)
    lab = Lab(dut, vis=8, seed=seed(), timeout=400, retries=3)
    await lab.open(1, level)
    await lab.open(2, level)
    behind = {}
    for vi in (1, 2):
        behind[vi] = lab.descriptor([b"z"])
        lab.post(2 * vi, lab.descriptor([b"r" * 40], operation=2, remote=(0x7654, 88)), behind[vi])
    await lab.until(lambda: len(lab.packets) == 2, 500, "the requests")
    lab.acknowledge(1, 1)
    lab.acknowledge(2, 1)
    seen, began = 2, lab.cycle
    for _ in range(4):
        await lab.until(lambda: len(lab.packets) > seen, LEAST + 900, "a question")  # noqa: B023
        assert (p := lab.packets[seen]).kind == PacketKind.PROBE
        seen += 1
        lab.acknowledge(p.source, 1, echo=1, code=p.value)
    assert lab.breaks.taken == [] and lab.cycle > began + 2 * LEAST
    # VI 2 goes on, VI 1 is not answered any more.
    while not lab.breaks.taken:
        await lab.until(lambda: len(lab.packets) > seen or lab.breaks.taken,  # noqa: B023
                        LEAST + 900, "more")
        if len(lab.packets) > seen:
            if (p := lab.packets[seen]).source == 2:
                lab.acknowledge(2, 1, echo=1, code=p.value)
            seen += 1
    silent = [p for p in lab.packets[6:] if p.source == 1]
    assert len(silent) == 3
    assert lab.breaks.taken == [{"vi": 1, "event": Event.CONN_LOST}]
    assert await lab.read_lost.receive(1) == [1]
    await lab.abort(1)
    check((await lab.completed(1))[0], 2, behind[1], Status.FLUSHED)


@pytest.mark.full
@pytest.mark.parametrize("level", [more(RD), RR])
def test_read_of_a_silent_peer(level: int) -> None:
    run_bench(sender(), __file__, testcase="read_of_a_silent_peer", level=int(level),
              many_cycles=True)
