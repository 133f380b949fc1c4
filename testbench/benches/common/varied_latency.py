"""A benchmark of latency in which one thing is varied."""

from collections.abc import Mapping
from typing import Any, ClassVar

from ....layouts.description import Description
from ..fields import Outcome
from .headline import Series
from .latencies import HalfTrips, Latencies
from .reported import Reported

__all__ = ["VariedLatency"]


class VariedLatency(Reported):
    """Half round trips by variant and x; ``measure`` returns runs by variant and x, and ``Results``
    is, or extends, :class:`~.latencies.HalfTrips`.

    Attributes
    ----------
    report
        Evaluates them, too.
    """

    Results: ClassVar[type] = HalfTrips
    report: ClassVar[Latencies]

    def evaluate(self, raw: Any, description: Description, parameters: Any) -> Outcome:
        """Half round trips, and their legs where runs are traced."""
        return self.outcome(self.report.evaluate(raw, description))

    def outcome(self, found: Mapping[str, Any], **more: Any) -> Outcome:
        """The outcome of what the report ``found``, with ``more`` fields of the results."""
        return Outcome(**{**found, "results": self.Results(**found["results"], **more)})

    def difference(self, document: Mapping[str, Any], variant: str, title: str) -> Series:
        """The difference of ``variant`` to the plain one, over x."""
        extra = (self.results(document).extra or {})[variant]
        return Series(self.report.x, f"{title} (cycles)",
                      [(int(x), value) for x, value in extra.items()], sizes=self.report.sizes)
