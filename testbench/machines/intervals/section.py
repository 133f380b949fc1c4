"""The part of docs/explanation/reproduction.md about intervals, from the stored results."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..studies import Study, Table
from .result import Interval
from .stored import Stored, rows

__all__ = ["HEADLINE", "IMAGE", "cells", "lines", "replaced", "told"]

HEADLINE = "## Intervals say how sure a figure is"
IMAGE = "intervals"
MOST_SHARES = 3
LEAST_SHARE = 0.05
INTRODUCTION = """\
A description has *typical* values, which nobody measured. Each has a range with its reason, in the
table `[typical]` of the description's file: what documents of such machines allow. `nicbed
reproduce STUDY --intervals` runs the study at points of a Latin hypercube over the ranges. At each
point the fitted knobs are chosen again, by at most four linear steps. A point that then misses a
fit figure by more than its rounding, or by more than 1 % if that is more, loses weight, and soon
all of it: the others are *kept*. *5 to 95 %* is the interval of the kept points by weight. *Half*
is that of the first half of the points, so the difference shows how far the interval has converged.
*Inside* says whether the published value, as it was rounded, is in the interval. *Typical values*
are those that make the interval wide, with their shares of the variance (a regression of ranks);
the rest is what values do together, what is not monotonic, and chance. *Ours* comes from shorter
runs than in the tables below, as the points do. No typical value explains a published value outside
its interval: there the *model* lacks something. An interval of fewer than ten kept points is a
first look. Tables that are not here have no intervals yet."""


def lines(documents: Sequence[Stored], studies: Mapping[str, Study], place: str) -> list[str]:
    """The section's lines; its picture is in the folder ``place``. Nothing without documents."""
    if not documents:
        return []
    every = [one for document in documents for one in rows(document)]
    known = [one for one in every if one.inside is not None]
    inside = sum(bool(one.inside) for one in known)
    found = [HEADLINE, "", *INTRODUCTION.splitlines(), "",
             f"{inside} of {len(known)} published test figures are inside.", "",
             "![Intervals of the test figures, in units of the published ones]"
             f"({place}{IMAGE}.png)"]
    for document in documents:
        found += ["", f"### Intervals of {', '.join(document['tables'])}", "",
                  f"`{document['command']}`", "",
                  "| machine | figure | unit | published | ours | 5 to 95 % | half | inside | "
                  "kept | typical values |",
                  "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
        found += ["| " + " | ".join(cells(one)) + " |" for one in rows(document)]
        outside = [told(one, studies) for one in rows(document) if one.inside is False]
        if outside:
            found += ["", *(f"- {line}" for line in outside)]
        for name, family in document["families"].items():
            found += ["", f"Typical values of {name}:", "", "| knob | unit | range | why |",
                      "| --- | --- | --- | --- |"]
            found += [f"| {knob} | {one['unit']} | {one['range']} | {one['why']} |"
                      for knob, one in family["ranges"].items()]
    return found


def cells(one: Interval) -> tuple[str, ...]:
    """A row of the table of intervals."""
    published = " to ".join(dict.fromkeys(f"{end:g}" for end in one.published))
    return (one.machine, one.title, one.unit, published,
            "–" if one.ours is None else f"{one.ours:.4g}",
            _ends(one.ends), _ends(one.half),
            {True: "yes", False: "no", None: "too few points"}[one.inside],
            f"{one.kept} of {one.points}", _shares(one))


def told(one: Interval, studies: Mapping[str, Study]) -> str:
    """One line of a figure outside its interval: that, and what the model lacks."""
    assert one.ends is not None
    side = "below" if one.published[1] < one.ends[0] else "above"
    lacks = _lacks(one, studies)
    return (f"{one.machine}, {one.title}: {_published(one)} is {side} {_ends(one.ends)} "
            f"{one.unit}, so no typical value in its range explains it: the model lacks something"
            f"{f'; a proposal, not tried: {lacks}' if lacks else ''}.")


def _lacks(one: Interval, studies: Mapping[str, Study]) -> str:
    study, _, name = one.table.partition("/")
    tables: list[Table] = [table for table in studies[study].tables if table.name == name
                           ] if study in studies else []
    figures: list[Any] = [table.figure(one.machine, one.name) for table in tables]
    return next((figure.lacks for figure in figures if figure is not None), "")


def _published(one: Interval) -> str:
    return " to ".join(dict.fromkeys(f"{end:g}" for end in one.published))


def _ends(ends: tuple[float, float] | None) -> str:
    return "–" if ends is None else f"{ends[0]:.3g} to {ends[1]:.3g}"


def _shares(one: Interval) -> str:
    if one.shares is None:
        return "–"
    large = sorted(((name, part) for name, part in one.shares.items() if part >= LEAST_SHARE),
                   key=lambda pair: -pair[1])
    shown = [f"{name} {part:.0%}" for name, part in large[:MOST_SHARES]]
    rest = 1 - sum(part for _, part in large[:MOST_SHARES])
    return ", ".join([*shown, f"others and rest {rest:.0%}"])


def replaced(page: str, section: Sequence[str]) -> str:
    """``page`` with ``section`` in place of the one that it has, or before its third headline."""
    begin = page.find(HEADLINE)
    if begin < 0:
        begin = page.index("\n## ", page.index("\n## ") + 1) + 1
        end = begin
    else:
        end = page.index("\n## ", begin) + 1
    return page[:begin] + "".join(f"{line}\n" for line in [*section, ""] if section) + page[end:]
