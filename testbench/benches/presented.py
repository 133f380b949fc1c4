"""A benchmark in plain data: it takes and gives mappings, as result files have them."""

from collections.abc import Mapping
from typing import Any

from ...layouts.description import Description
from ...layouts.doors import LAYERS
from .fields import Outcome, plain, read

__all__ = ["Presented"]


class Presented:
    """A benchmark's object, ``bench``, on ``layer``, with ``parameters(description)``,
    ``measure(lab, layer, parameters, tell)``, ``evaluate(raw, description,
    parameters)``, ``tables(document)``, ``headline(document)`` and, where the object has them,
    ``full(description)``, ``draw(document, figure)``, ``series(document)``, ``FIGURES`` and
    ``SHORT``."""

    def __init__(self, bench: Any, layer: str) -> None:
        self.bench = bench
        self._layer = layer
        self.__name__ = type(bench).__module__
        self.EVERY_NIC = bench.every_nic
        self.nodes = bench.nodes
        self.tables = bench.tables
        self.headline = bench.headline
        for name in ("draw", "series", "SHORT"):
            if hasattr(bench, name):
                setattr(self, name, getattr(bench, name))
        if bench.FIGURES is not None:
            self.FIGURES = bench.FIGURES
        if hasattr(bench, "full"):
            self.full = lambda description: plain(bench.full(description))

    def parameters(self, description: Description) -> dict[str, Any]:
        """The usual parameters."""
        return plain(self.bench.usual(description,
                                      LAYERS.get(self._layer).parties(description)))

    async def measure(self, lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> Any:
        """Measure, in the simulator's process."""
        return await self.bench.measure(lab, layer, self._read(parameters), tell)

    def evaluate(self, raw: Any, description: Description, parameters: Mapping[str, Any]
                 ) -> dict[str, Any]:
        """Results, truth, points and checks."""
        found = self.bench.evaluate(raw, description, self._read(parameters))
        if not isinstance(found, Outcome):
            found = Outcome(results=found)
        return {"results": plain(found.results), "truth": found.truth, "points": found.points,
                "checks": list(found.checks),
                **{name: each for name in ("breakdown", "comparison")
                   if (each := getattr(found, name)) is not None}}

    def _read(self, parameters: Mapping[str, Any]) -> Any:
        return read(self.bench.Parameters, parameters)
