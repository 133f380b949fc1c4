"""The block that bounds the gap, in results: its fields, its sentence, its table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...results.document import number
from ...results.tables import table
from ...truth.bound import Bound
from ..fields import figure

__all__ = ["BusyBlock", "GapBound", "bound_line", "bound_of", "busy_table"]


@dataclass(frozen=True)
class BusyBlock:
    """The busy share of a block on the path in steady state."""

    block: str = figure("", "its name")
    node: int = figure("", "its node")
    busy: float = figure("", "the share, 0 to 1, of the time in which it served")
    held: bool = False
    """It was busy because of another one."""


@dataclass(frozen=True)
class GapBound:
    """The block that bounds the gap, "window" if none is busy throughout."""

    block: str = figure("", "its name")
    busy: float = figure("", "the share, 0 to 1, of the time in which it served")
    shares: Sequence[BusyBlock] = figure("", "all blocks on the path")


def bound_of(found: Bound) -> GapBound:
    """A bound in the form of a result file."""
    return GapBound(found.block, number(found.busy),
                    [BusyBlock(share.block, share.node, number(share.busy), share.held)
                     for share in found.shares])


def bound_line(found: GapBound, what: str = "g") -> str:
    """A sentence that says what bounds the gap."""
    busy = f"{100 * found.busy:.0f} % busy"
    if found.block == "window":
        return f"{what} is bound by: the window (no block is busy throughout; the busiest {busy})"
    return f"{what} is bound by: {found.block}, {busy}"


def busy_table(found: GapBound) -> Any:
    """Busy shares of the blocks on the path, with the bound among them."""
    rows = [(("→ " if one.block == found.block else "  ") + one.block, str(one.node),
             f"{100 * one.busy:.1f} %") for one in found.shares]
    return table("Busy in steady state", ["block", "node", "busy"], rows)
