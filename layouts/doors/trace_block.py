"""A block of a NIC design that emits trace events."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..trace import Block

__all__ = ["TraceBlock", "block_numbers"]


@dataclass(frozen=True)
class TraceBlock:
    """A block that emits events, as a NIC design declares it.

    Attributes
    ----------
    name
        As of the members of :class:`~nicbed.layouts.trace.Block`: "WIRE_SEND".
    stage
        The stage of a round trip to which the time between its BEGIN and its END belongs, as the
        breakdown calls it.
    doc
        What BEGIN and END bracket, and what ``arg`` is.

    Its number is given out (:func:`block_numbers`).
    """

    name: str
    stage: str
    doc: str


def block_numbers(blocks: Iterable[TraceBlock]) -> tuple[int, ...]:
    """The number of each of the ``blocks`` of a design in events: that of the first one is the one
    behind the last Block."""
    return tuple(number for number, _ in enumerate(blocks, max(Block) + 1))
