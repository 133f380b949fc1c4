"""Exports, imports, sends and events, as the library knows them."""

from dataclasses import dataclass, field

from ...layouts.vmmc import Status

__all__ = ["Event", "Export", "Import", "Redirection", "Sending"]


@dataclass(slots=True, eq=False)
class Redirection:
    """Posted for an export: a message of ``key`` goes to ``address``, at most ``limit`` bytes."""

    address: int
    limit: int
    key: int
    skip: int


@dataclass(slots=True, eq=False)
class Export:
    """A buffer that others may import under ``name``.

    Attributes
    ----------
    number
        In the NIC.
    first, pages
        Incoming pages.
    seen
        Messages that its owner has been told of.
    redirection
        What is posted and may still be taken.
    """

    number: int
    name: int
    address: int
    length: int
    first: int
    pages: int
    seen: int = 0
    redirection: Redirection | None = None
    open: bool = True


@dataclass(slots=True, eq=False)
class Import:
    """An export of ``node``, ``length`` bytes from the proxy address ``proxy`` on."""

    node: int
    name: int
    first: int
    pages: int
    proxy: int
    length: int
    open: bool = True


@dataclass(slots=True, eq=False)
class Sending:
    """A send. ``end``: slots of its queue that are done when it is. ``status`` is None until it is
    known to be over."""

    slot: int
    end: int
    trace: int
    status: Status | None = field(default=None)


@dataclass(slots=True)
class Event:
    """A message that has arrived, or with ``cancelled`` the end of a redirection.

    Attributes
    ----------
    place, length, key
        Where in the export the message was sent to, its bytes, and its key.
    redirection
        Where it went instead.
    notify
        Its sender wanted a signal.
    lost
        Events before this one found no room.
    """

    export: Export | None
    node: int = 0
    place: int = 0
    length: int = 0
    key: int = 0
    redirection: Redirection | None = None
    notify: bool = False
    lost: bool = False
    cancelled: bool = False
    trace: int = 0
