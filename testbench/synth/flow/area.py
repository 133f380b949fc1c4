"""What of a device a netlist takes, block by block."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

__all__ = ["Area", "by_block", "by_instance", "largest", "totals", "unnumbered"]


@dataclass(frozen=True)
class Area:
    """Cells of an ECP5 that something takes."""

    lut: int = 0
    """4-input LUTs: of logic, of carry chains (2 a CCU2C) and as memory (6 a 16x4 bits)."""
    lut_ram: int = 0
    """Of these, as memory."""
    ff: int = 0
    """Flip-flops."""
    ram: int = 0
    """Blocks of 18 kbit of RAM, DP16KD."""
    dsp: int = 0
    """Multipliers, MULT18X18D."""

    def __add__(self, other: "Area") -> "Area":
        return Area(*(getattr(self, field.name) + getattr(other, field.name)
                      for field in fields(self)))

    @property
    def any(self) -> bool:
        """Whether it is anything."""
        return self != Area()


_CELLS = {
    "LUT4": Area(lut=1),
    "CCU2C": Area(lut=2),
    "TRELLIS_DPR16X4": Area(lut=6, lut_ram=6),
    "TRELLIS_FF": Area(ff=1),
    "DP16KD": Area(ram=1),
    "MULT18X18D": Area(dsp=1),
}
"""What nextpnr counts of each type of cell. The multiplexers between LUTs are part of them."""


def by_block(netlist: Mapping[str, Any], top: str) -> dict[str, Area]:
    """The area of each block of a flattened netlist, as yosys writes JSON, without that of the
    blocks in it; the top's own is called "".

    A cell is its block's by its name. Flip-flops and memories keep theirs. A LUT is named after
    the signals it works on, so logic between two blocks is counted to either; and where two blocks
    have a signal in common, what makes it may be counted to the wrong one. The numbers by which
    Amaranth tells a block from a signal of its name are left out.
    """
    cells = [(unnumbered(name), cell["type"])
             for name, cell in netlist["modules"][top]["cells"].items()]
    blocks = {name for name, kind in cells if kind == "$scopeinfo"}
    found: dict[str, Area] = {"": Area(), **{name: Area() for name in sorted(blocks)}}
    known: dict[str, str] = {}
    for name, kind in cells:
        if kind in _CELLS:
            found[_block(name, blocks, known)] += _CELLS[kind]
    return found


def by_instance(netlist: Mapping[str, Any], top: str) -> dict[str, Area]:
    """As :func:`by_block`, of a netlist whose blocks were kept apart: every cell is counted to the
    block that it is in."""
    modules = {name: module for name, module in netlist["modules"].items()
               if "blackbox" not in module["attributes"]}
    found: dict[str, Area] = {}

    def count(module: str, block: str) -> None:
        own = Area()
        for name, cell in modules[module]["cells"].items():
            kind = cell["type"]
            if kind in _CELLS:
                own += _CELLS[kind]
            elif kind in modules:
                count(kind, f"{block}.{unnumbered(name)}".lstrip("."))
        found[block] = own

    count(top, "")
    return dict(sorted(found.items()))


def unnumbered(name: str) -> str:
    """A name without Amaranth's numbers."""
    return re.sub(r"\$\d+", "", name)


def _block(name: str, blocks: set[str], known: dict[str, str]) -> str:
    scope = name.rpartition(".")[0]
    if scope not in known:
        inside = scope
        while inside and inside not in blocks:
            inside = inside.rpartition(".")[0]
        known[scope] = inside
    return known[scope]


def largest(found: Mapping[str, Area], what: str, count: int = 3) -> list[tuple[str, Area]]:
    """The ``count`` blocks with the most of ``what``, a field of :class:`Area`."""
    ranked = sorted(found.items(), key=lambda item: (-getattr(item[1], what), item[0]))
    return [(name, area) for name, area in ranked[:count] if getattr(area, what)]


def totals(found: Mapping[str, Area]) -> dict[str, Area]:
    """``found`` with each block's area including that of the blocks in it."""
    result = {name: Area() for name in found}
    for name, area in found.items():
        inside = name
        while True:
            result[inside] += area
            if not inside:
                break
            inside = _parent(inside, result)
    return result


def _parent(name: str, blocks: Mapping[str, Area]) -> str:
    name = name.rpartition(".")[0]
    while name not in blocks:
        name = name.rpartition(".")[0]
    return name
