"""The target as instances of a station, a crossbar and a trunk: one simulator for any fabric."""

import re
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ...layouts.description import MAX_CPUS, Description
from ...layouts.fabric import MeshPort, Routing, graph_of
from ..changes.model import NotKnown
from ..changes.rewrite import MEMBERS_ONLY, VERSION, checked, evaluate_changes
from .cache import entry, machine, sources_key, tree_hash
from .held_inputs import CORE, held_inputs
from .verilator import (
    Compilation,
    Progress,
    cocotb_libraries,
    compile_objects,
    design_header,
    link,
    runtime_beside,
    toolchain,
    verilate,
)
from .verilog import SOURCES, foreign_sources, module_files, own_files, rtlil, to_verilog

__all__ = ["build_instances", "built_cpus", "topology_options"]

ADDRESSES = 256
"""Numbers that a wire address can have."""

_CLOCKED = re.compile(r"clk_rest|following|leaps|port\d+_to|up__\d+__ready|"
                      r"down__\d+__(payload|valid)|i__(payload|valid)|o__ready")
"""Inputs of a station or a trunk that change from cycle to cycle, and lead to little logic."""

_SHELL = """module target (input clk);
endmodule
"""
"""What cocotb sees of the target."""


def built_cpus(description: Description) -> int:
    """Host ports of the stations that are built for ``description``: one, or as many as a node can
    have."""
    return 1 if description.node.cpus == 1 else MAX_CPUS


def _held(port: str) -> bool:
    """Whether the wrapper of a station or a trunk holds the input."""
    return not _CLOCKED.fullmatch(port)


def topology_options(description: Description) -> list[str]:
    """Command-line options that tell the simulator its topology, and the CPUs of a node."""
    graph = graph_of(description)
    places = ",".join(f"{switch}.{port}" for switch, port in graph.places)
    trunks = ",".join(f"{near[0]}.{near[1]}-{far[0]}.{far[1]}" for near, far in graph.trunks)
    return ["--switches", str(graph.switches), "--routing", graph.routing.value, "--nodes", places,
            "--trunks", trunks, "--cpus", str(description.node.cpus)]


def _sizes(ports: int) -> list[int]:
    """Ports of the crossbars that are built: a switch has the smallest that has its ports."""
    return [size for size in (2, 4, 8) if size < ports] + [ports]


_RESTING = ("nic", "faults", "uplink", "downlink")
"""The blocks of a station with a VI engine of which only what has changed is evaluated, one of each
for a NIC. The rest, which is the host ports, the bus and the memory controller, changes in most of
the cycles in which a station is awake."""

_MESH = "mesh_switch"
"""Module of a mesh's switches."""


def _resting(description: Description) -> list[str]:
    """Names of the blocks that rest in the stations of ``description``."""
    if description.via.design != "engine":
        return []
    return [f"{name}_{nic}" for nic in range(description.node.nics) for name in _RESTING]


def _crossbar(size: int) -> str:
    """Module of a crossbar with so many ports: no name is the beginning of another one."""
    return f"crossbar_{size}_ports"


def _converted(component: Any, name: str, held: Callable[[str], bool]) -> tuple[str, str]:
    """RTLIL of ``component``, and the Verilog of class ``V{name}`` around it."""
    return rtlil(component, name + CORE), held_inputs(component, name, held)


def _converted_crossbar(size: int, sources: str,
                        routing: Routing = Routing.PORTS) -> tuple[str, str]:
    """As :func:`_converted`. All descriptions have the same ones of the same ``sources``
    (:func:`sources_key`), so they are kept."""
    from importlib.metadata import version

    def make(work: Path) -> None:
        from ...rtl.instances.crossbar import Crossbar

        made = _converted(Crossbar(ports=size, routing=routing),
                          _crossbar(size) if routing is Routing.PORTS else _MESH,
                          lambda port: port in ("joined", "number", "trace_enable"))
        for name, text in zip(files, made, strict=True):
            (work / name).write_text(text)

    files = ("core.il", "class.v")
    place = entry("crossbar", [sources, version("amaranth"), sys.version, str(size),
                               routing.value], make)
    core, around = ((place / name).read_text() for name in files)
    return core, around


