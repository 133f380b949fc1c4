"""A result: its document, its figures, its tables and its plot."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from ..benches.common.headline import Headline, Series
from ..errors import UserError, nearest
from ..results import document as files
from .frames import frame

__all__ = ["Plot", "Result"]


class Plot:
    """A plot of a result, as PNG and SVG; a notebook shows it."""

    def __init__(self, content: Mapping[str, bytes]) -> None:
        self.png = content[".png"]
        self.svg = content[".svg"]

    def save(self, path: str | Path) -> None:
        """Write the plot to ``path``, whose suffix says the form.

        Raises
        ------
        UserError
            The suffix is another one, or the file cannot be written.
        """
        path = Path(path)
        content = {".png": self.png, ".svg": self.svg}.get(path.suffix)
        if content is None:
            raise UserError(f"{path}: a plot is written as .png or .svg")
        files.save(path, content)

    def _repr_png_(self) -> bytes:
        return self.png


class Result:
    """The result of a measurement.

    Attributes
    ----------
    document
        The document of the result file, as plain data.
    stored
        Whether it is from the store: not measured now.
    """

    def __init__(self, document: dict[str, Any], module: ModuleType, *, stored: bool = False
                 ) -> None:
        self.document = document
        self.stored = stored
        self._module = module

    @property
    def results(self) -> Any:
        """The figures that were measured, with estimates."""
        return self.document["results"]

    @property
    def truth(self) -> dict[str, Any]:
        """The same from the event trace, where the benchmark traces its runs."""
        return self.document["truth"]

    @property
    def points(self) -> Any:
        """The measured points behind the results."""
        return self.document["points"]

    @property
    def checks(self) -> list[dict[str, Any]]:
        """Checks of the run: ``check``, ``ok`` and ``detail`` of each."""
        return self.document["checks"]

    @property
    def figures(self) -> list[Headline]:
        """The figures by which descriptions are compared: name, value (None where the run did not
        show it) and unit."""
        headline = getattr(self._module, "headline", None)
        return list(headline(self.document)) if headline else []

    @property
    def series(self) -> Series | None:
        """The curve by which descriptions are compared, if the benchmark has one."""
        series = getattr(self._module, "series", None)
        return series(self.document) if series else None

    def metric(self, name: str) -> Headline:
        """The figure called ``name``, in whatever case, or the number at that place in the
        document, such as ``truth.g``.

        Raises
        ------
        UserError
            There is none.
        """
        figures = {one.name: one for one in self.figures}
        if name in figures:
            return figures[name]
        alike = [one for one in self.figures if one.name.casefold() == name.casefold()]
        if len(alike) == 1:
            return alike[0]
        found = _at(self.document, name)
        if isinstance(found, (int, float)) and not isinstance(found, bool):
            return Headline(name, found, "")
        raise UserError(f"{self.document['benchmark']} has no figure {name}"
                        f"{nearest(name, list(figures))}")

    def number(self, name: str) -> int | float | None:
        """The number called ``name`` among the results, which the figure of that name may not
        show; None if there is none."""
        found = self.results.get(name)
        return found if isinstance(found, (int, float)) else None

    def frame(self) -> Any:
        """The figures as a ``pandas.DataFrame``: figure, value, unit, and µs where the unit is
        cycles."""
        clock = self.document.get("clock_mhz", 1)  # an area has none, and no cycles
        return frame(["figure", "value", "unit", "µs"],
                     ((one.name, one.value, one.unit, one.value / clock if one.unit == "cycles"
                       and one.value is not None else None) for one in self.figures))

    def curve(self) -> Any:
        """The curve as a ``pandas.DataFrame`` with columns x and y; what they are is in its
        ``attrs``.

        Raises
        ------
        UserError
            The benchmark has no curve.
        """
        series = self.series
        if series is None:
            raise UserError(f"{self.document['benchmark']} has no curve")
        made = frame(["x", "y"], series.points)
        made.attrs.update(x=series.x, y=series.y)
        return made

    @property
    def draw(self) -> Callable[[Mapping[str, Any], Any], None] | None:
        """The function that draws the document on a figure of Matplotlib, if there is a plot."""
        return getattr(self._module, "draw", None)

    def plot(self) -> Plot:
        """The plot that the command line would write beside the result file.

        Raises
        ------
        UserError
            There is no plot of this result.
        """
        draw = self.draw
        if draw is None:
            raise UserError(f"{self.document['benchmark']} has no plot")
        from ..results.plots import render

        return Plot(render(draw, self.document))

    @property
    def text(self) -> str:
        """The bytes of the result file, as text."""
        return files.text(self.document)

    def path(self, folder: Path) -> Path:
        """Tells where the result file lies in ``folder``."""
        return folder / f"{files.stem(self.document)}.json"

    def save(self, folder: str | Path = "results") -> Path:
        """Write the result file into ``folder``; return its path.

        Raises
        ------
        UserError
            The folder cannot be written.
        """
        path = self.path(Path(folder))
        files.save(path, self.text.encode())
        return path

    def tables(self) -> list[Any]:
        """The tables, for a console of rich; where nodes have several NICs, or the layer
        processes, also which were measured."""
        found = self._module.tables(self.document)
        if "processes" in self.document:
            from ..benches.common.processes import in_words

            return [*found, in_words(self.document["processes"])]
        if "nic" not in self.document:
            return found
        return [*found, f"measured on NIC {self.document['nic']} of each node (node.nics = "
                        f"{self.document['config']['node']['nics']}); the others are idle"]

    def remarks(self) -> list[str]:
        """Notes about the description, and what the checks say."""
        from ..results.tables import checks

        return [*self.document["notes"], *checks(self.checks)]

    def lives(self) -> list[Any]:
        """The mean life of messages by stage, as tables, where the benchmark traces single ones;
        else a line that says so."""
        from ..results import tables

        found = self.document.get("breakdown") or {}
        if not found:
            return [f"{self.document['benchmark']} traces no single messages: no breakdown"]
        if self.document["layer"] == "via":
            return [tables.lives(found)]
        return [tables.stages(life, self.document["clock_mhz"], f"Mean life of {title}")
                for title, life in found.items()]

    def _repr_html_(self) -> str:
        import io

        from rich.console import Console

        out = Console(file=io.StringIO(), record=True, width=110, highlight=False)
        for item in (*self.tables(), *self.remarks()):
            out.print(item)
        return out.export_html(
            inline_styles=True, code_format='<pre style="line-height: 1.2">{code}</pre>')

    def __repr__(self) -> str:
        shown = ", ".join(f"{one.name} {'-' if one.value is None else f'{one.value:g}'}"
                          + (f" {one.unit}" if one.unit else "") for one in self.figures[:6])
        return f"<{self.document['benchmark']} on {self.document['layer']}: {shown}>"


def _at(found: Any, place: str) -> Any:
    """What is at ``place`` in a document, such as ``truth.g``; None if nothing is. Its keys may
    have dots themselves."""
    if not place:
        return found
    if isinstance(found, dict):
        for key, inner in found.items():
            if place == key or place.startswith(f"{key}."):
                value = _at(inner, place[len(key) + 1:])
                if value is not None:
                    return value
    return None
