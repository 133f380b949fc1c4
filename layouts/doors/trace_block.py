"""A block of a NIC design that emits trace events."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..trace import Block
from .finding import DoorError

__all__ = ["RECEIVING", "SENDING", "TraceBlock", "block_numbers", "numbered"]

SENDING, RECEIVING = "sending", "receiving"


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
    side
        SENDING: it serves messages that leave, before the link. RECEIVING: those that come, behind
        the link. None: both.
    lands
        Whether a message is in host memory where it arrives when the last of such blocks has served
        it; not of a SENDING one.
    dma
        The port of ``dma`` that it uses alone. If it takes up the bus through it, it counts as what
        bounds the gap, not the bus.
    busy
        Its name among the blocks that are busy, by default ``stage``.
    listed
        Whether it is among them: always, if it has been at work ("at work"), or never.
    begins_at_arg
        ``arg`` of BEGIN holds the low 32 bits of the cycle in which the service began.
    stays
        It may stay at work: a BEGIN without END is at work until the run ends.
    number
        Its number in events. None: it is given out (:func:`block_numbers`).
    """

    name: str
    stage: str
    doc: str
    side: str | None = None
    lands: bool = True
    dma: int | None = None
    busy: str = ""
    listed: str = "always"
    begins_at_arg: bool = False
    stays: bool = False
    number: int | None = None

    def __post_init__(self) -> None:
        if self.side not in (SENDING, RECEIVING, None):
            raise ValueError(f"TraceBlock {self.name}: side must be {SENDING!r}, {RECEIVING!r} or "
                             f"None, not {self.side!r}")
        if self.listed not in ("always", "at work", "never"):
            raise ValueError(f"TraceBlock {self.name}: listed must be 'always', 'at work' or "
                             f"'never', not {self.listed!r}")

    @property
    def title(self) -> str:
        """Its name among the blocks that are busy."""
        return self.busy or self.stage


def block_numbers(blocks: Iterable[TraceBlock]) -> tuple[int, ...]:
    """The number of each of the ``blocks`` of a design in events: its own, or those behind the last
    Block in turn that no other has.

    Raises
    ------
    DoorError
        Two of them have the same number.
    """
    blocks = tuple(blocks)
    taken: dict[int, str] = {}
    for block in blocks:
        if block.number is not None:
            if block.number in taken:
                raise DoorError(f"TraceBlock {block.name}: number = {block.number}: is that of "
                                f"{taken[block.number]}, too")
            taken[block.number] = block.name
    free = (number for number in range(max(Block) + 1, 1 << 16) if number not in taken)
    return tuple(next(free) if block.number is None else block.number for block in blocks)


def numbered(blocks: Iterable[TraceBlock]) -> dict[int, TraceBlock]:
    """The ``blocks`` of a design by their numbers in events."""
    blocks = tuple(blocks)
    return dict(zip(block_numbers(blocks), blocks, strict=True))
