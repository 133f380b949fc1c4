"""What the peers' RDMA reads are still to get."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.via import QUEUE_BITS, VI_BITS
from .send_job import Response
from .sizes import check_vis
from .types import ReadJob
from .vi_records import ViRecords

__all__ = ["ReadResponder"]


class ReadResponder(wiring.Component):
    """Keeps, for every VI, the answer its peer waits for; the sender's stages send it bit by bit.

    Latency: a job is kept in the cycle after it was taken, unless the walk stage writes, and then
    wakes its VI. Throughput: a job in 3 cycles or more. Back-pressure: ``job`` is not ready in
    between. A second read of a VI takes the first one's place; no peer sends one. Reset: the
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
    look, look_vi, response : In(1), In(12), Out(Response)
        Reads a VI's; there in the next cycle.
    update, update_vi, update_data : In(1), In(12), In(Response)
        After a packet of it.
    clear, clear_vi : In(1), In(12)
        Forget a VI's, only while ``update`` is low.
    idle : Out(1)
        Nothing to keep, nobody to wake.
    """

    def __init__(self, *, vis: int) -> None:
        check_vis(vis)
        self._vis = vis
        super().__init__({
            "job": In(stream.Signature(ReadJob)),
            "wake": Out(stream.Signature(QUEUE_BITS)),
            "look": In(1), "look_vi": In(VI_BITS), "response": Out(Response),
            "update": In(1), "update_vi": In(VI_BITS), "update_data": In(Response),
            "clear": In(1), "clear_vi": In(VI_BITS),
            "idle": Out(1),
        })

    @property
    def vis(self) -> int:
        """VIs."""
        return self._vis

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.records = records = ViRecords(shape=Response, vis=self._vis, readers=1)
        held = Signal()
        asked = Signal(ReadJob)
        m.d.comb += [
            self.job.ready.eq(~held & ~self.wake.valid),
            self.wake.payload.eq(asked.vi << 1),
            self.idle.eq(~held & ~self.wake.valid & ~self.job.valid),
            records.read[0].en.eq(self.look),
            records.read[0].vi.eq(self.look_vi),
            self.response.eq(records.read[0].data),
            records.clear.eq(self.clear),
            records.clear_vi.eq(self.clear_vi),
        ]
        with m.If(self.job.valid & self.job.ready):
            m.d.sync += [held.eq(1), asked.eq(self.job.payload)]
        with m.If(self.update):
            m.d.comb += [
                records.write.eq(1),
                records.write_vi.eq(self.update_vi),
                records.write_data.eq(self.update_data),
            ]
        with m.Elif(held & ~self.clear):
            m.d.comb += [
                records.write.eq(1),
                records.write_vi.eq(asked.vi),
                records.write_data.active.eq(1),
                records.write_data.address.eq(asked.address),
                records.write_data.left.eq(asked.length),
            ]
            m.d.sync += [held.eq(0), self.wake.valid.eq(1)]
        with m.If(self.wake.valid & self.wake.ready):
            m.d.sync += self.wake.valid.eq(0)
        return m
