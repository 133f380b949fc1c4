"""A benchmark of latency in which one thing is varied."""

from collections.abc import Mapping
from typing import Any, ClassVar

from ....layouts.description import Description
from ..benchmark import Benchmark
from ..fields import Outcome
from .headline import Headline, Series
from .latencies import HalfTrips, Latencies

__all__ = ["VariedLatency"]


class VariedLatency(Benchmark):
    """Half round trips by variant and x; ``measure`` returns runs by variant and x, and ``Results``
    is, or extends, :class:`~.latencies.HalfTrips`.

    Attributes
    ----------
    report
        Evaluates and shows them.
    """

    Results: ClassVar[type] = HalfTrips
    report: ClassVar[Latencies]

    def evaluate(self, raw: Any, description: Description, parameters: Any) -> Outcome:
        """Half round trips, and their legs where runs are traced."""
        return self.outcome(self.report.evaluate(raw, description))

    def outcome(self, found: Mapping[str, Any], **more: Any) -> Outcome:
        """The outcome of what the report ``found``, with ``more`` fields of the results."""
        return Outcome(**{**found, "results": self.Results(**found["results"], **more)})

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """Half round trips, one row for each x; then their legs."""
        return self.report.tables(document)

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """One line for each variant."""
        self.report.draw(document, figure)

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """Each variant at the least and the most x."""
        return self.report.headline(document)

    def difference(self, document: Mapping[str, Any], variant: str, title: str) -> Series:
        """The difference of ``variant`` to the plain one, over x."""
        extra = (self.results(document).extra or {})[variant]
        return Series(self.report.x, f"{title} (cycles)",
                      [(int(x), value) for x, value in extra.items()], sizes=self.report.sizes)
