"""A block of a NIC design that emits trace events."""

from dataclasses import dataclass

__all__ = ["TraceBlock"]


@dataclass(frozen=True)
class TraceBlock:
    """A block that emits events: those of its own that a NIC design declares.

    Attributes
    ----------
    name
        As of the members of :class:`~nicbed.layouts.trace.Block`: "WIRE_SEND".
    stage
        The stage of a round trip to which the time between its BEGIN and its END belongs, as the
        breakdown calls it.
    doc
        What BEGIN and END bracket, and what ``arg`` is.

    Its number is given out: that of the first one is the one behind the last Block.
    """

    name: str
    stage: str
    doc: str
