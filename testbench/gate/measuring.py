"""What a gate measures now."""

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from ..benches.common.headline import Headline
from ..descriptions import load
from ..errors import UserError
from ..testbed.bed import Testbed
from ..why.observation import LAYERS, Observation, figures
from .file import NONE, Entry, Gate, Value
from .record import Kept

__all__ = ["Measured", "figures_of", "measured", "split_of", "value_of"]

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


def measured(gate: Gate, **options: Any) -> dict[str, Measured]:
    """All entries of ``gate``, by name; ``options`` are those of :class:`nicbed.Testbed`.

    Everything is checked before anything is measured.

    Raises
    ------
    UserError
        A description, a benchmark or a figure is wrong, or a run failed.
    """
    beds = {}
    for entry in gate.entries:
        try:
            bed = Testbed(entry.place(gate.path), overrides=entry.overrides, nodes=entry.nodes,
                          **options)
            for bench in entry.benches:
                bed.benchmark(bench, layer=entry.layer)
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
                    Kept(bed.description.model_dump(mode="json"), split_of(bed, entry)))
            except UserError as error:
                raise _told(gate, entry, error) from None
    return found


def figures_of(bed: Testbed, entry: Entry, bench: str, names: Iterable[str]
               ) -> tuple[Headline, ...]:
    """The figures ``names`` of ``bench``; all by which descriptions are compared if none is
    named."""
    result = bed.bench(bench, layer=entry.layer)
    return tuple(map(result.metric, names)) or tuple(result.figures)


def split_of(bed: Testbed, entry: Entry) -> Observation | None:
    """A round trip of ``bed``'s NIC in parts, over the layer of the entry's first benchmark; None
    where that layer has none, or the entry does without."""
    layer = bed.benchmark(entry.benches[0], layer=entry.layer).layer
    if not entry.why or layer not in LAYERS:
        return None
    description = load.for_layer(load.load(bed.description, nodes=_NODES), layer)
    logp = bed.bench("logp", layer=layer, knobs={"fabric.nodes": _NODES})
    trips = bed.job("nicbed.testbench.why.observation:in_simulator", {"layer": layer},
                    description=description, label="why")
    return Observation(**figures(logp.document), **trips)


def _told(gate: Gate, entry: Entry, error: UserError) -> UserError:
    return UserError(f"{gate.path}: gate {entry.name}: {error}", status=error.status)
