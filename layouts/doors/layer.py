"""A layer: what a user writes to plug a communication layer in."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..description import Description, Section

__all__ = ["Layer"]


def _no_needs(description: "Description") -> Iterable[str]:
    return ()


@dataclass(frozen=True)
class Layer:
    """A communication layer, by its name in ``--layer``.

    Attributes
    ----------
    name
        Small letters, digits, underscores; also that of its section of knobs.
    title
        One line for ``nicbed list``.
    knobs
        The section of its own knobs, ``[name]``, all of kind cost; None for none.
    costs
        Its paths: what each takes, in items of :class:`~nicbed.layouts.description.Cpu`.
    activities
        Names of its own activities of host programs, whose marks time lines show, and what each
        brackets.
    protocol
        Its number in the header of packets, if it has one.
    drivers
        The kinds of NIC drivers on which it can live, best first: classes, or "module:Class".
    needs
        Called with a description, gives one line for each rule of the layer that it breaks.
    endpoint
        The class of a side of an exchange, or "module:Class".
    background
        What the runtime starts on each node where the layer runs, or "module:function".
    """

    name: str
    title: str
    knobs: "type[Section] | None" = None
    costs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    activities: Mapping[str, str] = field(default_factory=dict)
    protocol: int | None = None
    drivers: tuple[type | str, ...] = ()
    needs: "Callable[[Description], Iterable[str]]" = _no_needs
    endpoint: type | str | None = None
    background: Callable[..., Any] | str | None = None
