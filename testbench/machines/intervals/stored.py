"""Results that come with nicbed: intervals of its studies, measured once.

A file of ``studies/intervals/`` is what ``nicbed reproduce STUDY/TABLE --intervals`` wrote. Its key
``of`` is a hash of the figures and descriptions on which it was measured, so it is known when it
has to be measured again.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...descriptions import load
from ...descriptions.typical import typical
from ...simulators.cache import key
from ..studies import Study, Table
from .result import Interval

__all__ = ["FOLDER", "Stored", "identity", "named", "rows", "stored"]

FOLDER = Path(__file__).resolve().parents[1] / "studies" / "intervals"
Stored = Mapping[str, Any]


def named(table: Table) -> str:
    """The name of a table's file, without suffix."""
    return f"{table.study}-{table.name}"


def stored(tables: Sequence[tuple[Study, Sequence[Table]]]) -> list[Stored]:
    """The documents that are there, of ``tables`` in order."""
    files = [FOLDER / f"{named(table)}.json" for _, several in tables for table in several]
    return [json.loads(file.read_text(encoding="utf-8")) for file in files if file.is_file()]


def rows(document: Stored) -> list[Interval]:
    """The intervals of a document."""
    return [Interval.read(row) for row in document["intervals"]]


def identity(tables: Sequence[Table]) -> str:
    """A hash of what intervals of ``tables`` depend on, but for nicbed's own sources."""
    parts: list[Any] = []
    nics = set()
    for table in tables:
        for one in table.figures:
            parts.append([table.path, one.machine, one.name, one.low, one.high, one.rounding,
                          one.use, one.needs])
            if not one.needs:
                nic = table.description(one.machine)
                nics |= {nic, typical(nic).head or nic}
    for nic in sorted(nics):
        parts.append(tomllib.loads(load.find(nic).read_text(encoding="utf-8")))
    return key([json.dumps(parts, sort_keys=True)])
