"""The grid that is measured: its cells, each with its numbers of messages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .....layouts.description import Description
from ...common.bulk_report import size_text
from .exchange import COLD, DOUBLE_BYTES, MODES, Placement, Plan
from .protocols import PREPOSTED, PROTOCOLS, SENDRECV, SWAP, Protocol

__all__ = ["BASE", "COUNTS", "Cell", "PLACEMENTS", "cells_of", "full_grid", "reduced_grid"]

COUNTS = tuple(1 << power for power in range(11))
"""Messages into which a volume is cut, in the whole grid."""
VOLUMES = (1 << 18, 1 << 14, 1 << 10)
SHORT, LONG = VOLUMES[2], VOLUMES[1]
"""Those of the reduced grid."""
VARIED = (16,)
"""Messages in the cells of the reduced grid that differ from the base in one thing."""
TWO, APART, RING = "0–1 of two", "0–2 of four", "all of four"
WITHIN, BETWEEN, AT_ONCE = "within a node", "between nodes of two", "0–2 and 1–3 at once"
PLACEMENTS: dict[str, Placement] = {
    TWO: Placement((0, 1), 2), APART: Placement((0, 2), 4), RING: Placement((0, 1, 2, 3), 4),
    WITHIN: Placement((0, 1), 2, 2), BETWEEN: Placement((0, 2), 4, 2),
    AT_ONCE: Placement((0, 2, 1, 3), 4, 2, 2)}
OPERATIONS = {SWAP: (TWO, APART, WITHIN, BETWEEN, AT_ONCE), SENDRECV: (TWO, RING)}
ROOM = 1 << 20
"""Bytes of a node's memory beside the buffers: what the library and the channel have."""


class Cell(NamedTuple):
    """Everything but the protocol and the number of messages."""

    operation: str = SWAP
    placement: str = TWO
    mode: str = COLD
    preposted: bool = False
    volume: int = SHORT

    @property
    def name(self) -> str:
        ahead = "+" if self.preposted else ""
        return f"{self.operation}, {self.placement}, {self.mode}{ahead}, {size_text(self.bytes)}"

    @property
    def protocols(self) -> tuple[Protocol, ...]:
        return PREPOSTED if self.preposted else PROTOCOLS

    @property
    def bytes(self) -> int:
        """From each rank."""
        return self.volume * DOUBLE_BYTES

    def plan(self, protocol: Protocol, messages: int) -> Plan:
        return Plan(self.operation, protocol, self.volume, messages, self.mode,
                    PLACEMENTS[self.placement])

    def eager(self, description: Description) -> int:
        """Longest message that goes with its data at once."""
        settings = description.mpi
        return settings.eager_of("shm" if self.placement == WITHIN else settings.channel)


BASE = Cell()


def _fits(cell: Cell, description: Description) -> bool:
    """Whether the nodes are there, and have room for both buffers and an attached one."""
    placement = PLACEMENTS[cell.placement]
    return (placement.nodes <= description.fabric.nodes
            and placement.cpus <= description.node.cpus
            and placement.cpus * (3 * cell.bytes + ROOM) <= description.memory.bytes)


def _plain(cells: Mapping[Cell, tuple[int, ...]], description: Description) -> list[Any]:
    return [[*cell, list(counts)] for cell, counts in cells.items() if _fits(cell, description)]


def reduced_grid(description: Description) -> list[Any]:
    """One cell with enough messages for a and b, one with a long message, and the others as far as
    they differ from the first in one thing."""
    return _plain({BASE: (1, 4, 16, 64, 512, 1024), BASE._replace(volume=LONG): (1,),
                   BASE._replace(mode="b"): VARIED, BASE._replace(mode="c"): VARIED,
                   BASE._replace(placement=APART): VARIED,
                   BASE._replace(placement=WITHIN): VARIED,
                   BASE._replace(placement=BETWEEN): VARIED,
                   BASE._replace(placement=AT_ONCE): VARIED,
                   BASE._replace(operation=SENDRECV): VARIED,
                   BASE._replace(operation=SENDRECV, placement=RING): VARIED,
                   BASE._replace(preposted=True): VARIED}, description)


def full_grid(description: Description) -> list[Any]:
    """All of them: hours."""
    return _plain({Cell(operation, placement, mode, preposted, volume): COUNTS
                   for operation, placements in OPERATIONS.items() for placement in placements
                   for mode in MODES for preposted in (False, True) for volume in VOLUMES
                   if operation == SWAP or not preposted}, description)


def cells_of(cells: Iterable[Sequence[Any]]) -> Iterator[tuple[Cell, list[int]]]:
    """The cells of a result file's parameters, each with its numbers of messages."""
    for *fields, counts in cells:
        yield Cell(*fields), counts
