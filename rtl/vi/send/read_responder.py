"""Responses to the peers' RDMA reads that are still to be sent."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.via import QUEUE_BITS
from ...parts.sizes import check_vis
from ..records import Clear, ViRecords, record_read, record_write
from ..types import ReadJob
from .job import Response

__all__ = ["ReadResponder"]


class ReadResponder(wiring.Component):
    """Keeps, for every VI, the response for which its peer waits; the sender's stages send it
    packet by packet.

    Latency: a job is stored in the cycle after it was taken, unless the walk stage writes, and then
    wakes its VI. Throughput: a job in 3 cycles or more. Back-pressure: ``job`` is not ready in
    between. A second read of a VI replaces the first one; a correct peer sends none. Reset: the
    records are not reset; ``clear`` first.

    Parameters
    ----------
    vis : int
        VIs: a power of two.

    Members
    -------
    job : In(stream of ReadJob)
        From the receiver.
    wake : Out(stream of QUEUE_BITS)
        To the scheduler.
    response : In(record_read(Response))
        Reads a VI's response.
    update : In(record_write(Response))
        Written after a packet of the response.
    clear : In(Clear)
        Drops a VI's response.
    idle : Out(1)
        No job to store, no VI to wake.
    """

    def __init__(self, *, vis: int) -> None:
        check_vis(vis)
        self._vis = vis
        super().__init__({
            "job": In(stream.Signature(ReadJob)),
            "wake": Out(stream.Signature(QUEUE_BITS)),
            "response": In(record_read(Response)),
            "update": In(record_write(Response)),
            "clear": In(Clear),
            "idle": Out(1),
        })

    @property
    def vis(self) -> int:
        """VIs."""
        return self._vis

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.records = records = ViRecords(shape=Response, vis=self._vis, readers=1)
        wiring.connect(m, wiring.flipped(self.response), records.read[0])
        held = Signal()
        asked = Signal(ReadJob)
        m.d.comb += [
            self.job.ready.eq(~held & ~self.wake.valid),
            self.wake.payload.eq(asked.vi << 1),
            self.idle.eq(~held & ~self.wake.valid & ~self.job.valid),
            records.clear.valid.eq(self.clear.valid),
            records.clear.vi.eq(self.clear.vi),
            # The held job is replaced.
            self.clear.writing.eq(self.update.valid),
        ]
        with m.If(self.job.valid & self.job.ready):
            m.d.sync += [held.eq(1), asked.eq(self.job.payload)]
        with m.If(self.update.valid):
            m.d.comb += [
                records.write.valid.eq(1),
                records.write.vi.eq(self.update.vi),
                records.write.data.eq(self.update.data),
            ]
        with m.Elif(held & ~self.clear.valid):
            m.d.comb += [
                records.write.valid.eq(1),
                records.write.vi.eq(asked.vi),
                records.write.data.active.eq(1),
                records.write.data.address.eq(asked.address),
                records.write.data.left.eq(asked.length),
            ]
            m.d.sync += [held.eq(0), self.wake.valid.eq(1)]
        with m.If(self.wake.valid & self.wake.ready):
            m.d.sync += self.wake.valid.eq(0)
        return m
