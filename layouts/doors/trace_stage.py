"""A stage of a message's flight, which ends with an event of a block of a NIC design."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from ..trace import Kind
from .trace_block import RECEIVING, SENDING, TraceBlock, numbered

__all__ = ["Pick", "TraceStage", "stages_of"]


class Pick(Enum):
    """The event of a message, of several, that ends a stage."""

    LAST = "last"
    FIRST = "first"
    """Its ``arg`` is the queue to which the events of QUEUE belong."""
    QUEUE = "queue"
    """The last one before that of FIRST. It has no trace number; its ``arg`` is the queue's."""


@dataclass(frozen=True)
class TraceStage:
    """The stage ``name`` ends with an event ``kind`` of block number ``block``.

    ``side``: SENDING, before the link, or RECEIVING, behind it.
    """

    name: str
    block: int
    kind: Kind
    side: str
    pick: Pick = Pick.LAST


def stages_of(blocks: Iterable[TraceBlock]) -> tuple[TraceStage, ...]:
    """The stages of the ``blocks`` of a design, in their order: of each the wait until its BEGIN,
    and its service until its END. A block of both sides has stages on each."""
    found = numbered(blocks)
    return tuple(stage for side in (SENDING, RECEIVING) for number, block in found.items()
                 if block.side in (side, None) for stage in _of(number, block, side))


def _of(number: int, block: TraceBlock, side: str) -> Iterator[TraceStage]:
    name = block.stage if block.side is not None else f"{block.stage} ({side})"
    yield TraceStage(f"waiting for: {name}", number, Kind.BEGIN, side)
    yield TraceStage(name, number, Kind.END, side)
