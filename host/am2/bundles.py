"""Bundles: endpoints that are polled, and waited for, together."""

from dataclasses import dataclass, field
from enum import IntEnum

from .control_block import ControlBlock

__all__ = ["AM_EVENTS", "AM_MODE", "Bundle"]


class AM_MODE(IntEnum):
    """Modes of a bundle: threads call one after the other, or at the same time. A process has one
    thread, so both are the same."""

    AM_SEQ = 0
    AM_PAR = 1


class AM_EVENTS(IntEnum):
    """Bits of a bundle's event mask."""

    AM_NOEVENTS = 0
    AM_NOTEMPTY = 1
    """A message has come."""


@dataclass(slots=True, eq=False)
class Bundle:
    """Endpoints, in the order in which a poll looks at them; the ``mask`` of events for which
    AM_WaitSema waits."""

    mode: AM_MODE
    endpoints: list[ControlBlock] = field(default_factory=list)
    mask: int = AM_EVENTS.AM_NOEVENTS
