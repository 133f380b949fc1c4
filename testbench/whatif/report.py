"""Tables and plot of the effects of changes."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..results.tables import amount, checks, table
from ..wording import counted
from .changes import FREE
from .probe import BANDWIDTH, FIGURES

__all__ = ["draw", "lines"]

BARS = 16
"""Knobs in the plot; the tables have all."""
MARK = "!"
_COLUMNS = (*FIGURES, BANDWIDTH)
_SMALL = 0.005


def lines(document: Mapping[str, Any]) -> list[Any]:
    """The figures as they are, elasticities, changes beside predictions; what has no effect, what
    is refused, what failed."""
    found = document["results"]
    base = found["base"]
    shown: list[Any] = [
        table(f"As it is: {document['layer']}, in cycles; bandwidth of messages of "
              f"{document['bandwidth_bytes']} bytes in bytes a cycle",
              ["", *_COLUMNS], [["", *(amount(base.get(name), 2 if name in FIGURES else 4)
                                       for name in _COLUMNS)]]),
        f"g is bound by: {base['bound']}"]
    if found["elasticities"]:
        shown += [
            table("Elasticities: per cent by which a figure grows where the knob grows by 1 %",
                  ["knob", "is", *_COLUMNS],
                  [[row["knob"], _value(row["value"]), *(_slope(row["figures"].get(name))
                                                          for name in _COLUMNS)]
                   for row in found["elasticities"]]),
            table("Changes: by how much the figures grow (cycles; bytes a cycle)",
                  ["knob", "becomes", *_COLUMNS, "RTT predicted", "surprise"],
                  [_row(effect) for effect in found["effects"]], left=1)]
        shown[-1].columns[-1].justify = "left"
        count = sum(bool(effect["surprises"]) for effect in found["effects"])
        all_of = counted(len(found["effects"]), "change")
        shown.append(f"{MARK} {count} of {all_of} "
                     + ("does other than predicted, or moves the bound of g" if count == 1 else
                        "do other than predicted, or move the bound of g") if count else
                     "no change does other than predicted, or moves the bound of g")
    if found["without"]:
        shown.append("no effect on any event: " + ", ".join(found["without"]))
    shown += [f"left out: {one['knob']} {one['how']}: {one['line']}" for one in document["refused"]]
    shown += [f"failed: {one['knob']} {one['how']}: {one['line']}" for one in document["failed"]]
    return [*shown, *checks(document["checks"])]


def draw(document: Mapping[str, Any], figure: Any) -> None:
    """A tornado: for each figure, its relative change with each knob halved and doubled."""
    from ..results.plots import INK, PALETTE

    found = document["results"]
    names = [row["knob"] for row in found["elasticities"][:BARS]][::-1]
    several = figure.subplots(1, len(_COLUMNS), sharey=True)
    for axes, name in zip(several, _COLUMNS, strict=True):
        base = found["base"].get(name)
        for how, colour in (("halved", PALETTE[0]), ("doubled", PALETTE[1])):
            at = {effect["knob"]: effect["grown"].get(name) for effect in found["effects"]
                  if effect["how"] == how}
            bars = [100 * (at.get(knob) or 0) / base if base else 0 for knob in names]
            axes.barh(range(len(names)), bars, 0.62, color=colour, alpha=0.85, label=how)
        axes.axvline(0, color=INK, lw=0.8)
        axes.grid(axis="y", visible=False)
        axes.set_title(name)
        axes.set_xlabel("%")
    several[0].set_yticks(range(len(names)), names)
    several[0].legend(*several[0].get_legend_handles_labels(), loc="lower left",
                      bbox_to_anchor=(-1.3, -0.17), ncols=2)


def _row(effect: Mapping[str, Any]) -> Sequence[str]:
    how = f"{_value(effect['after'])}" + (f" ({FREE})" if effect["how"] == FREE else "")
    surprises = effect["surprises"]
    return [effect["knob"], how,
            *(_grown(effect["grown"].get(name), 2 if name in FIGURES else 4) for name in _COLUMNS),
            _grown(effect["predicted"].get("RTT")),
            f"{MARK} {', '.join(surprises)}" if surprises else ""]


def _grown(value: float | None, digits: int = 2) -> str:
    if value is None:
        return "-"
    said = amount(value, digits)
    return said if said == "0" or value < 0 else f"+{said}"


def _slope(value: float | None) -> str:
    if value is None:
        return "-"
    return "0" if abs(value) < _SMALL else f"{value:+.2f}"


def _value(value: Any) -> str:
    return amount(value, 4)
