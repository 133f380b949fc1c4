"""Verilog to an Icarus Verilog simulation, with a clock that stops while the target stalls."""

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from ...layouts.operations import ANSWER_WORDS, BLOCK, ENTRY_WORDS
from ...layouts.processor import CRASH_WORDS
from .verilog import BuildError, instances, module_files

__all__ = ["TOP", "build_icarus", "icarus_command", "icarus_version"]

TOP = "nicbed_icarus"
"""The module around the target, with its clock and a variable for each of its ports."""


@cache
def icarus_version() -> str:
    """Version of the Icarus Verilog on this machine."""
    if shutil.which("iverilog") is None or shutil.which("vvp") is None:
        raise BuildError("no Icarus Verilog here: install it with 'sudo apt install iverilog', or "
                         "leave out --sim icarus")
    shown = subprocess.run(["iverilog", "-V"], capture_output=True, text=True).stdout
    return shown.split("(")[0].removeprefix("Icarus Verilog version").strip()


def _wrapper(ports: int) -> str:
    inputs = {"rst": 1, "cfg_we": 1, "cfg_index": 8, "cfg_data": 32, "trace_enable": 1,
              "profile_enable": 1, "skip_enable": 1, "limit": 64, "go": ports}
    outputs = {"attention": 1, "stall": 1, "expired": 1, "cycle": 64, "waiting": ports,
               "stopped": ports, "quiescent": 1, "crash": 32 * CRASH_WORDS}
    for port in range(ports):
        inputs[f"port{port}_count"] = 3
        inputs[f"port{port}_entries"] = BLOCK * ENTRY_WORDS * 32
        outputs[f"port{port}_answers"] = BLOCK * ANSWER_WORDS * 32
    variables = "".join(f"    reg [{width - 1}:0] {name} = 0;\n" for name, width in inputs.items())
    wires = "".join(f"    wire [{width - 1}:0] {name};\n" for name, width in outputs.items())
    pins = ", ".join(f".{name}({name})" for name in ("clk", *inputs, *outputs))
    return f"""`timescale 1ns/1ps
module {TOP};
    reg clk = 0;
    reg flush = 0;
    reg clear = 0;
{variables}{wires}
    // No edge while a port waits for its program; in reset the clock runs.
    always begin
        #5;
        if (!rst && stall !== 1'b0) wait (rst || stall === 1'b0);
        clk = 1;
        #5 clk = 0;
    end
    target target ({pins});
`ifdef NICBED_TRACE
    always @(flush) if (nicbed_trace_file.file != 0) $fflush(nicbed_trace_file.file);
`endif
    string wave;
    initial if ($value$plusargs("nicbed_wave=%s", wave)) begin
        $dumpfile(wave);
        $dumpvars(0, target);
    end
endmodule
"""


def _clearable(source: str, words: int) -> str:
    """The target's Verilog with host memories that are zeroed when the wrapper's ``clear`` changes.
    An array of ``words`` 64-bit words is a host memory. (Memories of memory.v do this
    themselves.)"""
    return re.sub(
        rf"^  reg \[63:0\] (\S+ )\[{words - 1}:0\];$",
        lambda found: f"{found[0]}\n  integer nicbed_index;\n  always @({TOP}.clear)\n"
                      f"    for (nicbed_index = 0; nicbed_index < {words}; "
                      f"nicbed_index = nicbed_index + 1)\n"
                      f"      {found[1]}[nicbed_index] = 64'd0;", source, flags=re.MULTILINE)


def build_icarus(source: str, work: Path, ports: int, words: int) -> None:
    """Build ``work/simulator.vvp`` from the target's Verilog."""
    icarus_version()
    (work / "target.v").write_text(_clearable(source, words))
    (work / "wrapper.v").write_text(_wrapper(ports))
    traces = instances(source, ["nicbed_trace"])
    roots = ["-s", "nicbed_trace_file", "-DNICBED_TRACE"] if traces else []
    files = map(str, module_files(source, work))
    done = subprocess.run(["iverilog", "-g2012", "-DNICBED_WRAPPER", "-o",
                           str(work / "simulator.vvp"), "-s", TOP,
                           *roots, str(work / "wrapper.v"), str(work / "target.v"), *files],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise BuildError("Icarus refuses the target", done.stdout)


def icarus_command(place: Path, wave: bool) -> list[str]:
    """The command that starts the simulation in ``place``."""
    import cocotb_tools.config
    return ["vvp", "-m", cocotb_tools.config.lib_entry("vpi", "icarus"),
            str(place / "simulator.vvp"), "-fst" if wave else "-none"]
