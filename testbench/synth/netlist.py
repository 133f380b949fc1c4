"""Synthesis: RTLIL to a netlist of an ECP5's cells, kept in the cache."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from ..build import cache
from .area import Area, by_block
from .tools import Mark, Progress, run, tool_version

__all__ = ["TOP", "Netlist", "netlist"]

TOP = "top"
"""Module that is synthesised, unless another one is named."""

# Where the time goes: measured with two nodes of the default NIC.
_MARKS: tuple[Mark, ...] = (
    ("Executing FLATTEN", 0.04, "synthesis: optimising"),
    ("Executing MEMORY_LIBMAP", 0.10, "synthesis: memories"),
    ("Executing TECHMAP", 0.14, "synthesis: cells"),
    ("Executing ABC9 ", 0.30, "synthesis: LUTs"),
    ("Executing AUTONAME", 0.93, "synthesis: names"),
)


@dataclass(frozen=True)
class Netlist:
    """A netlist: the folder with its files, its top, and its area by block."""

    place: Path
    top: str
    area: Mapping[str, Area]

    @property
    def json(self) -> Path:
        """For placing."""
        return self.place / f"{self.top}.json"

    @property
    def verilog(self) -> Path:
        """For simulators; only where there are no pads."""
        return self.place / f"{self.top}.v"


def netlist(text: str, cores: Mapping[str, str], *, pads: bool, top: str = TOP,
            progress: Progress = lambda *_: None) -> Netlist:
    """The netlist of module ``top`` of RTLIL ``text``.

    Parameters
    ----------
    cores
        Verilog of the modules that it instantiates and does not define: name and source.
    pads
        Whether its ports are pins of a device. Where they are not, the netlist is written as
        Verilog, too.

    Raises
    ------
    ToolError
        yosys refuses it.
    """

    def build(work: Path) -> None:
        _prepare(work, text, cores, _script(cores, pads, top))
        progress("synthesis", 0, 1000)
        run("yosys", ["-q", "-l", "yosys.log", "in.ys"], work, log="yosys.log", marks=_MARKS,
            progress=progress)
        found = by_block(json.loads((work / f"{top}.json").read_bytes()), top)
        (work / "area.json").write_text(json.dumps(
            {name: asdict(area) for name, area in found.items()}))

    place = cache.entry("netlist", [text, *_flat(cores), _script(cores, pads, top),
                                    tool_version("yosys")], build)
    area = json.loads((place / "area.json").read_bytes())
    return Netlist(place, top, {name: Area(**one) for name, one in area.items()})


def _prepare(work: Path, text: str, cores: Mapping[str, str], script: str) -> None:
    (work / "in.il").write_text(text)
    for name, source in cores.items():
        (work / f"{name}.v").write_text(source)
    (work / "in.ys").write_text(script)


def _flat(cores: Mapping[str, str]) -> list[str]:
    return [part for one in sorted(cores.items()) for part in one]


def _script(cores: Mapping[str, str], pads: bool, top: str) -> str:
    lines = [f"read_verilog {name}.v" for name in sorted(cores)]
    pins = "" if pads else " -noiopad"
    lines += ["read_rtlil in.il", f"synth_ecp5 -top {top} -json {top}.json{pins}"]
    if not pads:
        lines.append(f"write_verilog -noattr -norename {top}.v")
    return "\n".join([*lines, ""])
