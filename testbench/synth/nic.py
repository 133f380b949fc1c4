"""The area of a NIC by itself, which is the metric ``area``.

The NIC is synthesised without a board, a fabric and the node around it, and with separate blocks
(:mod:`.area_docs` says what that costs), so that a block that did not change keeps its area.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ...layouts.description import Description, Kind, knobs
from ..benches.common.headline import Headline
from ..results import document as files
from .flow.area import Area, totals
from .flow.netlist import netlist
from .flow.tools import Progress, need, tool_errors, tool_version
from .plan import without_board
from .report import area_table

__all__ = ["FIGURES", "TOOL", "config", "document", "headline", "measure", "tables", "versions"]

TOOL = "yosys"
_UNITS = {"lut": "LUT", "lut_ram": "LUT", "ff": "flip-flops", "ram": "blocks of 18 kbit",
          "dsp": "multipliers"}
FIGURES = tuple(_UNITS)


def measure(description: Description, progress: Progress = lambda *_: None) -> dict[str, Any]:
    """The area of the NIC of ``description``: all of it, and of each block with what is inside.

    Raises
    ------
    UserError
        yosys is not installed, or refuses the design.
    """
    from amaranth.hdl import Signal

    need(TOOL)
    progress("converting", 0, 1000)
    # With a step a processor is as on a board, without what only simulators have; it is always 1.
    design = description.design
    side = design.side(description, description.node.cpus)
    plan = without_board(design.build(description, side, step=Signal(init=1)))
    with tool_errors():
        found = netlist(plan.text, plan.cores, pads=False, flat=False, progress=progress).area
    blocks = {name: asdict(area) for name, area in totals(found).items()}
    return {"results": blocks.pop(""), "blocks": blocks}


def versions() -> dict[str, str]:
    """Versions of the tools on which an area depends."""
    found = files.versions("board")
    return {name: found[name] for name in ("python", "nicbed", "amaranth")} | {
        TOOL: tool_version(TOOL)}


def config(description: Description) -> dict[str, dict[str, Any]]:
    """The knobs on which an area can depend: those of structure."""
    found: dict[str, dict[str, Any]] = {}
    whole = description.model_dump(mode="json")
    for knob in knobs(description):
        if knob.kind is Kind.STRUCTURE:
            section, key = knob.name.split(".")
            found.setdefault(section, {})[key] = whole[section][key]
    return found


def document(name: str, layer: str, description: Description, outcome: Mapping[str, Any]
             ) -> dict[str, Any]:
    """The document of what was measured under ``name``. It holds nothing of knobs on which no area
    depends."""
    knobs_of = config(description)
    return {"benchmark": name, "layer": layer, "sim": TOOL, "config": knobs_of, "parameters": {},
            "config_hash": files.config_hash_of(knobs_of), "versions": versions(), "notes": [],
            "truth": {}, "points": {}, "checks": [], **outcome}


def headline(document: Mapping[str, Any]) -> list[Headline]:
    """LUTs, those of them that are memory, flip-flops, blocks of RAM, multipliers."""
    return [Headline(name, document["results"][name], unit) for name, unit in _UNITS.items()]


def tables(document: Mapping[str, Any]) -> list[Any]:
    """Area by block."""
    found = {name: Area(**one) for name, one in document["blocks"].items()}
    return [area_table({"": Area(**document["results"]), **found}, "Area of the NIC on an ECP5",
                       whole=True)]
