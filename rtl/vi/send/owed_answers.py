"""Answers that are owed to the peers: the newest one of each VI."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.via import PacketKind
from ...parts.block_ram import BlockRam
from ...parts.distinct_queue import DistinctQueue
from ...parts.sizes import check_vis
from ..types import ControlPacket

__all__ = ["OwedAnswers"]


class OwedAnswers(wiring.Component):
    """Keeps the newest answer owed to the peer of each VI, and sends them in turn.

    An answer replaces an unsent one of its VI, because it includes its content (PacketKind). So
    there is room for every answer, and the source never waits. A VI that owes an answer keeps its
    place in the queue; its answer leaves after at most ``vis - 1`` others, in addition to the
    offered one (proven: tests/formal). An answer of kind SEND means that the VI owes none any more.

    Latency: an answer is offered 3 cycles after it arrived if no other VI is ahead of it.
    Throughput: one in a cycle, one out in 2; nothing leaves while the VI at the head gets another
    answer. Back-pressure: none, once ``max(4, vis) / 2`` cycles have passed since reset. Reset:
    nothing is owed.

    Parameters
    ----------
    vis : int
        VIs: a power of two, 2 to 4096.

    Members
    -------
    i : In(stream of ControlPacket)
        An answer that is owed from now on. Always accepted.
    o : Out(stream of ControlPacket)
        An answer to send.
    idle : Out(1)
        No answer is owed or arrives.

    Raises
    ------
    TypeError, ValueError
        ``vis`` breaks its rule.
    """

    def __init__(self, *, vis: int) -> None:
        check_vis(vis)
        self._vis = vis
        self._turns = DistinctQueue(items=max(4, vis))
        self._answers = BlockRam(shape=ControlPacket, depth=max(4, vis))
        # The answer of the VI at the head has been read.
        self._read = Signal()
        super().__init__({
            "i": In(stream.Signature(ControlPacket)),
            "o": Out(stream.Signature(ControlPacket)),
            "idle": Out(1),
        })

    @property
    def vis(self) -> int:
        """VIs."""
        return self._vis

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.turns = turns = self._turns
        m.submodules.answers = answers = self._answers
        write, read = answers.write_port(), answers.read_port()
        none = Signal()
        meets = Signal()
        m.d.comb += [
            turns.i.valid.eq(self.i.valid),
            turns.i.payload.eq(self.i.payload.vi),
            self.i.ready.eq(turns.i.ready),
            write.en.eq(self.i.valid & turns.i.ready),
            write.addr.eq(self.i.payload.vi),
            write.data.eq(self.i.payload),
            read.addr.eq(turns.o.payload),
            none.eq(read.data.kind == PacketKind.SEND),
            meets.eq(self.i.valid & (self.i.payload.vi == turns.o.payload)),
            turns.o.ready.eq((~self._read | self.o.ready | none) & ~meets),
            read.en.eq(turns.o.valid & turns.o.ready),
            self.o.valid.eq(self._read & ~none),
            self.o.payload.eq(read.data),
            self.idle.eq(turns.idle & ~self._read),
        ]
        with m.If(read.en):
            m.d.sync += self._read.eq(1)
        with m.Elif(self.o.ready | none):
            m.d.sync += self._read.eq(0)
        return m
