"""Log of the target's writes to its host memories, in order, for the back end."""

from amaranth.hdl import Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import ceil_log2

from ....layouts.board import LOG_ADDRESS_BITS, MEMORY_RECORD
from ...parts.sizes import check_integer, check_power_of_two
from .log import Log, LogRead, check_burst
from .resident_memory import WriteLayout

__all__ = ["RecordLayout", "WriteLog"]

RecordLayout = data.StructLayout({"strobe": 8, "address": LOG_ADDRESS_BITS, "data": 64})
"""A memory record, as layouts.board declares it."""


class WriteLog(wiring.Component):
    """Collects the writes of all nodes: one in each cycle, from the lowest node on.

    Latency, room and reset as :class:`Log`, for a write of each node at once.

    Parameters
    ----------
    nodes : :class:`int`
        Nodes, 1 or more.
    words : :class:`int`
        8-byte words of a node's memory: a power of two. All of them have an address of
        LOG_ADDRESS_BITS.

    Members
    -------
    i : ``In(stream)``, one a node
        Their writes: WriteLayout.
    read : ``Out(LogRead)``
        Records: RecordLayout.

    Raises
    ------
    TypeError
        ``nodes`` or ``words`` is not an integer.
    ValueError
        ``words`` is not a power of two, or ``words`` or ``nodes`` is 0 or too large.
    """

    def __init__(self, *, nodes: int, words: int) -> None:
        for name, value in (("nodes", nodes), ("words", words)):
            check_integer(name, value)
        check_power_of_two("words", words)
        if nodes < 1 or nodes * words > 1 << LOG_ADDRESS_BITS:
            raise ValueError(f"nodes must be 1 to {(1 << LOG_ADDRESS_BITS) // words} where each "
                             f"has {words} words, not {nodes}")
        check_burst("nodes", 32 * MEMORY_RECORD, nodes)
        self._nodes = nodes
        self._words = words
        super().__init__({
            "i": In(stream.Signature(WriteLayout(ceil_log2(words)))).array(nodes),
            "read": Out(LogRead(RecordLayout)),
        })

    @property
    def nodes(self) -> int:
        """Nodes."""
        return self._nodes

    @property
    def words(self) -> int:
        """8-byte words of a node's memory."""
        return self._words

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.log = log = Log(width=32 * MEMORY_RECORD, burst=self._nodes)
        record = data.View(RecordLayout, log.i.payload)
        for number, side in reversed(list(enumerate(self.i))):
            with m.If(side.valid):
                m.d.comb += [
                    log.i.valid.eq(1),
                    record.strobe.eq(side.payload.strobe),
                    record.address.eq(side.payload.address | number * self._words),
                    record.data.eq(side.payload.data),
                ]
        free = log.i.ready
        for side in self.i:
            m.d.comb += side.ready.eq(free)
            free = free & ~side.valid
        connect(m, log.read, flipped(self.read))
        return m
