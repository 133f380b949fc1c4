"""The paths of a layer as a CPU charges them."""

from collections.abc import Callable, Mapping
from dataclasses import make_dataclass
from fractions import Fraction
from typing import Any

from ...layouts.description import Description
from .costs import Path
from .node import Node

__all__ = ["prices"]


def prices(costs: Mapping[str, Any], scale: Callable[[Description], Fraction] | None = None
           ) -> Any:
    """The base of a class ``Prices``, of whose objects there is one for each CPU, by
    ``node.service(Prices)``: a frozen dataclass with a field for each path in ``costs``, the
    globals of a module. ``POST = Path(…)`` becomes the field ``post``, for
    ``port.spend(prices.post)``. A tuple of paths, which are always spent together, becomes one
    charge; a list of paths becomes a tuple of charges.

    ``scale`` gives the factor on what these paths take, in place of ``cpu.path_scale``.
    """
    found = {name.lower(): what for name, what in costs.items()
             if not name.startswith("_") and _of_paths(what)}

    def register(self: Any, node: Node) -> None:
        factor = None if scale is None else scale(node.description)
        for name, what in found.items():
            object.__setattr__(self, name, _registered(node.port, what, factor))

    return make_dataclass("Prices", [(name, Any) for name in found], init=False, frozen=True,
                          namespace={"__init__": register})


def _of_paths(what: Any) -> bool:
    """Whether it is a path, or several of them and nothing else."""
    if isinstance(what, (tuple, list)):
        return bool(what) and all(isinstance(one, Path) for one in what)
    return isinstance(what, Path)


def _registered(port: Any, what: Any, factor: Fraction | None) -> Any:
    if isinstance(what, Path):
        return port.path(what, factor)
    each = tuple(port.path(one, factor) for one in what)
    return each if isinstance(what, list) else port.joint(*each)
