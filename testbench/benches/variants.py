"""A benchmark with a part of its own for each layer that it is on."""

import importlib
from collections.abc import Iterable, Mapping, Sequence

from ...layouts.doors import LAYERS, Layer
from .benchmark import Benchmark, Uncarried
from .presented import Presented

__all__ = ["Variants"]


class Variants(Benchmark):
    """A benchmark whose parts are written one a layer, each a :class:`.benchmark.Benchmark`. A
    part has no name and no title, and ``nodes`` only where it needs more.

    Parameters
    ----------
    parts
        By the name of a layer, ``"module:Class"`` below this package.
    capable
        For other layers: what an endpoint must be capable of, the name of a class attribute, and
        the part for it; the first that fits.
    """

    def __init__(self, name: str, nodes: int, title: str, parts: Mapping[str, str],
                 capable: Sequence[tuple[str, str]] = ()) -> None:
        self.name, self.nodes, self.title = name, nodes, title  # type: ignore[misc]
        self._parts = dict(parts)
        self._capable = tuple(capable)

    @property
    def layers(self) -> Iterable[str]:
        """The layers that have it: those that are built in, then others."""
        if not self._capable:
            return [*self._parts]
        return [name for name, layer in LAYERS.working()
                if name in self._parts or self._capable_part(layer)]

    def nodes_on(self, layer: str) -> int:
        """The nodes that it takes by default over ``layer``: its part's, if those are more."""
        return max(self.nodes, self.module(layer).nodes)

    def module(self, layer: str) -> Presented:
        """Its part for ``layer``, imported when first needed.

        Raises
        ------
        Uncarried
            The benchmark does not exist for that layer.
        """
        self.check(layer)
        module, _, kind = self._part(layer).partition(":")
        return Presented(getattr(importlib.import_module(f"{__package__}.{module}"), kind)(),
                         layer)

    def check(self, layer: str) -> None:
        if not self._part(layer):
            raise Uncarried(f"{self.name} does not exist for layer {layer}: it takes --layer "
                            f"{' or '.join(self.layers)}")

    def _part(self, layer: str) -> str:
        """The part for ``layer``, "" if there is none."""
        return self._parts.get(layer) or self._capable_part(LAYERS.get(layer))

    def _capable_part(self, layer: Layer) -> str:
        if not self._capable:
            return ""
        endpoint = layer.endpoint_class
        return next((part for capability, part in self._capable
                     if getattr(endpoint, capability, False)), "")
