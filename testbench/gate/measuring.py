"""Measures the figures of a gate."""

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from ..backends.job import Job
from ..benches.common.headline import Headline
from ..descriptions import load
from ..errors import UserError
from ..testbed.bed import Testbed
from ..testbed.measurement import AREA
from ..testbed.options import Options
from ..testbed.result import Result
from ..why.observation import Observation, figures
from ..why.round_trip import traced
from .file import NONE, Entry, Gate, Value
from .record import Kept

__all__ = ["Measured", "figures_of", "kept_of", "measured", "value_of"]

_NODES = 2
"""Nodes of a round trip."""


@dataclass(frozen=True)
class Measured:
    """An entry now: by benchmark, its figures; the configuration, and a round trip in parts."""

    figures: Mapping[str, tuple[Headline, ...]]
    kept: Kept

    @property
    def values(self) -> dict[str, dict[str, Value]]:
        """The figures as a gate file has them."""
        return {bench: {one.name: value_of(one) for one in found}
                for bench, found in self.figures.items()}


def value_of(figure: Headline) -> Value:
    """The value of a figure as a gate file has it."""
    return NONE if figure.value is None else figure.value


def measured(gate: Gate, options: Options | None = None, **given: Any) -> dict[str, Measured]:
    """All entries of ``gate``, by name; ``options`` and what is ``given`` are those of a
    :class:`nicbed.Testbed`, but for knobs, which the entries have.

    Everything is checked before anything is measured.

    Raises
    ------
    UserError
        A description, a benchmark or a figure is wrong, or a run failed.
    """
    beds = {}
    for entry in gate.entries:
        try:
            bed = Testbed(entry.place(gate.path), nodes=entry.nodes,
                          options=replace(options or Options(), overrides=entry.overrides), **given)
            bed.wanted(entry.benches, layer=entry.layer)
        except UserError as error:
            raise _told(gate, entry, error) from None
        beds[entry.name] = bed
    found = {}
    for entry in gate.entries:
        with closing(beds[entry.name]) as bed:
            try:
                found[entry.name] = Measured(
                    {bench: figures_of(bed, entry, bench, entry.accepted.get(bench, ()))
                     for bench in entry.benches},
                    kept_of(bed, entry))
            except UserError as error:
                raise _told(gate, entry, error) from None
    return found


def figures_of(bed: Testbed, entry: Entry, bench: str, names: Iterable[str]
               ) -> tuple[Headline, ...]:
    """The figures ``names`` of ``bench``; all by which descriptions are compared if none is
    named."""
    result = _result(bed, entry, bench)
    return tuple(map(result.metric, names)) or tuple(result.figures)


def _result(bed: Testbed, entry: Entry, bench: str) -> Result:
    """The result of one of the entry's benchmarks, or the area."""
    return bed.measure(bed.wanted(entry.benches, layer=entry.layer)[bench])


def kept_of(bed: Testbed, entry: Entry) -> Kept:
    """The configuration of ``bed``'s NIC, a round trip in parts, and the area of its blocks if the
    entry has it."""
    return Kept(bed.description.model_dump(mode="json"), _split(bed, entry),
                _result(bed, entry, AREA).document["blocks"] if AREA in entry.benches else None)


def _split(bed: Testbed, entry: Entry) -> Observation | None:
    """A round trip of ``bed``'s NIC in parts, over the layer of the entry's first benchmark; None
    where that layer has none, or the entry does without."""
    layer = next(iter(bed.wanted(entry.benches, layer=entry.layer).values())).layer
    if not entry.why or not traced(layer) or set(entry.benches) == {AREA}:
        return None
    description = load.for_layer(load.load(bed.description, nodes=_NODES), layer)
    logp = bed.bench("logp", layer=layer, knobs={"fabric.nodes": _NODES})
    trips = bed.job(Job(description, function="nicbed.testbench.why.round_trip:in_simulator",
                        arguments={"layer": layer}), label="why")
    return Observation(**figures(logp.document), **trips)


def _told(gate: Gate, entry: Entry, error: UserError) -> UserError:
    return UserError(f"{gate.path}: gate {entry.name}: {error}", status=error.status)
