"""The tables of published studies, from ``studies/*.toml``.

A file is a study, named after it. It has ``title``, ``source``, ``remarks`` (lines that say what
does not come out, and why), and a table for each published table or figure::

    [logp]
    title = "LogP of small messages"
    plots = ["signatures"]                                    # of plots.DRAWINGS
    traced = true                                             # with round trips in parts
    differences = [["sp2-wide rtt", "sp2-thin rtt"]]          # first less second
    [logp.myrinet-ss20]                                       # a description in nics/
    o_s = { published = 2.0, use = "fit" }                    # a quantity of quantities.py
    o_r = { published = 2.6 }                                 # a test figure
    rtt = { published = [19.9, 20.1], needs = "firmware x" }  # a range; cannot be measured yet
    [logp.predictions]                                        # quantities without published figures
    myrinet-ss20 = ["o_s+o_r"]

``use`` is "test" unless it says "fit" (a description may be fitted to the figure) or "dependent"
(it follows from others, and does not count). ``needs`` of a machine is that of all its figures, and
a figure that needs something may have any name.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import UserError, nearest
from .quantities import QUANTITIES, quantity

__all__ = ["Figure", "Study", "Table", "chosen", "names", "reference", "study"]

_FOLDER = Path(__file__).resolve().parent / "studies"
USES = ("fit", "test", "dependent")


@dataclass(frozen=True)
class Figure:
    """A published figure of a machine. ``low`` and ``high`` are equal, or the ends of a range.
    ``needs``: what is missing to measure it; "" for nothing."""

    machine: str
    name: str
    unit: str
    low: float
    high: float
    use: str
    needs: str

    @property
    def title(self) -> str:
        """The quantity in words."""
        return QUANTITIES[self.name].title if self.name in QUANTITIES else self.name

    @property
    def middle(self) -> float:
        """The published figure, of a range the middle."""
        return (self.low + self.high) / 2

    @property
    def published(self) -> str:
        """The published figure as text."""
        return f"{self.low:g}" if self.low == self.high else f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Table:
    """A published table or figure. ``differences``: pairs of figures (machine, name).
    ``predictions``: (machine, name) of quantities of which nothing was published. ``traced``:
    it shows where its machines' round trips and gaps go. ``long``: it takes many minutes, and is
    measured only if it is named."""

    study: str
    name: str
    title: str
    figures: tuple[Figure, ...]
    differences: tuple[tuple[tuple[str, str], tuple[str, str]], ...] = ()
    predictions: tuple[tuple[str, str], ...] = ()
    plots: tuple[str, ...] = ()
    traced: bool = False
    long: bool = False

    @property
    def machines(self) -> list[str]:
        """The machines that it shows, and that can be measured."""
        return list(dict.fromkeys([*(one.machine for one in self.figures if not one.needs),
                                   *(machine for machine, _ in self.predictions)]))

    @property
    def path(self) -> str:
        """STUDY/TABLE."""
        return f"{self.study}/{self.name}"

    def figure(self, machine: str, name: str) -> Figure | None:
        """The figure ``name`` of ``machine``."""
        return next((one for one in self.figures
                     if (one.machine, one.name) == (machine, name)), None)


@dataclass(frozen=True)
class Study:
    """A published study."""

    name: str
    title: str
    source: str
    tables: tuple[Table, ...]
    remarks: tuple[str, ...] = ()


def names() -> list[str]:
    """Names of the studies."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


@cache
def study(name: str) -> Study:
    """The study called ``name``.

    Raises
    ------
    UserError
        There is none.
    """
    if name not in names():
        raise UserError(f"no study is called {name}{nearest(name, names())}")
    return read(name, tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8")))


def read(name: str, found: dict[str, Any]) -> Study:
    """The study ``name`` from its file's content.

    Raises
    ------
    UserError
        The content is no study.
    """
    tables = [_table(name, key, one) for key, one in found.items() if isinstance(one, dict)]
    return Study(name, found["title"], found["source"], tuple(tables),
                 tuple(found.get("remarks", ())))


def chosen(wanted: str | None, *, long: bool = False) -> list[tuple[Study, list[Table]]]:
    """The tables of ``wanted``: STUDY, STUDY/TABLE, or None for all studies. Tables that take long
    only by name, or if ``long`` ones are asked for.

    Raises
    ------
    UserError
        There is no such study or table.
    """
    if wanted is None:
        return [(study(name), _tables(study(name), long)) for name in names()]
    name, slash, table = wanted.partition("/")
    found = study(name)
    if not slash:
        return [(found, _tables(found, long))]
    tables = {one.name: one for one in found.tables}
    if table not in tables:
        raise UserError(f"{name} has no table called {table}{nearest(table, list(tables))}")
    return [(found, [tables[table]])]


def _tables(found: Study, long: bool) -> list[Table]:
    return [table for table in found.tables if long or not table.long]


def reference(text: str, where: str) -> Figure:
    """The figure STUDY/TABLE/MACHINE/NAME that a description is to be fitted to.

    Raises
    ------
    UserError
        There is none, or it is no figure to fit to.
    """
    parts = text.split("/")
    if len(parts) != 4:
        raise UserError(f"{where}: {text}: must be STUDY/TABLE/MACHINE/QUANTITY")
    [(_, [table])] = chosen("/".join(parts[:2]))
    figure = table.figure(parts[2], parts[3])
    if figure is None:
        there = [f"{one.machine}/{one.name}" for one in table.figures]
        raise UserError(f"{where}: {text}: {table.path} has no such figure"
                        f"{nearest('/'.join(parts[2:]), there)}")
    if figure.use != "fit":
        raise UserError(f"{where}: {text}: is a {figure.use} figure: nothing is fitted to it")
    return figure


def _table(study_name: str, key: str, found: dict[str, Any]) -> Table:
    where = f"{study_name}/{key}"
    figures = []
    for machine, rows in found.items():
        if not isinstance(rows, dict) or machine == "predictions":
            continue
        needs = rows.get("needs", "")
        for name, row in rows.items():
            if name != "needs":
                figures.append(_figure(f"{where}/{machine}/{name}", machine, name, row, needs))
    pairs = []
    for pair in found.get("differences", []):
        one, other = (tuple(text.split(" ", 1)) for text in pair)
        pairs.append((one, other))
    predictions = tuple((machine, quantity(name, f"{where}/predictions/{machine}").name)
                        for machine, several in found.get("predictions", {}).items()
                        for name in several)
    made = Table(study_name, key, found["title"], tuple(figures), tuple(pairs), predictions,
                 tuple(found.get("plots", ())), found.get("traced", False),
                 found.get("long", False))
    for pair in made.differences:
        for machine, name in pair:
            if made.figure(machine, name) is None:
                raise UserError(f"{where}: differences: there is no figure {machine} {name}")
    return made


def _figure(where: str, machine: str, name: str, row: dict[str, Any], needs: str) -> Figure:
    needs = row.get("needs", needs)
    use = row.get("use", "test")
    unknown = set(row) - {"published", "use", "needs", "unit"}
    if unknown:
        raise UserError(f"{where}: {sorted(unknown)[0]} is none of published, use, needs, unit")
    if use not in USES:
        raise UserError(f"{where}: use = {use!r}: must be {' or '.join(USES)}")
    published = row["published"]
    low, high = published if isinstance(published, list) else (published, published)
    unit = row.get("unit", "")
    if not needs:
        unit = quantity(name, where).unit
    elif name in QUANTITIES:
        unit = QUANTITIES[name].unit
    return Figure(machine, name, unit, float(low), float(high), use, needs)
