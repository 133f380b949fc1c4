"""The programs that layers have the runtime start beside those of the user."""

from typing import NamedTuple

from ..layouts.description import Description
from ..layouts.doors import LAYERS
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
    """What layers have started under ``description`` (:attr:`.Layer.background`)."""
    asked = dict.fromkeys(resolved(layer.background) for layer in LAYERS.present()
                          if layer.background)
    return [found for ask in asked if (found := ask(description)) is not None]
