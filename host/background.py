"""The programs of layers, which the runtime starts beside those of the user."""

from collections.abc import Iterator
from typing import NamedTuple

from ..layouts.description import Description
from ..layouts.doors import LAYERS, Layer
from ..layouts.doors.lazy import resolved
from .port.node import Program

__all__ = ["Background", "backgrounds"]


class Background(NamedTuple):
    """A layer's own program: ``program`` on CPU ``cpu`` of each node that runs a program, if the
    user gives that CPU none. It is ended when all programs of the user have ended, and made before
    any of them begins."""

    cpu: int
    program: Program


def backgrounds(description: Description) -> list[Background]:
    """Programs that layers start under ``description`` (:attr:`.Layer.background`)."""
    asked = dict.fromkeys(resolved(layer.background) for layer in _layers(description)
                          if layer.background)
    return [found for ask in asked if (found := ask(description)) is not None]


def _layers(description: Description) -> Iterator[Layer]:
    """The layers that may have something in the background: those from outside that were asked for,
    and of those built in, which take long to load, the ones of whose knobs one is not as usual."""
    for name in LAYERS.builtin:
        section = getattr(description, name, None)
        if section is not None and section != type(section)():
            yield LAYERS.get(name)
    for named in LAYERS.loaded():
        yield named.plugin
