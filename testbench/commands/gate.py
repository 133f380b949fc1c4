"""``nicbed gate``: figures that were accepted, and a check that they are still the same."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..errors import UserError
from ..gate import file as gates
from ..gate.checking import Finding, check
from ..gate.measuring import Measured, measured
from ..gate.record import Kept, keep, recall
from ..gate.report import junit, lines, markdown, summary
from ..results import document as files
from ..results.tables import console
from ..testbed.options import Options
from .output import Terminal, finish

__all__ = ["run_accept", "run_check", "run_init"]

FIRST = "first values"


def run_init(path: Path, *, nic: str, benches: str, overrides: Sequence[str], nodes: int | None,
             layer: str | None) -> None:
    """Write a first gate file, with the values of now."""
    named = tuple(filter(None, (one.strip() for one in benches.split(","))))
    if not named:
        raise UserError("--bench needs benchmarks, such as logp,rtt")
    place = Path(nic)
    beside = os.path.relpath(place, path.parent) if place.is_file() else nic
    files.check_folder(path.parent)
    entry = gates.Entry(place.stem, beside, named,
                        tuple(overrides), nodes, layer)
    if path.exists():
        raise UserError(f"{path}: is there; add tables [[gate]] to it, and accept")
    gate = gates.Gate(path, (entry,))
    now = measured(gate, Options(listener=Terminal()))
    gates.first(path, entry)
    _taken(gate, now, FIRST)
    _finished(gates.read(path), now)


def run_check(path: Path, *, junit_to: Path | None, markdown_to: Path | None, fresh: bool) -> None:
    """Measure everything, print what moved, and fail if something did."""
    gate = gates.read(path)
    for report in (junit_to, markdown_to):
        if report is not None:
            files.check_folder(report.parent)
    kept = recall(path)
    now = measured(gate, Options(fresh=fresh, listener=Terminal()))
    findings = _finished(gate, now, kept)
    title = f"nicbed gate {path.name}"
    if junit_to is not None:
        files.save(junit_to, junit(findings, title))
    if markdown_to is not None:
        files.save(markdown_to, markdown(findings, title).encode())
    if not all(one.holds for one in findings):
        raise UserError(f"{path}: {summary(findings)}", status=1)


def run_accept(path: Path, reason: str) -> None:
    """Take the values of now."""
    gates.one_line(reason)
    gate = gates.read(path)
    files.check_folder(path.parent)
    now = measured(gate, Options(listener=Terminal()))
    before = recall(path)
    _taken(gate, now, reason)
    _finished(gate, now, before)


def _taken(gate: gates.Gate, now: Mapping[str, Measured], reason: str) -> None:
    """Write the values."""
    keep(gate.path, {name: one.kept for name, one in now.items()})
    gates.accept(gate, {name: one.values for name, one in now.items()}, reason)


def _finished(gate: gates.Gate, now: Mapping[str, Measured],
              kept: Mapping[str, Kept] | None = None) -> list[Finding]:
    """Print what is not as ``gate`` and what was ``kept`` beside it say; by default as the file
    says now."""
    kept = recall(gate.path) if kept is None else kept
    findings = [check(entry, kept.get(entry.name), now[entry.name]) for entry in gate.entries]
    found = {"gate": str(gate.path), "holds": all(one.holds for one in findings),
             "gates": [one.plain() for one in findings]}
    finish(json.dumps(found, indent=1, ensure_ascii=False), lambda: _show(findings), gate.path)
    return findings


def _show(findings: Sequence[Finding]) -> None:
    out = console(pipe=120)
    for finding in findings:
        for item in lines(finding):
            out.print(item)
