"""The options of a testbed that few callers need."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from ...layouts.board import BAUD
from .listener import Listener

__all__ = ["Options"]


@dataclass(frozen=True)
class Options:
    """The options of a :class:`nicbed.Testbed` that few callers need.

    Attributes
    ----------
    overrides
        Knobs as texts, ``"link.latency=12"``, as on the command line. Knobs by name or section
        come after them.
    port, baud
        Serial port of the board, and its rate in baud.
    fresh
        Measure anew what the store has, and check that it is the same to the byte.
    listener
        Is told of the work.
    building
        Held while a simulator is built, where beds of several threads build.
    """

    overrides: Sequence[str] = ()
    port: str | None = None
    baud: int = BAUD
    fresh: bool = False
    listener: Listener | None = None
    building: AbstractContextManager[Any] | None = None
