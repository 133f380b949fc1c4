"""The target as instances of a station, a crossbar and a trunk: one simulator for any fabric."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...layouts.description import Description
from ...layouts.fabric import topology
from .held_inputs import CORE, held_inputs
from .verilator import Compilation, Progress, cocotb_libraries, compile_all, design_header, verilate
from .verilog import SOURCES, module_files, own_files, rtlil, to_verilog

__all__ = ["build_instances", "topology_options"]

NODES = 256
"""Numbers that a node can have."""

_CLOCKED = ("clk_rest", "following", "up__ready", "down__payload", "down__valid", "i__payload",
            "i__valid", "o__ready")
"""Inputs of a station or a trunk that change from cycle to cycle, and lead to little logic."""

_SHELL = """module target (input clk);
endmodule
"""
"""What cocotb sees of the target."""


def topology_options(description: Description) -> list[str]:
    """Command-line options that tell the simulator its topology."""
    graph = topology(description)
    places = ",".join(f"{switch}.{port}" for switch, port in graph.places)
    trunks = ",".join(f"{near[0]}.{near[1]}-{far[0]}.{far[1]}" for near, far in graph.trunks)
    return ["--switches", str(graph.switches), "--nodes", places, "--trunks", trunks]


def _sizes(ports: int) -> list[int]:
    """Ports of the crossbars that are built: a switch has the smallest that has its ports."""
    return [size for size in (2, 4, 8) if size < ports] + [ports]


def _crossbar(size: int) -> str:
    """Module of a crossbar with so many ports: no name is the beginning of another one."""
    return f"crossbar_{size}_ports"


def _shortcuts(description: Description, work: Path, wave: bool) -> dict[str, bool]:
    """What of Verilator's own way of evaluating a station machine.cpp has to keep to. It goes
    around it where this version's names are the ones that it knows: calls the evaluation itself,
    and at a falling edge, where nothing happens without the clock gate of a NIC processor, only
    notes that the clocks are low."""
    root = (work / "Vstation___024root.h").read_text()
    known = all(f"__Vtrigprevexpr___TOP__{clock}__0;" in root for clock in ("clk", "clk_rest"))
    named = "void Vstation___024root___eval(Vstation___024root* vlSelf)" in (
        work / "Vstation.cpp").read_text()
    return {"STATION_FALLS": wave or description.nic.processor != "none" or not known,
            "STATION_FRAME": not named}


def _header(sizes: list[int], shortcuts: dict[str, bool]) -> str:
    from ...rtl.fabric.faults import seed_constant
    from ...rtl.node.node import CPUS

    each = " ".join(f"X({cpu})" for cpu in range(CPUS))
    lines = ["#pragma once", *(f'#include "V{_crossbar(size)}.h"' for size in sizes),
             f"#define CPUS {CPUS}", f"#define EACH_CPU(X) {each}",
             f"#define SWITCH_PORTS {sizes[-1]}",
             *(f"#define {name} {int(value)}" for name, value in shortcuts.items()),
             f"constexpr uint32_t DRAWS[{NODES}] = {{",
             *(f"    {seed_constant(node)}u," for node in range(NODES)), "};",
             "inline Crossbar* make_crossbar(uint32_t joined, const char* name) {"]
    for size in sizes:
        model = f"V{_crossbar(size)}"
        lines += [f"    if (joined < 1u << {size}) {{",
                  f"        auto* const one = new CrossbarOf<{model}>(name);"]
        for port in range(size):
            lines += [f"        one->{side}_{what}.push_back(&one->top->{side}_{port}_{member});"
                      for side in "io" for what, member in (
                          ("valid", "valid"), ("ready", "ready"), ("p", "payload[0]"))]
        lines += ["        one->top->joined = joined;", "        return one;", "    }"]
    return "\n".join([*lines, "    return nullptr;", "}"]) + "\n"


def build_instances(description: Description, work: Path, wave: str | None, bare: bool,
                    progress: Progress) -> None:
    """``work/simulator``: main.cpp, or with ``bare`` bare.cpp, over machine.cpp."""
    from ...rtl.instances.crossbar import Crossbar
    from ...rtl.instances.station import Station
    from ...rtl.instances.trunk import Trunk

    sizes = _sizes(description.switch.ports)
    makes: dict[str, tuple[Callable[[], Any], Callable[[str], bool]]] = {
        "station": (lambda: Station(description=description), lambda port: port not in _CLOCKED),
        "trunk": (lambda: Trunk(description=description), lambda port: port not in _CLOCKED),
        **{_crossbar(size): (
            lambda size=size: Crossbar(ports=size),
            lambda port: port in ("joined", "number", "trace_enable")) for size in sizes}}
    objects = work / "objects"
    objects.mkdir()
    sources, own = [], {}
    for done, (name, (make, held)) in enumerate(makes.items()):
        progress("converting", done, len(makes))
        component = make()
        text = to_verilog(rtlil(component, name + CORE), processes=True) \
            + held_inputs(component, name, held)
        (objects / f"{name}.v").write_text(text)
        progress("verilating", done, len(makes))
        sources += verilate([objects / f"{name}.v", *module_files(text, objects)], objects,
                            top=name, vpi=False, wave=wave, name=f"V{name}")
        own |= dict.fromkeys(own_files(text, ".cpp"))
    progress("verilating", len(makes), len(makes))
    (objects / "nicbed_machine.h").write_text(
        _header(sizes, _shortcuts(description, objects, wave is not None)))
    if not bare:
        (objects / "target.v").write_text(_SHELL)
        sources += verilate([objects / "target.v"], objects, top="target",
                            public=("clk",), wave=wave)
    compile_all(Compilation(
        objects, [*sources, SOURCES / ("bare.cpp" if bare else "main.cpp"),
                  SOURCES / "machine.cpp", *own], work / "simulator", wave,
        design_header("instances.h"), [] if bare else cocotb_libraries()), progress)
    shutil.rmtree(objects, ignore_errors=True)
