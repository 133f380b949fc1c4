"""A benchmark whose results are shown by a report: a module of functions, or an object."""

from collections.abc import Mapping
from typing import Any, ClassVar

from ..benchmark import Benchmark
from .headline import Headline, Series

__all__ = ["Reported"]


class Reported(Benchmark):
    """Shown by a report.

    Attributes
    ----------
    report
        Has ``tables``, ``draw``, ``headline`` and ``series``, of a result file's document.
    """

    report: ClassVar[Any]

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """The tables of the report."""
        return self.report.tables(document)

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """The plot of the report."""
        self.report.draw(document, figure)

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """The figures that the report picks."""
        return self.report.headline(document)

    def series(self, document: Mapping[str, Any]) -> Series:
        """The curve that the report picks."""
        return self.report.series(document)
