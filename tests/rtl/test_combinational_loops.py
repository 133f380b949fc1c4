"""No signal depends on itself within a cycle, not even one bit of a vector on another.

Such a vector means something to Amaranth and to synthesis, but a simulator has to come back to it
until it stays. Verilator 5.48 cuts such loops in its data-flow graph, and got one wrong: with ports
alone visible, a flit's size came from before its ``last`` was there. So nothing is left to it.
"""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from nicbed.layouts.description import Description
from nicbed.rtl.node.node import Node
from nicbed.rtl.parts.flit import Flit
from nicbed.rtl.target import Target
from nicbed.testbench.descriptions.load import for_layer, load
from nicbed.testbench.simulators import verilator, verilog

SMALL = ("memory.bytes=65536", "cpu.cache_lines=16", "via.vis=8", "via.cqs=2", "via.queue_depth=16",
         "via.events=4", "via.translations=64", "via.cache_sets=4", "processor.memory=16384")
"""Little of what is many times the same."""
NICS: dict[str, tuple[str, tuple[str, ...]]] = {
    "VI engine": ("via", ()),
    "default": ("am", ()),
    "table": ("via", ("via.translation=table",)),
    "physical": ("via", ("via.translation=physical",)),
    "kernel trap": ("via", ("via.design=kernel",)),
    "memory bus": ("am", ("nic.attachment=memory_bus",)),
    "picorv32": ("via", ("nic.processor=picorv32",)),
    "vexriscv": ("am", ("nic.processor=vexriscv", "nic.attachment=memory_bus",
                        "processor.host_access=uncached")),
    "serv": ("am", ("nic.processor=serv", "nic.attachment=local_bus")),
    "two levels": ("am", ("cpu.l2_lines=64",)),
    "two levels, two CPUs": ("am", ("cpu.l2_lines=64", "cpu.copy_by=block", "node.cpus=2")),
}
def described(name: str) -> Description:
    layer, changes = NICS[name]
    return for_layer(load("default", (*SMALL, *changes)), layer)


def loops(component: Any, work: Path) -> list[str]:
    """Signals of ``component`` that depend on themselves, as Verilator finds them."""
    text = verilog.rtlil(component, "top")
    (work / "top.v").write_text(verilog.to_verilog(text, processes=True))
    tools = verilator.toolchain()
    # Without its data-flow graph, which cuts loops before they are seen.
    done = subprocess.run(
        [tools.binary, "--lint-only", "--top-module", "top", "-fno-dfg", "-Wno-lint", "-Wno-style",
         "-Wwarn-UNOPTFLAT", "-Wno-fatal", "--no-timing", str(work / "top.v"),
         *map(str, verilog.module_files(text, work))],
        env={**os.environ, "VERILATOR_ROOT": str(tools.root)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return re.findall(r"Circular combinational logic: '(.*)'", done.stderr)


def test_no_loop_in_a_node(tmp_path: Path) -> None:
    """Of the VI engine's: all of the default NIC is in it."""
    assert loops(Node(description=described("VI engine")), tmp_path) == []


@pytest.mark.full
@pytest.mark.parametrize("name", NICS)
def test_no_loop_in_a_target(name: str, tmp_path: Path) -> None:
    assert loops(Target(description=described(name), memory="array", inline=True), tmp_path) == []


class Looping(wiring.Component):
    """A flit whose size follows from a bit of the same vector."""

    end: In(1)
    size: In(4)
    o: Out(Flit)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        flit = Signal(Flit)
        with m.If(self.size != 0):
            m.d.comb += [flit.last.eq(self.end), flit.size.eq(Mux(flit.last, self.size, 8))]
        m.d.comb += self.o.eq(flit)
        return m


def test_a_loop_is_found(tmp_path: Path) -> None:
    assert len(loops(Looping(), tmp_path)) == 1
