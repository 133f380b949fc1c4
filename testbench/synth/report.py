"""Reports of a synthesis: a table, a document, and errors."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ...layouts.board import BAUD
from ..results.document import number
from .flow.area import Area, largest, totals
from .flow.device import CAPACITY
from .flow.routing import DoesNotRoute
from .flow.timing import Path
from .seeds import Best

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["area_rows", "area_table", "cannot_be_routed", "document", "misses_clock", "seeds_table",
           "too_large"]

_COLUMNS = ("LUT", "of these memory", "flip-flops", "RAM 18 kbit", "multipliers")
DEPTH = 6
"""Levels of blocks in a table: down to those of a NIC, or of its engine."""


def area_rows(found: Mapping[str, Area], depth: int = DEPTH) -> list[tuple[str, Area]]:
    """Each block down to ``depth`` levels with everything inside it, below its parent; the whole
    design first, called ""."""
    return _rows(totals(found), depth)


def _rows(whole: Mapping[str, Area], depth: int) -> list[tuple[str, Area]]:
    return [(name, area) for name, area in sorted(whole.items(), key=lambda one: _order(one[0]))
            if name.count(".") < depth]


def _order(name: str) -> list[str]:
    return name.split(".") if name else []


def area_table(found: Mapping[str, Area], title: str, *, whole: bool = False) -> "Table":
    """Area by block; ``whole``: each area already includes that of the blocks inside."""
    from ..results.tables import table

    rows = []
    for name, area in _rows(found, DEPTH) if whole else area_rows(found):
        if not area.any:
            continue
        label = f"{'  ' * name.count('.')}{name.rpartition('.')[2]}" if name else "all"
        rows.append((label, *(f"{value:,}" if value else "-" for value in
                              (area.lut, area.lut_ram, area.ff, area.ram, area.dsp))))
    return table(title, ["block", *_COLUMNS], rows)


def seeds_table(reached: Mapping[str, float | None], best: int) -> "Table":
    """The result of each seed, and which one is in the bitstream."""
    from ..results.tables import table

    return table("Seeds", ["seed", "fmax MHz", ""], [
        (seed, "not routed" if mhz is None else f"{mhz:.1f}",
         "in the bitstream" if seed == str(best) else "") for seed, mhz in reached.items()])


def document(*, board: str, config: Mapping[str, Any], identity: str, clock_mhz: Fraction,
             best: Best, found: Mapping[str, Area], paths: Sequence[Path], frames: int,
             baud: Fraction, versions: Mapping[str, str]) -> dict[str, Any]:
    """The document that is written beside the bitstream."""
    return {
        "board": board,
        "config": dict(config),
        "identity": identity,
        "clock_mhz": number(clock_mhz),
        "fmax_mhz": number(best.fmax_mhz),
        "seed": best.seed,
        "seeds": {str(seed): None if mhz is None else number(mhz)
                  for seed, mhz in best.reached.items()},
        "frames": frames,
        "baud": number(baud),
        "versions": dict(versions),
        "area": {name or "all": _plain(area) for name, area in totals(found).items() if area.any},
        "critical_paths": [{"ns": number(path.ns), "logic_ns": number(path.logic_ns),
                            "from": path.source, "to": path.sink, "blocks": list(path.blocks)}
                           for path in paths],
    }


def _plain(area: Area) -> dict[str, int]:
    return {"lut": area.lut, "lut_ram": area.lut_ram, "ff": area.ff, "ram": area.ram,
            "dsp": area.dsp}


def too_large(title: str, over: Mapping[str, tuple[int, int]], found: Mapping[str, Area]) -> str:
    """One line: the resources that are short, and the blocks that take most of them."""
    parts = []
    for name, (used, available) in over.items():
        what, words = CAPACITY[name]
        most = ", ".join(f"{block or 'the top'} {getattr(area, what):,}"
                         for block, area in largest(found, what))
        parts.append(f"{used:,} {words} of {available:,} (most in {most})")
    return f"the NIC does not fit the {title}: {'; '.join(parts)}"


def cannot_be_routed(title: str, stuck: DoesNotRoute, found: Mapping[str, Area]) -> str:
    """One line: how far the router came, and the blocks with most LUTs."""
    most = ", ".join(f"{block or 'the top'} {area.lut:,}" for block, area in largest(found, "lut"))
    return (f"the NIC cannot be routed on the {title}: {stuck.left:,} of {stuck.arcs:,} "
            f"connections left after {stuck.tries:,} tries (most LUTs in {most}); a smaller NIC, "
            "or more --seeds")


def misses_clock(title: str, clock_mhz: Fraction, fmax_mhz: float, paths: Sequence[Path],
                 clocks: Sequence[Fraction]) -> str:
    """One line: by how much the clock is missed, and on which path; and the fastest of the board's
    ``clocks`` that is met."""
    where = ""
    if paths:
        through = " → ".join(paths[0].blocks) or "the top"
        where = f"; its longest path, {paths[0].ns:.1f} ns, goes through {through}"
    slower = [one for one in clocks if one <= fmax_mhz]
    what = (f"try --clock {float(max(slower)):g} or more --seeds" if slower else
            f"no clock as slow gives the line its {BAUD} baud: try more --seeds or a smaller NIC")
    return (f"the NIC reaches {fmax_mhz:.1f} MHz on the {title}, not {float(clock_mhz):g} MHz"
            f"{where}; {what}")
