"""The table of a study: its columns with units, as CSV, Parquet and data frame."""

import csv
import importlib
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import UserError
from ..testbed.frames import frame
from ..testbed.result import Plot

__all__ = ["ERROR", "Column", "Table", "of_document"]

_OF_PATH = re.compile(r"[./].*?([^/]+)\.py(?::\w+)?\.(.+)")

ERROR = "error"
"""The column with the line of a point that failed."""


@dataclass(frozen=True)
class Column:
    """A column: a knob that was set, a metric that was measured, or a mark: a yes or no."""

    name: str
    kind: Literal["knob", "metric", "mark"]
    unit: str = ""

    @property
    def title(self) -> str:
        """Name and unit."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    @property
    def heading(self) -> str:
        """The name in two lines: of what it is, a knob's section or a benchmark, and what. Of a
        benchmark's path there is the file alone."""
        of_path = _OF_PATH.match(self.name)
        return "\n".join(of_path.groups() if of_path else self.name.split(".", 1))


@dataclass(frozen=True)
class Table:
    """One row for each point: its knobs, its metrics (None where the run did not show one), and
    the line of its failure. ``document`` is the content of the result file."""

    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Any], ...]
    document: Mapping[str, Any]

    @property
    def knobs(self) -> list[Column]:
        """The knobs."""
        return [one for one in self.columns if one.kind == "knob"]

    @property
    def metrics(self) -> list[Column]:
        """The metrics."""
        return [one for one in self.columns if one.kind == "metric"]

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        return [*(one.name for one in self.columns), ERROR]

    def metric(self, name: str) -> Column:
        """The metric called ``name``.

        Raises
        ------
        UserError
            There is none.
        """
        from ..errors import nearest

        for one in self.metrics:
            if one.name == name:
                return one
        raise UserError(f"the table has no metric {name}"
                        f"{nearest(name, [one.name for one in self.metrics])}")

    def frame(self) -> Any:
        """The table as a ``pandas.DataFrame``; its ``attrs`` have the units."""
        made = frame(self.names, ([row.get(name) for name in self.names] for row in self.rows))
        made.attrs["units"] = {one.name: one.unit for one in self.columns}
        return made

    def plot(self) -> Plot:
        """The plot that suits the number of knobs that vary.

        Raises
        ------
        UserError
            Nothing varies, or no point has a figure.
        """
        from ..results.plots import render
        from .plots import drawing

        draw = drawing(self)
        if draw is None:
            raise UserError("there is nothing to draw: no knob varies, or no point has a figure")
        return Plot(render(draw, self.document))

    def csv(self) -> bytes:
        """The table as CSV; a missing value is empty. The units are in the result file."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.names)
        for row in self.rows:
            writer.writerow(["" if (value := row.get(name)) is None else value
                             for name in self.names])
        return out.getvalue().encode()

    def parquet(self) -> bytes:
        """The table as Parquet; each column's metadata has its unit.

        Arrow reads the table as CSV: it would import pandas to take lists of Python.

        Raises
        ------
        UserError
            pyarrow is not installed.
        """
        try:
            arrow: Any = importlib.import_module("pyarrow")
            texts: Any = importlib.import_module("pyarrow.csv")
            written: Any = importlib.import_module("pyarrow.parquet")
        except ImportError:
            raise UserError("Parquet needs pyarrow: pip install pyarrow, or nicbed[lab]",
                            status=1) from None
        units = {one.name: {"unit": one.unit, "kind": one.kind} for one in self.columns}
        types = {name: arrow.type_for_alias(_type([row.get(name) for row in self.rows]))
                 for name in self.names}
        read = texts.read_csv(
            io.BytesIO(self.csv()), parse_options=texts.ParseOptions(newlines_in_values=True),
            convert_options=texts.ConvertOptions(column_types=types, null_values=[""],
                                                 strings_can_be_null=True))
        schema = arrow.schema(
            [arrow.field(name, types[name], metadata=units.get(name)) for name in self.names],
            metadata={"nicbed": json.dumps({name: self.document[name] for name in (
                "config_hash", "study", "versions")})})
        out = io.BytesIO()
        written.write_table(arrow.Table.from_arrays(read.columns, schema=schema), out)
        return out.getvalue()

    def _repr_html_(self) -> str:
        return self.frame().to_html(index=False)


def _type(values: Sequence[Any]) -> str:
    """Arrow's name of the type of a column: of numbers of one kind, or else of texts."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return "bool"
    if kinds == {int}:
        return "int64"
    if kinds and kinds <= {int, float}:
        return "float64"
    return "string" if kinds else "null"


def of_document(document: Mapping[str, Any]) -> Table:
    """The table in a study's result file."""
    return Table(tuple(Column(**one) for one in document["columns"]), tuple(document["rows"]),
                 document)