def _shortcuts(description: Description, work: Path, wave: bool, falls: bool) -> dict[str, bool]:
    """Finds the shortcuts past Verilator's eval() that are safe for this build of a station. They
    rely on private names, so they are taken only where the generated code has those names: then
    machine.cpp calls the evaluation itself, and at a falling edge only notes that the clocks are
    low. With ``falls`` a falling edge does more, as the clock gate of a NIC processor does."""
    root = (work / "Vstation___024root.h").read_text()
    known = all(f"__Vtrigprevexpr___TOP__{clock}__0;" in root for clock in ("clk", "clk_rest"))
    named = "void Vstation___024root___eval(Vstation___024root* vlSelf)" in (
        work / "Vstation.cpp").read_text()
    return {"STATION_FALLS": wave or falls or description.nic.processor != "none" or not known,
            "STATION_FRAME": not named}


def _link_ends(nics: int) -> list[str]:
    """Functions for a station's ports to the links of its NICs, which its model has by names."""
    lines = ["constexpr size_t FLIT_BYTES = sizeof(Vstation::up_0_payload);"]
    for kind, side, name, place in (
            ("CData&", "up", "valid", ""), ("CData&", "up", "ready", ""),
            ("EData*", "up", "payload", "[0]"), ("CData&", "down", "valid", ""),
            ("CData&", "down", "ready", ""), ("EData*", "down", "payload", "[0]"),
            ("IData&", "draws", "", "")):
        member = f"_{name}" if name else ""
        take = "&" if place else ""
        lines.append(f"inline {kind} {side}{member}(Vstation& top, unsigned nic) {{")
        lines += [f"    if (nic == {nic}) return {take}top.{side}_{nic}{member}{place};"
                  for nic in range(nics - 1)]
        lines += [f"    return {take}top.{side}_{nics - 1}{member}{place};", "}"]
    return lines


def _header(sizes: list[int], cpus: int, nics: int, shortcuts: dict[str, bool]) -> str:
    from ...rtl.fabric.faults import seed_constant

    each = " ".join(f"X({cpu})" for cpu in range(cpus))
    switches = [(f"    if (!mesh && joined < 1u << {size}) {{", f"V{_crossbar(size)}", size)
                for size in sizes]
    switches.append(("    if (mesh) {", f"V{_MESH}", len(MeshPort)))
    lines = ["#pragma once", *(f'#include "{model}.h"' for _, model, _ in switches),
             f"#define CPUS {cpus}", f"#define EACH_CPU(X) {each}", f"#define NICS {nics}",
             *_link_ends(nics),
             f"#define SWITCH_PORTS {sizes[-1]}",
             *(f"#define {name} {int(value)}" for name, value in shortcuts.items()),
             f"constexpr uint32_t DRAWS[{ADDRESSES}] = {{",
             *(f"    {seed_constant(address)}u," for address in range(ADDRESSES)), "};",
             "inline Crossbar* make_crossbar(uint32_t joined, bool mesh, const char* name) {"]
    for where, model, size in switches:
        lines += [where, f"        auto* const one = new CrossbarOf<{model}>(name);"]
        for port in range(size):
            lines += [f"        one->{side}_{what}.push_back(&one->top->{side}_{port}_{member});"
                      for side in "io" for what, member in (
                          ("valid", "valid"), ("ready", "ready"), ("p", "payload[0]"))]
        lines += ["        one->top->joined = joined;", "        return one;", "    }"]
    return "\n".join([*lines, "    return nullptr;", "}"]) + "\n"


