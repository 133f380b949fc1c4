"""The area of a netlist on a device, block by block."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

__all__ = ["Area", "by_block", "by_instance", "largest", "totals", "unnumbered"]


@dataclass(frozen=True)
class Area:
    """Cells of an ECP5."""

    lut: int = 0
    """4-input LUTs: of logic, of carry chains (2 for each CCU2C) and as memory (6 for each 16x4
    bits)."""
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
        """True if any cell is used."""
        return self != Area()


_CELLS = {
    "LUT4": Area(lut=1),
    "CCU2C": Area(lut=2),
    "TRELLIS_DPR16X4": Area(lut=6, lut_ram=6),
    "TRELLIS_FF": Area(ff=1),
    "DP16KD": Area(ram=1),
    "MULT18X18D": Area(dsp=1),
}
"""The kinds of cells that nextpnr counts for each cell type. They include the multiplexers between
LUTs."""


def by_block(netlist: Mapping[str, Any], top: str) -> dict[str, Area]:
    """The area of each block of a flattened netlist, as yosys writes JSON, without the area of
    blocks inside it; the top is called "".

    A cell is attributed to a block by its name. Flip-flops and memories keep their names. A LUT is
    named after the signals that it computes, so logic between two blocks is counted for one of the
    two; and if two blocks share a signal, the logic that drives it may be counted for the wrong
    one. The numbers by which Amaranth distinguishes a block from a signal of the same name are
    removed.
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
    """As :func:`by_block`, for a netlist with separate blocks: every cell is counted for the block
    that contains it."""
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
    """A name without the numbers that Amaranth appends."""
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
    """``found`` with each block's area including that of the blocks inside it."""
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
