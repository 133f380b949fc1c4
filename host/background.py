"""The programs that layers have the runtime start beside those of the user."""

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from ..layouts.description import Description
from .port.node import Program

__all__ = ["Background", "backgrounds"]


class Background(NamedTuple):
    """A layer's own program: ``program`` on CPU ``cpu`` of each node that runs a program, if the
    user gives that CPU none. It is ended when all programs of the user have ended, and made before
    any of them begins."""

    cpu: int
    program: Program


ASKED = ("nicbed.host.am.message_processor:background",)
"""Functions of a description, as "module:function", that return a Background or None."""


def backgrounds(description: Description) -> list[Background]:
    """What layers have started under ``description``."""
    found = []
    for text in ASKED:
        module, name = text.split(":")
        ask: Callable[[Description], Background | None] = getattr(import_module(module), name)
        background = ask(description)
        if background is not None:
            found.append(background)
    return found
