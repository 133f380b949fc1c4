"""The whole target as one netlist: for Icarus, to compare the instances with, and for targets of a
user's own."""

import importlib
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...layouts.description import Description
from .held_inputs import CORE, held_inputs
from .verilator import Compilation, Progress, cocotb_libraries, compile_all, design_header, verilate
from .verilog import SOURCES, module_files, own_files, rtlil, to_verilog

__all__ = ["PUBLIC", "build_one_design", "netlist"]

PUBLIC = ("clk", "rst", "cfg_we", "cfg_index", "cfg_data", "trace_enable", "profile_enable",
          "skip_enable", "limit", "attention")
"""Ports of the target that VPI sees under Verilator; the others go through the mailbox."""


def netlist(description: Description, target: str, memory: str, held: bool,
            progress: Progress) -> str:
    """Verilog of the target "module:class": that of each of its modules, one after the other. With
    ``held``, as Verilator wants it."""
    try:
        return _convert(description, target, memory, held, progress)
    except BaseException:
        # That what was made is not used is no news beside what went wrong.
        from amaranth.hdl import UnusedElaboratable

        warnings.simplefilter("ignore", UnusedElaboratable)
        raise


def _convert(description: Description, target: str, memory: str, held: bool,
             progress: Progress) -> str:
    module, name = target.split(":")
    factory: Callable[..., Any] = getattr(importlib.import_module(module), name)
    top = factory(description=description, memory=memory, gated=held)
    modules = getattr(top, "modules", [("target", top)])
    texts = []
    for done, (name, component) in enumerate(modules):
        progress("converting", done, len(modules))
        if held and component is top:
            name += CORE
        texts.append(to_verilog(rtlil(component, name), processes=held))
    if held:
        texts.append(held_inputs(top, "target", lambda port: port.startswith(("port", "go"))))
    progress("converting", len(modules), len(modules))
    return "\n".join(texts)


def _ports_header(ports: int, nodes: int) -> str:
    each = " ".join(f"X({port})" for port in range(ports))
    return (f"#pragma once\n#define PORTS {ports}\n#define NODES {nodes}\n"
            f"#define EACH_PORT(X) {each}\n")


def build_one_design(source: str, work: Path, ports: int, nodes: int, wave: str | None,
                     progress: Progress) -> None:
    """``work/simulator`` of the Verilog ``source``, whose top is ``target`` with ``ports`` host
    ports of ``nodes`` nodes."""
    objects = work / "objects"
    objects.mkdir()
    (objects / "target.v").write_text(source)
    (objects / "nicbed_ports.h").write_text(_ports_header(ports, nodes))
    progress("verilating", 0, 1)
    files = verilate([objects / "target.v", *module_files(source, objects)], objects,
                     top="target", public=PUBLIC, wave=wave)
    progress("verilating", 1, 1)
    compile_all(Compilation(
        objects, [*files, SOURCES / "main.cpp", *own_files(source, ".cpp")], wave,
        design_header("one_design.h")), work / "simulator", libraries=cocotb_libraries(),
        progress=progress)
    shutil.rmtree(objects, ignore_errors=True)
