"""The simulator's own main against cocotb's: the same design and test, the same log of triggers."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import cocotb
import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from nicbed.testbench.backends.environment import cocotb_environment
from nicbed.testbench.simulators import cache, verilator, verilog

CYCLES = 400


class Design(wiring.Component):
    """Registers, combinational paths from inputs, and bits that change seldom."""

    d: In(8)
    enable: In(1)
    mixed: Out(8)
    q: Out(8)
    count: Out(16)
    slow: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        last = Signal(8)
        m.d.sync += [last.eq(self.d), self.q.eq(last ^ self.count[:8])]
        with m.If(self.enable):
            m.d.sync += self.count.eq(self.count + 1)
        m.d.comb += [self.mixed.eq(self.d + self.q), self.slow.eq(self.count[5])]
        return m


@cocotb.test()
async def log_triggers(dut):
    """Many coroutines, each waiting in its own way; everything they see goes into one log."""
    from cocotb.clock import Clock
    from cocotb.triggers import (
        Combine,
        FallingEdge,
        First,
        NextTimeStep,
        ReadOnly,
        ReadWrite,
        RisingEdge,
        Timer,
        ValueChange,
    )
    from cocotb.utils import get_sim_time

    log = []

    def note(name):
        log.append([int(get_sim_time("step")), name, int(dut.clk.value), int(dut.d.value),
                    int(dut.enable.value), int(dut.q.value), int(dut.mixed.value),
                    int(dut.count.value)])

    dut.rst.value = 0
    dut.d.value = 0
    dut.enable.value = 1
    if os.environ["NICBED_MAIN"] == "stock":
        Clock(dut.clk, 10, unit="ns").start(start_high=False)

    async def rising():
        for n in range(CYCLES // 4):
            await RisingEdge(dut.clk)
            note("rising")
            if n % 3 == 0:
                dut.d.value = n & 255

    async def falling():
        for n in range(CYCLES // 5):
            await FallingEdge(dut.clk)
            note("falling")
            if n % 7 == 0:
                dut.enable.value = n // 7 % 3 != 1

    async def changes(name):
        while True:
            await ValueChange(getattr(dut, name))
            note(f"change {name}")

    async def phases():
        for _ in range(20):
            await RisingEdge(dut.clk)
            await ReadWrite()
            note("read-write")
            dut.d.value = int(dut.count.value) + 1 & 255
            await ReadOnly()
            note("read-only")
            await NextTimeStep()
            note("next step")
        await FallingEdge(dut.clk)
        await ReadOnly()
        note("read-only after falling")
        await NextTimeStep()
        await NextTimeStep()
        note("two steps later")

    async def timers(name, step, count):
        for n in range(count):
            await Timer(step, unit="ps")
            note(f"timer {name}")
            if n % 4 == 1:
                dut.d.value = (n * 5 + 1) & 255

    async def timed_phases():
        for n in range(15):
            await Timer(10_000 if n % 2 else 7_500, unit="ps")
            await ReadWrite()
            note("timer, read-write")
            dut.d.value = 100 + n
            await ReadOnly()
            note("timer, read-only")
            await Timer(1, unit="step")
            note("one step on")

    async def either():
        for _ in range(10):
            await First(RisingEdge(dut.slow), Timer(333, unit="ns"))
            note("first of two")
            await RisingEdge(dut.clk)

    tasks = [cocotb.start_soon(task) for task in (
        rising(), falling(), phases(), timers("on the edge", 5_000, 60),
        timers("on the rising edge", 10_000, 20), timers("off the edge", 3_333, 100),
        timers("long", 400_000, 8), timed_phases(), either())]
    watchers = [cocotb.start_soon(changes(name)) for name in ("q", "slow", "mixed", "d")]
    await Combine(*tasks)
    note("all but the watchers")
    watchers[0].cancel()
    watchers[2].cancel()
    await Timer(2000, unit="ns")
    note("end")
    Path(os.environ["NICBED_LOG"]).write_text(json.dumps(log))


def parts(main: Path) -> list[str]:
    """What the simulator is made from."""
    return [verilog.rtlil(Design(), "top"), main.read_text(), str(verilator.toolchain()),
            Path(verilator.__file__).read_text()]


def build(main: Path) -> Callable[[Path], None]:
    design = Design()
    text, ports = verilog.rtlil(design, "top"), ["clk", "rst", *verilog.ports(design)]
    return lambda folder: verilator.build_block(text, folder, ports, main=main)


def run(main: Path, name: str, work: Path, place: Path | None = None) -> list:
    place = place or cache.entry("bench", parts(main), build(main))
    log = work / f"{name}.json"
    environment = cocotb_environment(
        top="top", modules=__name__, results=str(work / f"{name}.xml"),
        extra={"NICBED_MAIN": name, "NICBED_LOG": str(log), "COCOTB_TRUST_INERTIAL_WRITES": "1",
               "COCOTB_TEST_FILTER": "log_triggers"})
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[3]),
                                                 environment["PYTHONPATH"]])
    done = subprocess.run([str(place / "simulator")], cwd=work, env=environment, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if not log.is_file():
        pytest.fail(f"no log of {name}: {done.stdout[-3000:]}")
    return json.loads(log.read_text())


def test_triggers_come_as_under_cocotbs_own_main(tmp_path):
    import cocotb_tools.config
    stock = Path(cocotb_tools.config.share_dir) / "lib" / "verilator" / "verilator.cpp"
    expected = run(stock, "stock", tmp_path)
    got = run(verilog.SOURCES / "main.cpp", "own", tmp_path)
    assert len(expected) > 1000
    for index, (one, other) in enumerate(zip(got, expected, strict=False)):
        assert one == other, f"entry {index}, after {expected[max(0, index - 5):index]}"
    assert len(got) == len(expected)


def test_an_executable_outlives_the_environment_that_it_was_built_in(tmp_path, monkeypatch):
    """The cache is shared by checkouts, and cocotb's libraries are not where they were then."""
    import cocotb_tools.config
    own = verilog.SOURCES / "main.cpp"
    was = tmp_path / "was"
    was.symlink_to(cocotb_tools.config.libs_dir)
    with monkeypatch.context() as then:
        then.setattr(cocotb_tools.config, "libs_dir", was)
        place = cache.entry("bench", [*parts(own), "elsewhere"], build(own))
    was.unlink()
    assert len(run(own, "own", tmp_path, place)) > 1000
