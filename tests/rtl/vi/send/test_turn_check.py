"""Which turns give a job, for which descriptor, on random states of a VI, as a plain model says."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.layouts.via import Operation, Reliability, ViState
from nicbed.rtl.vi.send.turn import Turn
from nicbed.rtl.vi.send.turn_check import Checked, Found, TurnCheck

from tests.labs.bench import pack, parameters, reset_and_clock, run_bench, seed, unpack

WINDOW = 4
OLD, NEW = 0x1000, 0x2000


def outcome(one: dict[str, Any]) -> tuple[str | None, bool]:
    """What the turn is passed on as, and whether it takes a descriptor."""
    send = not one["receive"]
    if send and one["held"]:
        return None, False
    if one["state"] == ViState.CONNECTED:
        if one["failed"]:
            return ("lose" if send and one["armed"] and one["place"] == one["oldest"] else None,
                    False)
        waits = (one["level"] != Reliability.UNRELIABLE_DELIVERY
                 and one["unacknowledged"] >= WINDOW)
        if not send or waits:
            return None, False
        if one["response"] and not (one["active"] and one["begun"]):
            return "respond", False
        if one["reading"]:
            return None, False
        if one["active"]:
            parked = (one["operation"] == Operation.RDMA_READ and one["newest"] != one["oldest"])
            return None if parked else "resumed", False
        return "taken", True
    if one["state"] == ViState.IDLE:
        return ("flush", True) if send else (None, False)
    if one["progress"]:
        return None, False
    return ("flush resumed", False) if send and one["active"] else ("flush", True)


@cocotb.test()
async def checks(dut: Any) -> None:
    slow = parameters()["slow"]
    await reset_and_clock(dut)
    rng = random.Random(seed())
    edge = RisingEdge(dut.clk)
    seen = set()
    for _ in range(600):
        one: dict[str, Any] = {name: rng.randrange(2) for name in (
            "receive", "armed", "active", "begun", "response", "reading", "place", "oldest",
            "newest", "long", "follow", "progress")}
        one |= {"held": rng.random() < 0.2, "failed": rng.random() < 0.2,
                "state": rng.choice((ViState.CONNECTED, ViState.CONNECTED, ViState.IDLE,
                                     ViState.ERROR)),
                "level": rng.choice(list(Reliability)), "unacknowledged": rng.randrange(6),
                "operation": rng.choice((Operation.SEND, Operation.RDMA_READ)),
                "found": rng.random() < 0.8}
        queue, start = 2 * rng.randrange(8) + one["receive"], rng.randrange(256)
        for _ in range(rng.randrange(2)):
            dut.next__valid.value = 1
            dut.may.value = 0
            await edge
            assert dut.next__ready.value == 0 and dut.idle.value == 1
        dut.next__payload.value, dut.next__valid.value, dut.may.value = queue, 1, 1
        await edge
        assert dut.next__ready.value == 1
        dut.next__valid.value = 0
        dut.held.value = int(one["held"])
        dut.found.value = pack(Found, {
            "context": {"state": one["state"], "attributes": {
                "reliability": one["level"], "tag": 77}},
            "position": {"active": one["active"], "begun": one["begun"], "failed": one["failed"],
                         "armed": one["armed"], "place": one["place"], "address": OLD,
                         "operation": one["operation"]},
            "progress": {"acknowledged": start, "oldest": one["oldest"],
                         "connected": one["progress"]},
            "response": {"active": one["response"]}, "newest": one["newest"],
            "numbers": {"following": (start + one["unacknowledged"]) % 256,
                        "reads": one["reading"], "long": one["long"]}})
        want, takes = outcome(one)
        await edge
        assert int(dut.vi.value) == queue >> 1
        dut.held.value, dut.found.value = 0, 0
        if takes:
            dut.asks__ready.value = 1
            await edge
            assert dut.asks__valid.value == 1 and int(dut.asks__payload.value) == queue
            dut.asks__ready.value = 0
            dut.taken__valid.value, dut.taken__found.value = 1, int(one["found"])
            dut.taken__address.value, dut.taken__follow.value = NEW, one["follow"]
            if not one["found"]:
                want = None
        for wait in range(slow):
            dut.o__ready.value = int(wait == slow - 1)
            await edge
            dut.taken__valid.value = 0
            assert dut.o__valid.value == int(want is not None), one
            assert want is not None or dut.asks__valid.value == 0
            if want is not None:
                checked = unpack(Checked, int(dut.o__payload.value))
                turn = unpack(Turn, checked["turn"])
                told = set(want.split()) | ({"taken"} if takes else set())
                assert {name for name in ("taken", "flush", "resumed", "respond", "lose")
                        if turn[name]} == told
                assert turn["queue"] == queue and checked["tag"] == 77
                assert checked["brief"] == 1 - one["long"]
                if "resumed" in told or takes:
                    assert turn["address"] == (NEW if takes else OLD)
                assert turn["follow"] == (takes and one["follow"])
                reads = not (told & {"lose", "respond"} or {"flush", "resumed"} <= told
                             or one["receive"] and not one["follow"])
                assert checked["reads"] == reads
        dut.o__ready.value = 0
        await edge
        assert dut.idle.value == 1 and dut.o__valid.value == 0
        seen.add((want, bool(takes)))
    assert len(seen) == 8, seen


@pytest.mark.parametrize("slow", [1, 3])
def test_checks(slow: int) -> None:
    run_bench(TurnCheck(window=WINDOW), __file__, testcase="checks", slow=slow, seed=slow)


@pytest.mark.parametrize("window, error", [(3, "a power of two"), (64, "at most 32")])
def test_refuses_a_window(window: int, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        TurnCheck(window=window)
