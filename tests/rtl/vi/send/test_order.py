"""The sender around a descriptor in error: what is before it completes as if it were not there,
what is behind it is not sent."""

from typing import Any

import cocotb
import pytest
from nicbed.layouts.via import BreakCode, Event, Status

from tests.labs.bench import cycles, parameters, reset_and_clock, run_bench, seed
from tests.labs.rows import more
from tests.labs.vi_sender import RD, RR, UD, Lab
from tests.rtl.vi.send.test_sender import check, sender

VI = 3
LOST = {"vi": VI, "event": Event.CONN_LOST}


@cocotb.test()
async def error_behind(dut: Any) -> None:
    """A send of Reliable Reception that is in flight completes when it is acknowledged, though one
    behind it is in error; the connection breaks only then. On both levels nothing of what is
    behind the error goes out."""
    values = parameters()
    level = values["level"]
    await reset_and_clock(dut)
    lab = Lab(dut, vis=8, seed=seed(), stall=values["stall"], timeout=100_000)
    for kind in ("format", "length", "protection", "longer"):
        await lab.open(VI, level)
        good = lab.buffer(b"g" * 300)
        before = [lab.descriptor([b"before"]) for _ in range(values["before"])]
        if kind == "format":
            bad, error = lab.descriptor([b"bad"], control=1 << 9), Status.FORMAT
            bad.payload = b""
        elif kind == "length":
            bad, error = lab.descriptor([], segments=[(*good, 9)], length=8), Status.LENGTH
        elif kind == "protection":
            va, handle = good
            bad, error = lab.descriptor([], segments=[(va + 295, handle, 9)],
                                        length=9), Status.PROTECTION
        else:
            # Its first packets are good.
            bad, error = lab.descriptor([], segments=[(*good, 200)], length=201), Status.LENGTH
        after = [lab.descriptor([b"after"]) for _ in range(3)]
        sent = len(lab.packets)
        lab.post(2 * VI, *before, bad, *after)
        await cycles(dut, 3000)
        data = [packet.data for packet in lab.packets[sent:] if packet.last]
        assert data == [b"before"] * len(before), kind
        if before:
            assert level == RD or lab.done.taken == lab.breaks.taken == []
            for number in range(1, len(before) + 1):
                lab.acknowledge(VI, number)
        done = await lab.completed(len(before)) if before else []
        for completion, descriptor in zip(done, before, strict=True):
            check(completion, 2 * VI, descriptor)
        await lab.until(lambda: lab.breaks.taken, 2000, "the break")
        assert await lab.breaks.receive(1) == [LOST]
        await lab.abort(VI)
        done = await lab.completed(1 + len(after))
        if kind == "longer":
            done[0]["status"] &= ~int(Status.PARTIAL)
        check(done[0], 2 * VI, bad, error)
        for completion, descriptor in zip(done[1:], after, strict=True):
            check(completion, 2 * VI, descriptor, Status.FLUSHED)
        await lab.quiet()
        assert lab.done.taken == lab.breaks.taken == []
        assert [packet.data for packet in lab.packets[sent:] if packet.last and packet.kind == 0] \
            == [b"before"] * len(before)


@pytest.mark.parametrize("level, before, stall", [
    more(RR, 2, 0.0), more(RD, 0, 0.3), more(RR, 1, 0.3), more(RR, 0, 0.1), more(RD, 2, 0.0)])
def test_error_behind(level: int, before: int, stall: float) -> None:
    run_bench(sender(), __file__, testcase="error_behind", level=int(level),
              before=before, stall=stall, many_cycles=True)


@cocotb.test()
async def unreadable_before(dut: Any) -> None:
    """What is posted behind a descriptor that cannot be read is not sent, even before the break."""
    await reset_and_clock(dut)
    lab = Lab(dut, vis=8, seed=seed())
    for level in (UD, RD, RR):
        await lab.open(VI, level)
        bad = lab.descriptor([b"unreadable"])
        bad.handle += 1 << 20
        sent = len(lab.packets)
        lab.post(2 * VI, bad)
        await cycles(dut, 200)
        lab.post(2 * VI, after := lab.descriptor([b"after"]))
        await cycles(dut, 500)
        assert lab.packets[sent:] == []
        assert await lab.breaks.receive(1) == [{"vi": VI, "event": Event.POST_DESC}]
        await lab.abort(VI)
        done = await lab.completed(2)
        assert done[0]["silent"]
        check(done[1], 2 * VI, after, Status.FLUSHED)
        await lab.quiet()


def test_unreadable_before() -> None:
    run_bench(sender(), __file__, testcase="unreadable_before")


@cocotb.test()
async def unreadable_behind(dut: Any) -> None:
    """A send whose data is still being gathered when the descriptor behind it turns out to be
    unreadable completes as if that were not there; the break comes after it."""
    await reset_and_clock(dut)
    lab = Lab(dut, vis=8, seed=seed())
    for level in (UD, RD):
        for pieces in (1, 4, 16):
            await lab.open(VI, level)
            good, bad = lab.descriptor([b"good"] * pieces), lab.descriptor([b"unreadable"])
            bad.va += 8
            lab.post(2 * VI, good, bad)
            await lab.until(lambda: lab.breaks.taken, 5000, "the break")
            await lab.abort(VI)
            assert await lab.breaks.receive(1) == [{"vi": VI, "event": Event.POST_DESC}]
            done = await lab.completed(2)
            check(done[0], 2 * VI, good)
            assert done[1]["silent"]
            await lab.quiet()


def test_unreadable_behind() -> None:
    run_bench(sender(), __file__, testcase="unreadable_behind")


@cocotb.test()
async def lost_acknowledges_nothing(dut: Any) -> None:
    """A BREAK with LOST may come of the peer's disconnection: its number is no acknowledgement."""
    await reset_and_clock(dut)
    lab = Lab(dut, vis=8, seed=seed(), timeout=100_000)
    for number in (0, 1, 3):
        await lab.open(VI, RR)
        mine = [lab.descriptor([b"mine"]) for _ in range(3)]
        sent = len(lab.packets)
        lab.post(2 * VI, *mine)
        await lab.until(lambda sent=sent: len(lab.packets) == sent + 3, 2000, "three packets")
        lab.acknowledge(VI, number, broken=1, code=BreakCode.LOST)
        await lab.until(lambda: lab.breaks.taken, 2000, "the break")
        assert await lab.breaks.receive(1) == [LOST]
        await lab.abort(VI)
        for completion, descriptor in zip(await lab.completed(3), mine, strict=True):
            check(completion, 2 * VI, descriptor, Status.FLUSHED)
        await lab.quiet()


def test_lost_acknowledges_nothing() -> None:
    run_bench(sender(), __file__, testcase="lost_acknowledges_nothing")
