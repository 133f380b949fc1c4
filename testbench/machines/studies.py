"""The tables of published studies, from files.

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

A quantity may be of one's own, by benchmark and field of its results, which is in the result file
at this path::

    [quantities."o_s of rpc"]
    bench = "logp"                    # a name, or a path from the file's folder: "./my_bench.py"
    field = "o_s"                     # a number; within a table "words.1.rtt"
    unit = "µs"                       # µs and s: the field is in cycles; MB/s: in bytes a cycle
    layer = "rpc"                     # am, if it is left out
    parameters = { delays = ["0"] }   # in place of the usual ones
    knobs = { "cpu.call" = 8 }        # in place of the description's
    title = "o_s of a call"           # the name, if it is left out

Or a program in a layout (``nicbed app --layout``), over Active Messages II, at sizes that run; see
:mod:`.sized`::

    [quantities."FFT, NOW-8"]
    app = "fft"
    layout = "now-8"
    runs = [{ points = 32 }, { points = 64 }]
    full = { points = 256 }           # the study's, of which the messages are counted
    field = "time"                    # in s, which is the default; or a count: off, within, local

A study of one's own is a file anywhere. Machines whose names are paths are relative to its folder.

The digits of a published value say how it was rounded: 2 to 0.5, 2.0 to 0.05. ``lacks`` of a
figure is the mechanism that the machine's model lacks, which ``nicbed reproduce --intervals`` tells
where no typical value explains the figure.

``use`` is "test" unless it says "fit" (a description may be fitted to the figure) or "dependent"
(it follows from others, and does not count). ``needs`` of a machine is that of all its figures, and
a figure that needs something may have any name.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...layouts.doors import Door
from ..errors import UserError, nearest
from .field_quantities import own_quantities
from .quantities import QUANTITIES, Quantity, quantity

__all__ = ["STUDIES", "Figure", "Study", "Table", "chosen", "names", "read", "read_file",
           "reference", "study"]

_PATH = re.compile(r"(.*\.(?:toml|py)(?::\w+)?)(?:/([^/]*))?")
_KEYS = {"name", "title", "source", "remarks", "quantities"}
_TABLE_KEYS = {"title", "plots", "traced", "long", "differences", "predictions"}
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
    words: str = ""
    """The quantity in words, if it is one of the study's own."""
    rounding: float = 0.0
    """Half a unit of its last published digit, of the end with the finest one."""
    lacks: str = ""
    """Of the machine, which the model lacks; a mechanism by which the figure could come out."""

    @property
    def title(self) -> str:
        """The quantity in words."""
        return self.words or (QUANTITIES[self.name].title if self.name in QUANTITIES else
                              self.name)

    @property
    def middle(self) -> float:
        """The published figure, of a range the middle."""
        return (self.low + self.high) / 2

    @property
    def published(self) -> str:
        """The published figure as text."""
        low, high = (f"{one:,.0f}" if one >= 10000 else f"{one:g}"
                     for one in (self.low, self.high))
        return low if low == high else f"{low} to {high}"


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
    folder: Path | None = None
    """To which the paths of machines are relative; None: the current one."""
    quantities: Mapping[str, Quantity] = field(default_factory=dict)
    """The study's own."""

    def quantity(self, name: str) -> Quantity:
        """The quantity called ``name``, the study's own or one of all."""
        return self.quantities[name] if name in self.quantities else quantity(name, self.path)

    def description(self, machine: str) -> str:
        """The name of the description of ``machine``, or its path."""
        is_path = "/" in machine or machine.endswith(".toml")
        return str(self.folder / machine) if self.folder and is_path else machine

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


STUDIES: Door[Study] = Door("study", "nicbed.studies", [
    "assessment = nicbed.testbench.machines.published:ASSESSMENT",
    "clumps = nicbed.testbench.machines.published:CLUMPS",
    "sp2 = nicbed.testbench.machines.published:SP2",
    "ulnp = nicbed.testbench.machines.published:ULNP",
], Study, {".toml": "nicbed.testbench.machines.studies:read_file"}, home=__name__)


def names() -> list[str]:
    """Names of the studies that are built in."""
    return list(STUDIES.builtin)


def study(name: str) -> Study:
    """The study called ``name``, or at that path.

    Raises
    ------
    UserError
        There is none.
    """
    return STUDIES.get(name)


def read_file(file: Path) -> Study:
    """The study in ``file``.

    Raises
    ------
    UserError
        It is not there, or no study.
    """
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{file.name}: not TOML: {error}") from None
    return read(found.get("name", file.stem), found, file.parent)


def read(name: str, found: dict[str, Any], folder: Path | None = None) -> Study:
    """The study ``name`` from its file's content. ``folder``: that of its file.

    Raises
    ------
    UserError
        The content is no study.
    """
    for key in ("title", "source"):
        if not isinstance(found.get(key), str):
            raise UserError(f"{name}: {key}: must be a text")
    remarks = found.get("remarks", [])
    if not isinstance(remarks, list) or not all(isinstance(one, str) for one in remarks):
        raise UserError(f"{name}: remarks: must be a list of texts")
    for key, one in found.items():
        if key not in _KEYS and not isinstance(one, dict):
            raise UserError(f"{name}: {key}: must be a table of figures, or one of "
                            f"{', '.join(sorted(_KEYS))}{nearest(key, sorted(_KEYS))}")
    own = own_quantities(found.get("quantities", {}), f"{name}/quantities", folder)
    tables = [_table(name, key, one, folder, own) for key, one in found.items()
              if key not in _KEYS]
    return Study(name, found["title"], found["source"], tuple(tables), tuple(remarks))


