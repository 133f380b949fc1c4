"""The sender under load: many VIs on few slots, time-outs far too short and far too long."""

import random
from typing import Any

import cocotb
import pytest
from nicbed.layouts.via import PacketKind
from nicbed.rtl.parts.timing import Timing

from tests.labs.bench import cycles, pack, parameters, reset_and_clock, run_bench, seed
from tests.labs.rows import more
from tests.labs.vi_sender import RD, RR, Lab, Packet
from tests.rtl.vi.send.test_reliable import Peer
from tests.rtl.vi.send.test_sender import check, sender

VIS = 8


def time_out(lab: Lab, cycles: int) -> None:
    lab.dut.surroundings__timing.value = pack(Timing, {
        "bus_max_burst": 256, "via_retry_timeout": cycles, "via_retries": 7})


@cocotb.test()
async def shares_slots(dut: Any) -> None:
    """Messages on all VIs, longer than their share of the slots: nobody waits for a time-out,
    nothing is sent again, all go on alike."""
    values = parameters()
    await reset_and_clock(dut)
    lab = Lab(dut, vis=VIS, seed=seed(), ready=values["ready"])
    level = values["level"]
    peers = {}
    for vi in range(VIS):
        await lab.open(vi, level)
        peers[vi] = Peer(lab, vi, loss=0.0, delay=values["delay"], seed=vi)
    took = {}
    for timeout in (1 << 24, 100):
        time_out(lab, timeout)
        began, seen = lab.cycle, len(lab.packets)
        posted = [[lab.descriptor([random.Random(vi).randbytes(64 * 5)]) for _ in range(3)]
                  for vi in range(VIS)]
        for vi in range(VIS):
            lab.post(2 * vi, *posted[vi])
        done = await lab.completed(3 * VIS, 60_000)
        for completion in done:
            vi = completion["queue"] >> 1
            check(completion, 2 * vi, posted[vi].pop(0))
        await lab.until(lambda: dut.idle.value == 1, 5000, "all acknowledged")
        took[timeout] = lab.cycle - began
        data = [p.source for p in lab.packets[seen:] if p.kind == PacketKind.SEND]
        assert len(data) == 15 * VIS
        counts = dict.fromkeys(range(VIS), 0)
        for source in data[:7 * VIS]:
            counts[source] += 1
            assert max(counts.values()) - min(counts.values()) <= 4, counts
        await cycles(dut, 50)
    assert lab.resent == 0 and lab.breaks.taken == []
    assert abs(took[100] - took[1 << 24]) <= took[1 << 24] / 10, took


@pytest.mark.parametrize("level, slots, window, delay, ready", [
    (RD, 8, 4, 20, 0.0), more(RR, 4, 2, 600, 0.5), more(RD, 4, 1, 0, 0.0),
    more(RR, 16, 8, 300, 0.8)])
def test_shares_slots(level: int, slots: int, window: int, delay: int, ready: float) -> None:
    run_bench(sender(send_slots=slots, window=window), __file__, testcase="shares_slots",
              level=int(level), delay=delay, ready=ready, many_cycles=True)


@cocotb.test()
async def echoes(dut: Any) -> None:
    """A probe's answer sends again what had left before the probe, from the number it says on, and
    nothing that left after it."""
    await reset_and_clock(dut)
    lab = Lab(dut, vis=VIS, seed=seed(), timeout=300)
    await lab.open(1, RD)
    early = lab.cycle
    lab.post(2, *(lab.descriptor([bytes([n] * 8)]) for n in range(3)))

    def of(kind: PacketKind) -> list[Packet]:
        return [p for p in lab.packets if p.kind == kind]

    await lab.until(lambda: of(PacketKind.PROBE), 1000, "a probe")
    probe, sent = of(PacketKind.PROBE)[0], of(PacketKind.SEND)
    assert [p.sequence for p in sent] == [0, 1, 2]
    assert all(p.cycle < probe.value <= probe.cycle for p in sent)
    lab.acknowledge(1, 1, echo=1, code=early)
    await cycles(dut, 100)
    assert lab.resent == 0, "it may be on its way"
    lab.acknowledge(1, 1, echo=1, code=probe.value)
    await lab.until(lambda: lab.resent == 2, 100, "both again")
    await cycles(dut, 10)
    assert [(p.sequence, p.acknowledge) for p in of(PacketKind.SEND)[3:]] == [(1, 1), (2, 1)]
    # It says so still, but they have left since.
    lab.acknowledge(1, 1, echo=1, code=probe.value)
    await cycles(dut, 100)
    assert lab.resent == 2
    lab.acknowledge(1, 3)
    await lab.quiet()


def test_echoes() -> None:
    run_bench(sender(), __file__, testcase="echoes")


@cocotb.test()
async def asks_when_crowded(dut: Any) -> None:
    """A message's packet asks where it did not need to as soon as more than half of the slots are
    taken; the last of all slots does."""
    await reset_and_clock(dut)
    lab = Lab(dut, vis=VIS, seed=seed(), timeout=1 << 24)
    for vi in range(VIS):
        await lab.open(vi, RD)
    for vi in range(VIS):
        lab.post(2 * vi, lab.descriptor([b"c" * 64 * 9]))
    await cycles(dut, 2000)
    assert [p.acknowledge for p in lab.packets] == [0] * 4 + [1] * 4
    lab.acknowledge(lab.packets[-1].source, 1)
    await lab.until(lambda: len(lab.packets) == 9, 200, "one more")


def test_asks_when_crowded() -> None:
    run_bench(sender(), __file__, testcase="asks_when_crowded")
