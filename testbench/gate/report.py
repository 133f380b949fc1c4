"""Shows what moved as tables, as JUnit XML and as Markdown."""

from collections.abc import Iterable, Sequence
from typing import Any

from ..results.tables import amount, percent, table
from ..wording import counted
from .checking import Finding, Row
from .file import Value

__all__ = ["junit", "lines", "markdown", "said", "summary", "text"]

DIGITS = 6
"""Those of a result file."""
NAMED = 4
"""Parts that one line names."""
PARTS = "a round trip in parts"
AREA = "area by block"


def said(value: Any) -> str:
    """A value to its last digit; "-" if there is none."""
    return amount(value, DIGITS) if isinstance(value, (int, float)) and not isinstance(
        value, bool) else "-" if value is None else str(value)


def summary(findings: Sequence[Finding]) -> str:
    """Tells how much moved, in one line."""
    rows = [row for one in findings for row in one.rows]
    moved = sum(not row.holds for row in rows)
    wrong = [one for one in findings if not one.holds]
    if not wrong:
        names = ", ".join(one.name for one in findings)
        return (f"{counted(len(rows), 'figure')} of {names} "
                f"{'is as it was' if len(rows) == 1 else 'are as they were'} accepted")
    parts = sorted((row for one in wrong for row in one.parts),
                   key=lambda row: -abs(row[2] - row[1]))
    named = list(dict.fromkeys(f"{name} {_more(one, other)}" for name, one, other in parts))
    more = f" and {counted(len(named) - NAMED, 'part')} more" if len(named) > NAMED else ""
    cells = sorted((row for one in wrong for row in one.area),
                   key=lambda row: -abs(row[2] - row[1]))
    area = "; ".join(f"{name} {_more(one, other)}" for name, one, other in cells[:NAMED])
    return (f"{moved} of {counted(len(rows), 'figure')} "
            f"{'is not as it was' if moved == 1 else 'are not as they were'} accepted, in "
            f"{', '.join(one.name for one in wrong)}"
            + (f"; moved most: {'; '.join(named[:NAMED])}{more}" if named else "")
            + (f"; area: {area}" if area else ""))


def lines(finding: Finding) -> list[Any]:
    """The tables of a finding, for a console of rich."""
    if finding.holds:
        return [f"{finding.name}: {counted(len(finding.rows), 'figure')} as accepted"]
    shown: list[Any] = [f"{finding.name}:", *_knobs(finding)]
    if finding.moved:
        shown.append(table("What moved", ["benchmark", "figure", "accepted", "now", "more", ""],
                           [_row(row) for row in finding.moved], left=2))
    for title, rows in _reasons(finding):
        shown.append(table(title, ["", "accepted", "now", "more"], rows))
    return [*shown, *_remarks(finding)]


def markdown(findings: Sequence[Finding], title: str) -> str:
    """A summary for code review."""
    made = [f"## {title}", "", f"{summary(findings)}.", ""]
    for finding in findings:
        mark = "as accepted" if finding.holds else "**moved**"
        made += [f"### {finding.name}: {mark}", ""]
        if finding.holds:
            continue
        made += [f"- {line}" for line in (*_knobs(finding), *_remarks(finding))]
        made += [""] if made[-1] else []
        if finding.moved:
            made += _table(["benchmark", "figure", "accepted", "now", "more", ""],
                           map(_row, finding.moved))
        for name, rows in _reasons(finding):
            made += [f"{name}:", "", *_table(["", "accepted", "now", "more"], rows)]
    return "\n".join(made).rstrip() + "\n"


def junit(findings: Sequence[Finding], title: str) -> bytes:
    """A test case for each figure, and one for the round trip and for the area of each entry that
    has one."""
    from xml.etree import ElementTree

    root = ElementTree.Element("testsuites", name=title)
    for finding in findings:
        failed = len(finding.moved)
        suite = ElementTree.SubElement(root, "testsuite", name=finding.name)
        for row in finding.rows:
            case = ElementTree.SubElement(suite, "testcase", classname=f"{title}.{finding.name}",
                                          name=f"{row.bench}: {row.figure}")
            if not row.holds:
                ElementTree.SubElement(case, "failure", message=_line(row))
        tests = len(finding.rows)
        if finding.measured_area:
            tests += 1
            case = ElementTree.SubElement(suite, "testcase", classname=f"{title}.{finding.name}",
                                          name=AREA)
            if finding.area:
                failed += 1
                ElementTree.SubElement(case, "failure", message="blocks moved").text = "\n".join(
                    f"{name}: {one} → {other}" for name, one, other in finding.area)
        if finding.trip is not None or finding.unknown:
            tests += 1
            case = ElementTree.SubElement(suite, "testcase", classname=f"{title}.{finding.name}",
                                          name=PARTS)
            if finding.parts or finding.blocks or finding.unknown:
                failed += 1
                ElementTree.SubElement(case, "failure", message=finding.unknown or
                                       "parts moved").text = text(finding)
        suite.set("tests", str(tests))
        suite.set("failures", str(failed))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def text(finding: Finding) -> str:
    """A finding as plain lines."""
    rows = [*map(_line, finding.moved), *_knobs(finding), *_remarks(finding)]
    for title, found in _reasons(finding):
        rows += [f"{title}:", *(f"  {name}: {one} → {other} ({more})"
                                for name, one, other, more in found)]
    return "\n".join(rows)


def _line(row: Row) -> str:
    bench, figure, one, other, more, _ = _row(row)
    if row.accepted is None:
        return f"{bench}: {figure} = {other}: no value was accepted yet"
    return f"{bench}: {figure}: {one} → {other} ({more})"


def _row(row: Row) -> tuple[str, str, str, str, str, str]:
    share = None if row.more is None or not row.accepted else row.more / float(row.accepted)
    return (row.bench, row.figure, said(row.accepted), said(row.now), _more(row.accepted, row.now),
            "" if share is None else percent(share))


def _reasons(finding: Finding) -> list[tuple[str, list[tuple[str, str, str, str]]]]:
    """The parts and the blocks that moved, each with a title."""
    found = []
    if finding.parts and finding.trip:
        rows = [*finding.parts, ("a round trip", *finding.trip)]
        found.append(("Where a round trip of the smallest message moved (cycles)", rows))
    if finding.blocks:
        found.append(("Cycles in which a block is busy for a message, in steady state",
                      list(finding.blocks)))
    if finding.area:
        found.append(("Cells of the NIC's blocks, each with what is inside", list(finding.area)))
    return [(title, [(name, said(one), said(other), _more(one, other))
                     for name, one, other in rows]) for title, rows in found]


def _knobs(finding: Finding) -> list[str]:
    return [f"description: {name} was {said(one)}, is {said(other)}"
            for name, one, other in finding.knobs]


def _remarks(finding: Finding) -> list[str]:
    found = [finding.unknown] if finding.unknown else []
    if finding.bound:
        one, other = finding.bound
        found.append(f"g is bound by the {one}" + ("" if one == other else f" no more: by the "
                                                   f"{other}"))
        if not finding.parts and not finding.blocks and finding.moved:
            found.append("no part of the round trip of the smallest message moved")
    return found


def _more(one: Value | None, other: Value | None) -> str:
    if not isinstance(one, (int, float)) or not isinstance(other, (int, float)):
        return "-"
    return ("+" if other > one else "") + amount(other - one, DIGITS)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return [line(columns), line(["---", *["---:"] * (len(columns) - 1)]), *map(line, rows), ""]