def chosen(wanted: str | None, *, long: bool = False) -> list[tuple[Study, list[Table]]]:
    """The tables of ``wanted``: STUDY, STUDY/TABLE, where STUDY is a name or the path of a file, or
    None for all studies that are built in. Tables that take long only by name, or if ``long`` ones
    are asked for.

    Raises
    ------
    UserError
        There is no such study or table.
    """
    if wanted is None:
        return [(study(name), _tables(study(name), long)) for name in names()]
    table: str | None
    if path := _PATH.fullmatch(wanted):
        name, table = path[1], path[2]
    else:
        name, slash, rest = wanted.partition("/")
        table = rest if slash else None
    found = study(name)
    if table is None:
        return [(found, _tables(found, long))]
    tables = {one.name: one for one in found.tables}
    if table not in tables:
        raise UserError(f"{found.name} has no table called {table}{nearest(table, list(tables))}")
    return [(found, [tables[table]])]


def _tables(found: Study, long: bool) -> list[Table]:
    return [table for table in found.tables if long or not table.long]


def reference(text: str, where: str) -> tuple[Quantity, Figure]:
    """The figure STUDY/TABLE/MACHINE/NAME that a description is to be fitted to, and its quantity.

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
    return table.quantity(figure.name), figure


def _table(study_name: str, key: str, found: dict[str, Any], folder: Path | None,
           own: Mapping[str, Quantity]) -> Table:
    where = f"{study_name}/{key}"
    if not isinstance(found.get("title"), str):
        raise UserError(f"{where}: title: must be a text")
    figures = []
    for machine, rows in found.items():
        if machine in _TABLE_KEYS:
            continue
        if not isinstance(rows, dict):
            raise UserError(f"{where}: {machine}: must be a machine's table of figures, or one of "
                            f"{', '.join(sorted(_TABLE_KEYS))}")
        needs = rows.get("needs", "")
        for name, row in rows.items():
            if name != "needs":
                figures.append(_figure(f"{where}/{machine}/{name}", machine, name, row, needs,
                                       own))
    pairs = []
    for pair in found.get("differences", []):
        if len(pair) != 2 or not all(isinstance(text, str) and " " in text for text in pair):
            raise UserError(f"{where}: differences: {pair!r}: must be two texts MACHINE FIGURE")
        one, other = (tuple(text.split(" ", 1)) for text in pair)
        pairs.append((one, other))
    predictions = tuple((machine, name if name in own else
                         quantity(name, f"{where}/predictions/{machine}").name)
                        for machine, several in found.get("predictions", {}).items()
                        for name in several)
    made = Table(study_name, key, found["title"], tuple(figures), tuple(pairs), predictions,
                 tuple(found.get("plots", ())), found.get("traced", False),
                 found.get("long", False), folder, own)
    for pair in made.differences:
        for machine, name in pair:
            if made.figure(machine, name) is None:
                raise UserError(f"{where}: differences: there is no figure {machine} {name}")
    return made


def _figure(where: str, machine: str, name: str, row: Any, needs: str,
            own: Mapping[str, Quantity]) -> Figure:
    if not isinstance(row, dict):
        raise UserError(f"{where}: must be a table, {{ published = 2.0 }}")
    needs = row.get("needs", needs)
    use = row.get("use", "test")
    unknown = set(row) - {"published", "use", "needs", "unit", "lacks"}
    if unknown:
        raise UserError(f"{where}: {sorted(unknown)[0]} is none of published, use, needs, unit, "
                        "lacks")
    if not isinstance(row.get("lacks", ""), str):
        raise UserError(f"{where}: lacks = {row['lacks']!r}: must be a text")
    if use not in USES:
        raise UserError(f"{where}: use = {use!r}: must be {' or '.join(USES)}")
    published = row.get("published")
    ends: list[Any] = published if isinstance(published, list) else [published, published]
    if len(ends) != 2 or not all(isinstance(one, (int, float)) for one in ends):
        raise UserError(f"{where}: published = {published!r}: must be a number, or a range "
                        "[1.9, 2.1]")
    low, high = (float(one) for one in ends)
    unit = row.get("unit", "")
    if name in own:
        unit = own[name].unit
    elif not needs:
        unit = quantity(name, where).unit
    elif name in QUANTITIES:
        unit = QUANTITIES[name].unit
    return Figure(machine, name, unit, low, high, use, needs,
                  own[name].title if name in own else "", min(map(_rounding, ends)),
                  row.get("lacks", ""))


def _rounding(published: float) -> float:
    """Half a unit of the last digit of a number in a study's file: 2 was published to 0.5, and 2.0
    to 0.05."""
    decimals = 0 if isinstance(published, int) else len(repr(published).partition(".")[2])
    return 0.5 * 10.0 ** -decimals
