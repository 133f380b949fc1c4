"""Tables and plot of a difference."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..results.tables import amount, checks, micro, percent, table

__all__ = ["draw", "lines"]

SHOWN = 1e-6
"""Parts that differ by less are equal."""


def lines(document: Mapping[str, Any]) -> list[Any]:
    """Figures; the round trip in parts; what each CPU is charged; blocks; where the runs part."""
    found, clock = document["results"], document["clock_mhz"]
    a, b = document["sides"]
    shown: list[Any] = [table(
        f"A: {a}; B: {b}; {document['layer']} (cycles)",
        ["", "A", "B", "B − A", "", "µs of A", "µs of B"],
        [(name, amount(one), amount(other), _more(one, other), _share(one, other),
          micro(one, clock[0]), micro(other, clock[1])) for name, one, other in found["figures"]])]
    parts = [row for row in found["parts"] if max(map(abs, row[1:])) > SHOWN]
    total = ["a round trip", *found["total"]]
    shown.append(table("Where a round trip of the smallest message differs (cycles)",
                       ["part", "A", "B", "B − A"],
                       [_row(row) for row in [*parts, total]]))
    for title, work in zip(("requester", "echo"), found["work"], strict=True):
        if any(one != other for _, one, other in work):
            shown.append(table(f"Work of the {title}'s CPU in a round trip (how many)",
                               ["cost item", "A", "B", "B − A"], [_row(row) for row in work]))
    shown.append(table("Cycles in which a block is busy for a message, in steady state",
                       ["block", "A", "B", "B − A"],
                       [(_arrow(name, found["bound"]), amount(one), amount(other),
                         _more(one, other)) for name, one, other in found["blocks"]]))
    shown.append(_bound(found["bound"]))
    parting = found["parting"]
    if parting is None:
        shown.append("the runs of the round trips are the same to the event")
    else:
        one, other = parting["events"]
        shown.append(f"the runs part at event {parting['place']}: in A {one}; in B {other}")
    return [*shown, *checks(document["checks"])]


def draw(document: Mapping[str, Any], figure: Any) -> None:
    """A bar for each part of the round trip that differs, B less A, the longest above."""
    from ..results.plots import INK, PALETTE

    rows = sorted(((name, b - a) for name, a, b in document["results"]["parts"]
                   if abs(b - a) > SHOWN), key=lambda row: abs(row[1]))
    total = document["results"]["total"]
    axes = figure.add_subplot()
    rows = [("a round trip", total[1] - total[0]), *rows[-20:]]
    axes.barh(range(len(rows)), [value for _, value in rows], 0.62,
              color=[INK, *(PALETTE[1] if value > 0 else PALETTE[2] for _, value in rows[1:])])
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.grid(axis="y", visible=False)
    axes.axvline(0, color=INK, lw=0.8)
    axes.set_xlabel("cycles, B less A")
    axes.set_title(f"Why {document['sides'][1]} is not {document['sides'][0]}")


def _row(row: Sequence[Any]) -> tuple[str, str, str, str]:
    name, one, other = row
    return name, amount(one), amount(other), _more(one, other)


def _more(one: float | None, other: float | None) -> str:
    if one is None or other is None:
        return "-"
    more = other - one
    return "0" if abs(more) <= SHOWN else f"{'+' if more > 0 else ''}{amount(more)}"


def _share(one: float | None, other: float | None) -> str:
    return percent(other / one - 1) if one and other is not None else "-"


def _arrow(name: str, bound: Sequence[str]) -> str:
    marks = "".join(side for side, block in zip("AB", bound, strict=True)
                    if name.startswith(f"{block},"))
    return f"→ {name} (bounds g of {' and '.join(marks)})" if marks else f"  {name}"


def _bound(bound: Sequence[str]) -> str:
    one, other = bound
    return (f"g is bound by the {one} in both" if one == other
            else f"g is bound by the {one} in A and by the {other} in B")