def build_instances(description: Description, work: Path, wave: str | None, bare: bool,
                    progress: Progress) -> None:
    """``work/simulator``: main.cpp, or with ``bare`` bare.cpp, over machine.cpp."""
    from ...rtl.instances.station import Station
    from ...rtl.instances.trunk import Trunk

    sizes = _sizes(description.switch.ports)
    cpus, sources = built_cpus(description), sources_key()
    makes: dict[str, Callable[[], tuple[str, str]]] = {
        "station": lambda: _converted(Station(description=description, cpus=cpus), "station",
                                      _held),
        "trunk": lambda: _converted(Trunk(description=description), "trunk", _held),
        **{_crossbar(size): lambda size=size: _converted_crossbar(size, sources)
           for size in sizes},
        _MESH: lambda: _converted_crossbar(len(MeshPort), sources, Routing.DISPLACEMENT)}
    objects = work / "objects"
    objects.mkdir()
    models, own, falls = [], {}, False
    with runtime_beside(wave):
        for done, (name, make) in enumerate(makes.items()):
            progress("converting", done, len(makes))
            text, around = make()
            own |= dict.fromkeys(own_files(text, ".cpp"))
            falls |= any("negedge" in source for source in foreign_sources(text).values())
            partly = _resting(description) if name == "station" else []
            models.append(_model(name, text, around, wave, lambda *_, done=done: progress(
                "compiling", done, len(makes)), partly))
    (objects / "nicbed_machine.h").write_text(
        _header(sizes, cpus, description.node.nics,
                _shortcuts(description, models[0], wave is not None, falls)))
    shell = []
    if not bare:
        (objects / "target.v").write_text(_SHELL)
        shell = verilate([objects / "target.v"], objects, top="target",
                         public=("clk",), wave=wave)
    job = Compilation(
        objects, [*shell, SOURCES / ("bare.cpp" if bare else "main.cpp"),
                  SOURCES / "machine.cpp", *own], wave,
        [*design_header("instances.h"), *(f"-I{model}" for model in models)])
    compiled = [one for model in models for one in sorted(model.glob("*.o"))]
    link([*compile_objects(job, progress), *compiled], work / "simulator", wave=wave,
         libraries=[] if bare else cocotb_libraries())
    shutil.rmtree(objects, ignore_errors=True)


def _changing(translated: Callable[..., list[Path]], work: Path, name: str,
              blocks: Sequence[str]) -> list[Path]:
    """C++ of class ``V{name}``, as ``translated`` makes it, that evaluates of ``blocks`` only what
    has changed. None if that is not possible: then the user is told why."""
    tools = toolchain()
    try:
        if tools.release != VERSION:
            raise NotKnown(f"Verilator {tools.version}")
        sources = translated(options=[MEMBERS_ONLY])
        return sources + evaluate_changes(work, f"V{name}", {*blocks}, check=checked())
    except NotKnown as reason:
        # Verilator's other C++ is faster without the pass, and its files may be fewer.
        for path in work.glob(f"V{name}*"):
            path.unlink()
        print(f"nicbed: all of a {name} is evaluated, not only what has changed, which is slower: "
              f"C++ that is not known: {' '.join(str(reason).split())}", file=sys.stderr,
              flush=True)
        return []


def _model(name: str, text: str, around: str, wave: str | None, progress: Progress,
           partly: Sequence[str] = ()) -> Path:
    """The folder with the headers and objects of class ``V{name}``, of the RTLIL ``text`` and the
    Verilog ``around`` it. Many simulators share a class: that of a switch depends on its number of
    ports alone. Of the blocks ``partly`` only what has changed is evaluated."""
    tools = toolchain()

    def make(work: Path) -> None:
        verilog = to_verilog(text, processes=True) + around
        (work / f"{name}.v").write_text(verilog)
        files = [work / f"{name}.v", *module_files(text, work)]
        translated = partial(verilate, files, work, top=name, vpi=False, wave=wave, name=f"V{name}")
        sources = _changing(translated, work, name, partly) if partly and not wave else []
        sources = sources or translated()
        compile_objects(Compilation(work, sources, wave=wave), progress)
        for path in work.iterdir():
            if path.suffix not in (".h", ".o") and path.name != f"V{name}.cpp":
                path.unlink()

    return entry("model", [
        text, around, str(wave), *partly, str(checked()),
        *foreign_sources(text).values(),
        tree_hash([Path(__file__).parent], (".py", ".v", ".h")), tools.version, str(tools.root),
        tools.compiler_version, *tools.compiler, machine()], make)
