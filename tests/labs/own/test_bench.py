"""The bench harness itself, on a FIFO and on blocks that break the rules."""

import os
import signal
import time
from pathlib import Path

import cocotb
import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.wiring import In, Out
from cocotb.utils import get_sim_time
from nicbed.rtl.parts.flit import Flit, FlitStream

from tests.labs import bench
from tests.labs.bench import (
    Monitor,
    Sink,
    Source,
    cycles,
    parameters,
    reset_and_clock,
    run_bench,
    seed,
    within,
)

earlier: list[int] = []


class Queue(wiring.Component):
    """A FIFO of flits."""

    i: In(FlitStream)
    o: Out(FlitStream)
    level: Out(8)

    def elaborate(self, platform):
        m = Module()
        m.submodules.queue = queue = fifo.SyncFIFO(width=len(self.i.payload.as_value()), depth=4)
        m.d.comb += [queue.w_data.eq(self.i.payload), queue.w_en.eq(self.i.valid),
                     self.i.ready.eq(queue.w_rdy), self.o.payload.eq(queue.r_data),
                     self.o.valid.eq(queue.r_rdy), queue.r_en.eq(self.o.ready),
                     self.level.eq(queue.level)]
        return m


class Fickle(wiring.Component):
    """Offers a number that counts on though nobody took it."""

    o: Out(stream.Signature(8))

    def elaborate(self, platform):
        m = Module()
        count = Signal(8)
        m.d.sync += count.eq(count + 1)
        m.d.comb += [self.o.payload.eq(count), self.o.valid.eq(1)]
        return m


@cocotb.test()
async def keeps_order(dut):
    await reset_and_clock(dut)
    source = Source(dut, "i", shape=Flit, stall=0.3, seed=seed())
    sink = Sink(dut, "o", shape=Flit, stall=0.5, seed=seed() + 1)
    watch = Monitor(dut, "i", shape=Flit)
    sent = [{"data": n << 40 | n, "size": 8, "first": n & 1, "last": 0, "trace": n}
            for n in range(parameters()["count"])]
    source.send(*sent)
    got = await within(2000, sink.receive(len(sent)))
    assert got == sent
    assert watch.taken == sent
    assert dut.level.value == 0


@cocotb.test()
async def waits_for_more(dut):
    await reset_and_clock(dut)
    await within(20, Sink(dut, "o", shape=Flit).receive(1))


@cocotb.test()
async def takes_fickle(dut):
    await reset_and_clock(dut)
    sink = Sink(dut, "o", stall=0.5, seed=1)
    await cycles(dut, 1)
    await within(50, sink.receive(20))


@cocotb.test()
async def sees_no_earlier_case(dut):
    assert not earlier and os.environ["PYTEST_CURRENT_TEST"] == str(parameters()["number"])
    earlier.append(1)
    assert get_sim_time() == 0
    await reset_and_clock(dut)
    source = Source(dut, "i", shape=Flit)
    source.send({"data": 1, "size": 8, "first": 1, "last": 1, "trace": 0})
    await within(20, source.drain())
    Path(parameters()["place"]).write_text(f"{os.getppid()} {dut.level.value}")


@cocotb.test()
async def does_not_end(dut):
    time.sleep(600)


@cocotb.test()
async def dies(dut):
    os.kill(os.getpid(), signal.SIGKILL)


def test_passes():
    run_bench(Queue(), __file__, testcase="keeps_order", count=100)


def test_limit_is_a_failure():
    with pytest.raises(AssertionError, match="waits_for_more: .*nothing after 20 cycles"):
        run_bench(Queue(), __file__, testcase="waits_for_more")


def test_broken_rule_is_a_failure():
    with pytest.raises(AssertionError, match="payload changed before a transfer"):
        run_bench(Fickle(), __file__, testcase="takes_fickle")


def test_unknown_testcase():
    with pytest.raises(AssertionError, match="no cocotb test ran"):
        run_bench(Queue(), __file__, testcase="nothing_of_that_name")


def test_cases_of_a_block_share_a_simulator_and_no_state(tmp_path, monkeypatch):
    """The simulator is started once; each case starts from time 0, with its own environment."""
    found = []
    for number in range(3):
        monkeypatch.setenv("PYTEST_CURRENT_TEST", str(number))
        place = tmp_path / str(number)
        run_bench(Queue(), __file__, testcase="sees_no_earlier_case", number=number,
                  place=str(place))
        found.append(place.read_text().split())
    assert len({started for started, _ in found}) == 1
    assert all(level != "0" for _, level in found)


def test_a_case_that_does_not_end_is_stopped(monkeypatch):
    """And the next one runs."""
    with monkeypatch.context() as patch:
        patch.setattr(bench, "TIME_LIMIT", 3)
        with pytest.raises(AssertionError, match="no end after 3 s"):
            run_bench(Queue(), __file__, testcase="does_not_end")
    run_bench(Queue(), __file__, testcase="keeps_order", count=10)


def test_a_case_that_dies_is_a_failure():
    with pytest.raises(AssertionError, match="the simulator ended without results"):
        run_bench(Queue(), __file__, testcase="dies")
