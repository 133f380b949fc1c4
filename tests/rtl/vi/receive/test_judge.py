"""Verdicts on random packets are those of a plain model, and none comes before its time."""

import random
from typing import Any

import cocotb
from cocotb.triggers import Timer
from nicbed.layouts.via import PacketKind, Reliability, ViState
from nicbed.rtl.vi.receive.judge import BEHIND, Judge, Ruling, Verdict
from nicbed.rtl.vi.receive.parse import Parsed
from nicbed.rtl.vi.receive.receive_state import Message, Sequence
from nicbed.rtl.vi.types import AttributesLayout, Context, Detail, PeerLayout, ViaHeader

from tests.labs.bench import reset_and_clock, run_bench, unpack
from tests.models.vi.consumer import field


def judged(one: dict[str, Any]) -> Ruling:
    """What becomes of a packet that is here whole."""
    kind, first, ahead = one["kind"], one["first"], (one["number"] - one["expected"]) % 256
    reliable = one["level"] != Reliability.UNRELIABLE_DELIVERY
    goes_on = one["begun"] and not first and ahead == 0
    if one["bad"]:
        return Ruling.BAD
    if (one["state"] != ViState.CONNECTED or one["stranger"] or one["broken"] or one["malformed"]
            or not reliable and kind not in (PacketKind.SEND, PacketKind.RDMA_WRITE)):
        return Ruling.UNMATCHED
    if kind in (PacketKind.ACK, PacketKind.NAK):
        return Ruling.ANSWER
    if kind in (PacketKind.BREAK, PacketKind.PROBE):
        return Ruling.BREAK if kind == PacketKind.BREAK else Ruling.PROBE
    if ahead >= (128 if reliable else 256 - BEHIND):
        return Ruling.DUPLICATE
    if reliable and ahead:
        return Ruling.GAP
    if kind == PacketKind.SEND:
        if first:
            return Ruling.BEGIN
        return Ruling.RESUME if goes_on and not one["write"] else Ruling.STRAY
    if kind == PacketKind.RDMA_WRITE:
        if not first and not (goes_on and one["write"]):
            return Ruling.STRAY
        return Ruling.WRITE if one["allowed"] else Ruling.WRITE_REFUSED
    if kind == PacketKind.READ_REQUEST:
        return Ruling.READ if one["allowed"] else Ruling.READ_REFUSED
    if one["reading"] == 0:
        return Ruling.STRAY
    return Ruling.RESUME if one["reading"] == 2 else Ruling.BEGIN


@cocotb.test()
async def judges(dut: Any) -> None:
    await reset_and_clock(dut)
    rng = random.Random(1)
    seen = set()
    for _ in range(4000):
        expected = rng.randrange(256)
        one = {
            "kind": rng.choice(list(PacketKind)), "first": rng.randrange(2), "expected": expected,
            "number": (expected + rng.choice((0, 0, 0, 1, -1, -40, 90))) % 256,
            "level": rng.choice(list(Reliability)), "bad": rng.random() < 0.1,
            "state": rng.choice((ViState.CONNECTED,) * 5 + (ViState.IDLE, ViState.ERROR)),
            "stranger": rng.choice((0, 0, 0, 0, 1, 2)), "broken": rng.random() < 0.1,
            "malformed": rng.random() < 0.1, "begun": rng.randrange(2), "write": rng.randrange(2),
            "allowed": rng.randrange(2), "reading": rng.randrange(3)}
        whole = one["bad"] or rng.random() < 0.6
        dut.packet.value = field(
            Parsed, node=5 ^ (one["stranger"] == 1), malformed=one["malformed"],
            detail=field(Detail, kind=one["kind"], first=one["first"]),
            header=field(ViaHeader, source=9 ^ (one["stranger"] == 2), sequence=one["number"]))
        dut.context.value = field(
            Context, state=one["state"], peer=field(PeerLayout, node=5, vi=9),
            attributes=field(AttributesLayout, reliability=one["level"],
                             rdma_write=one["allowed"], rdma_read=one["allowed"]))
        dut.sequence.value = field(Sequence, expected=expected, broken=one["broken"])
        dut.message.value = field(Message, begun=one["begun"], write=one["write"])
        dut.reading.value = field(Message, held=one["reading"] > 0, begun=one["reading"] == 2)
        dut.whole.value, dut.bad.value = int(whole), int(one["bad"])
        await Timer(1, "ns")
        verdict = unpack(Verdict, int(dut.verdict__payload.value))
        ruling, want = Ruling(verdict["ruling"]), judged(one)
        if whole:
            assert dut.verdict__valid.value == 1
            assert ruling is want, (one, ruling, want)
            seen.add(ruling)
        elif dut.verdict__valid.value == 1:
            # Only data into segments, behind what was delivered before; or for no read.
            assert ruling is want
            assert want in (Ruling.BEGIN, Ruling.RESUME) or (
                want is Ruling.STRAY and one["kind"] == PacketKind.READ_RESPONSE)
            assert not (want is Ruling.BEGIN and one["kind"] == PacketKind.SEND and one["begun"])
            seen.add((ruling, "early"))
    assert len(seen) == len(Ruling) - 1 + 3, "a packet that asks for nothing has no kind"


def test_judges() -> None:
    run_bench(Judge(), __file__, testcase="judges")
