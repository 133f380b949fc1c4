"""Descriptors in a VI's ring complete in order, each once, as far as acknowledgements allow."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.layouts.via import Status
from nicbed.rtl.vi.send.job import Progress, Unfinished
from nicbed.rtl.vi.send.sent_window import SentWindow, WindowStep
from nicbed.rtl.vi.types import Completion

from tests.labs.bench import Sink, parameters, reset_and_clock, run_bench, seed
from tests.models.vi.consumer import field

PLACES = 64


def expected(entries: list[dict[str, int]], step: WindowStep, acknowledged: int, breaks: bool,
             errors: int, failure: int) -> tuple[list[int], int, bool, bool]:
    """Errors of the descriptors that complete, ``failure`` after it, and whether packets that have
    arrived are dropped, and all of them."""
    done: list[int] = []
    if step is not WindowStep.FAIL:
        for entry in entries:
            over = not entry["errors"] and not entry["silent"] and \
                (entry["sequence"] - acknowledged) % 256 >= 128
            if not over and step is not WindowStep.FLUSH:
                break
            flushed = failure or Status.FLUSHED
            done.append(entry["errors"] if entry["errors"] or step is WindowStep.RELEASE
                        else flushed)
            failure = 0
    fails = step is WindowStep.FAIL or breaks
    if fails and errors:
        if len(done) < len(entries):
            done.append(entries[len(done)]["errors"] or errors)
        else:
            failure = errors
    return done, failure, step is WindowStep.RELEASE, fails


@cocotb.test()
async def completes(dut: Any) -> None:
    stall = parameters()["stall"]
    await reset_and_clock(dut)
    sink = Sink(dut, "complete", shape=Completion, stall=stall, seed=seed())
    rng = random.Random(seed())
    edge = RisingEdge(dut.clk)
    for _ in range(200):
        first, acknowledged = rng.randrange(PLACES), rng.randrange(256)
        entries = [{"address": rng.randrange(1 << 60), "length": rng.randrange(1 << 20),
                    "operation": rng.randrange(3), "trace": number,
                    "sequence": (acknowledged + rng.choice((-2, -1, -1, 0, 1))) % 256,
                    "errors": rng.choice((0, 0, 0, Status.PROTECTION)), "silent": 0}
                   for number in range(rng.randrange(5))]
        failure = rng.choice((0, 0, Status.TRANSPORT))
        step = rng.choice(list(WindowStep))
        breaks = step is WindowStep.FAIL or (step is WindowStep.RELEASE and rng.random() < 0.3)
        errors = rng.choice((0, Status.RDMA_PROTECTION)) if breaks else 0
        newest = (first + len(entries)) % PLACES
        dut.user__progress.value = field(Progress, oldest=first, failure=failure)
        # What is newest is told anew with FLUSH.
        dut.user__newest.value = first if step is WindowStep.FLUSH else newest
        dut.user__load.value = 1
        await edge
        dut.user__load.value = 0
        dut.user__newest.value = newest
        dut.user__vi.value, dut.user__acknowledged.value = 3, acknowledged
        dut.user__breaks.value, dut.user__errors.value = int(breaks), errors
        dut.user__step.value, dut.user__valid.value = step.value, 1
        await edge
        dut.user__valid.value = 0
        released = dropped = False
        cycles, over = 0, False
        while not over:
            await edge
            cycles += 1
            assert cycles < 500, "never over"
            over = dut.user__over.value == 1
            if dut.release.value == 1:
                released |= dut.all.value == 0
                dropped |= dut.all.value == 1
            if dut.read.value == 1:
                at = (int(dut.place.value) - first) % PLACES
                dut.oldest.value = field(Unfinished, **entries[at]) if at < len(entries) else 0
        await edge
        done, kept, want_released, want_dropped = expected(entries, step, acknowledged, breaks,
                                                           errors, failure)
        got = await sink.receive(len(done))
        assert [value["status"] & 0x1FF for value in got] == done
        for value, entry in zip(got, entries, strict=False):
            assert (value["queue"], value["address"], value["trace"]) == (
                6, entry["address"], entry["trace"])
            assert value["length"] == (0 if value["status"] & 0x1FF else entry["length"])
        assert int(dut.user__oldest.value) == (first + len(done)) % PLACES
        assert int(dut.user__failure.value) == kept
        assert (released, dropped) == (want_released, want_dropped)
        if not stall and step is WindowStep.FLUSH:
            assert cycles == 2 * len(entries) + 1
        if step is WindowStep.RELEASE and not entries and not breaks:
            assert cycles == 1


@pytest.mark.parametrize("stall", [0.0, 0.4])
def test_completes(stall: float) -> None:
    run_bench(SentWindow(), __file__, testcase="completes", stall=stall, seed=int(stall * 10) + 1)
