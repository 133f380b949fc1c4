"""A log of records on their way from a board to the back end."""

from amaranth.hdl import Module, ResetInserter, ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ....layouts.board import MEMORY_RECORD, RESPONSE_FRAME, TRACE_RECORD
from ...parts.queue import Queue
from ...parts.sizes import check_integer

__all__ = ["DEPTH", "Log", "LogRead", "check_burst"]

DEPTH = 512
"""Records that a log holds: the smallest depth of a block RAM with the width of a record."""


def LogRead(shape: ShapeLike) -> wiring.Signature:
    """A log's side towards the board's control. ``records``, each of ``shape``; ``room``: there is
    room; ``level``: records inside, of which those that are not offered yet will follow; ``clear``
    forgets all."""
    return wiring.Signature({
        "records": Out(stream.Signature(shape)),
        "room": Out(1, init=1),
        "level": Out(range(DEPTH + 1)),
        "clear": In(1),
    })


def check_burst(name: str, width: int, burst: int) -> None:
    """Refuse more simultaneous records of ``width`` bits, called ``name``, than a log has room
    for."""
    check_integer(name, burst)
    most = DEPTH - 3 - RESPONSE_FRAME * 32 // width
    if not 1 <= burst <= most:
        raise ValueError(f"{name} must be 1 to {most}, not {burst}")


class Log(wiring.Component):
    """Keeps records in block RAM, and reports early when there will be no more room.

    Latency: a record is offered 2 cycles after it was taken. Throughput: 1 a cycle. Back-pressure:
    none towards ``i``, whose side looks at ``read.room`` instead: while it is high, ``burst`` more
    records may come at once; it follows what was taken 2 cycles later. Reset: empty.

    Parameters
    ----------
    width : :class:`int`
        Bits of a record: 32 MEMORY_RECORD or 32 TRACE_RECORD.
    burst : :class:`int`
        Records that may arrive at once, from 1 on. At most so many that a log without room holds
        more records than fit into a response, so that a full log shows in the response.

    Members
    -------
    i : ``In(stream)``
        Records; always ready while ``read.room`` is obeyed.
    read : ``Out(LogRead)``
        Records, and how many there are.

    Raises
    ------
    TypeError
        ``burst`` is not an integer.
    ValueError
        ``width`` is that of no record, or ``burst`` is out of range.
    """

    def __init__(self, *, width: int, burst: int) -> None:
        if width not in (32 * MEMORY_RECORD, 32 * TRACE_RECORD):
            raise ValueError(f"width must be that of a record, not {width}")
        check_burst("burst", width, burst)
        self._width = width
        self._burst = burst
        super().__init__({
            "i": In(stream.Signature(width)),
            "read": Out(LogRead(width)),
        })

    @property
    def width(self) -> int:
        """Bits of a record."""
        return self._width

    @property
    def burst(self) -> int:
        """Records that may arrive at once."""
        return self._burst

    def elaborate(self, platform: object) -> Module:
        m = Module()
        records = Queue(shape=self._width, depth=DEPTH)
        m.submodules.records = ResetInserter(self.read.clear)(records)
        connect(m, flipped(self.i), records.i)
        connect(m, records.o, flipped(self.read.records))
        m.d.comb += self.read.level.eq(records.level)
        # One record may be on its way into the level.
        m.d.sync += self.read.room.eq(records.level < DEPTH - self._burst)
        return m
