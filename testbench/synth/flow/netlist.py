"""Synthesis: RTLIL to a netlist of an ECP5's cells, kept in the cache."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ...simulators import cache
from . import area, resets
from .area import Area, by_block, by_instance
from .collisions import without_collisions
from .tools import Mark, Progress, run, tool_version

__all__ = ["TOP", "Netlist", "netlist"]

TOP = "top"
"""Name of the synthesised module, unless another one is given."""

# Shares of the run time, measured with two nodes of the default NIC.
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
        """The netlist as JSON, for placing."""
        return self.place / f"{self.top}.json"


def netlist(text: str, cores: Mapping[str, str], *, pads: bool, flat: bool = True, top: str = TOP,
            empty: Sequence[str] = (), then: Sequence[str] = (),
            files: Mapping[str, str] | None = None,
            progress: Progress = lambda *_: None) -> Netlist:
    """The netlist of module ``top`` of RTLIL ``text``.

    Parameters
    ----------
    cores
        Verilog of the modules that the text instantiates and does not define: name and source.
    pads
        Whether the ports are pins of a device; large resets are then on global lines.
    flat
        Whether the netlist becomes one module, which takes less area; else blocks stay separate, so
        that the area of each is known exactly.
    empty
        Modules that become black boxes without area.
    then
        yosys commands to run on the finished netlist; their output files are kept beside it.
    files
        Files that these commands read: name and content.

    Raises
    ------
    ToolError
        yosys refuses the text.
    """
    inputs = {"in.il": without_collisions(text),
              "in.ys": _script(cores, pads, flat, top, empty, then),
              **{f"{name}.v": source for name, source in cores.items()}, **(files or {})}

    def build(work: Path) -> None:
        for name, content in inputs.items():
            (work / name).write_text(content)
        progress("synthesis", 0, 1000)
        run("yosys", ["-q", "-l", "yosys.log", "in.ys"], work, log="yosys.log", marks=_MARKS,
            progress=progress)
        written = work / f"{top}.json"
        made = json.loads(written.read_bytes())
        if pads and resets.onto_global_network(made["modules"][top]):
            written.write_text(json.dumps(made))
        found = (by_block if flat else by_instance)(made, top)
        (work / "area.json").write_text(json.dumps(
            {name: asdict(one) for name, one in found.items()}))

    # Changes to yosys' netlist before it is stored.
    own = (Path(str(module.__file__)).read_text() for module in (area, resets))
    place = cache.entry("netlist", [*(part for one in sorted(inputs.items()) for part in one),
                                    tool_version("yosys"), *own], build)
    found = json.loads((place / "area.json").read_bytes())
    return Netlist(place, top, {name: Area(**one) for name, one in found.items()})


def _script(cores: Mapping[str, str], pads: bool, flat: bool, top: str, empty: Sequence[str],
            then: Sequence[str]) -> str:
    # A LUT of more than 4 inputs would be 2 to 8 LUTs with the same wires to each.
    options = f" -nowidelut{'' if pads else ' -noiopad'}{'' if flat else ' -noflatten'}"
    synthesis = f"synth_ecp5 -top {top} -json {top}.json{options}"
    # With separate blocks, wires of several bits make yosys' mapping stop at duplicate names (its
    # issue 4349).
    steps = [synthesis] if flat else [f"{synthesis} -run begin:map_luts", "splitnets",
                                      f"{synthesis} -run map_luts:"]
    return "\n".join([*(f"read_verilog {name}.v" for name in sorted(cores)), "read_rtlil in.il",
                      *(f"blackbox {name}" for name in empty), *steps, *then, ""])
