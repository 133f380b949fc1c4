"""The headers of a packet, which the walk stage writes into its slot."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ....layouts.packet import FLIT_BYTES, Protocol
from ....layouts.via import Operation, PacketKind
from ...parts.flit import Header
from ..types import Address, Detail, ViaHeader
from .job import Job, JobKind, Slot

__all__ = ["PacketHeaders"]


class PacketHeaders(wiring.Component):
    """Writes wire header, VIA header and address of a job's packet, one word in each cycle, from
    the cycle on in which ``placed`` is high. For a packet without an address the third word is also
    written, but not sent.

    Latency: 3 cycles from ``placed`` to ``done``, which holds while ``placed`` does. Reset: nothing
    written.

    Members
    -------
    job : In(Job)
        Holds while ``placed``.
    placed : In(1)
        The slot is known.
    node : In(8)
        This node's number.
    write, index, data : Out(1), Out(2), Out(64)
        A word.
    meta : Out(Slot)
        Description of the packet for the slot.
    done : Out(1)
        All is written.
    """

    job: In(Job)
    placed: In(1)
    node: In(8)
    write: Out(1)
    index: Out(2)
    data: Out(64)
    meta: Out(Slot)
    done: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        job = self.job
        count = Signal(2)
        addressed = Signal()
        header = Signal(Header)
        detail = Signal(Detail)
        via = Signal(ViaHeader)
        address = Signal(Address)
        m.d.comb += self.done.eq((count == 3) & self.placed)
        with m.If(~self.placed):
            m.d.sync += count.eq(0)
        with m.Elif(count != 3):
            m.d.sync += count.eq(count + 1)
            m.d.comb += [
                self.write.eq(1),
                self.index.eq(count),
                header.route.eq(job.peer.route),
                header.length.eq(8 + Mux(addressed, 8, 0) + job.bytes),
                header.source.eq(self.node),
                header.destination.eq(job.peer.node),
                header.protocol.eq(Protocol.VIA),
                header.detail.eq(detail),
                detail.first.eq(job.first),
                detail.last.eq(job.last),
                detail.immediate.eq(job.immediate),
                detail.acknowledge.eq(job.acknowledge),
                via.destination.eq(job.peer.vi),
                via.source.eq(job.queue[1:]),
                via.sequence.eq(job.sequence),
                address.va.eq(job.remote.va + job.done),
                address.handle.eq(job.remote.handle),
            ]
            with m.Switch(job.kind):
                with m.Case(JobKind.READ):
                    m.d.comb += [detail.kind.eq(PacketKind.READ_REQUEST),
                                 via.immediate.eq(job.length)]
                with m.Case(JobKind.RESPOND):
                    m.d.comb += detail.kind.eq(PacketKind.READ_RESPONSE)
                with m.Default():
                    m.d.comb += [
                        detail.kind.eq(Mux(addressed, PacketKind.RDMA_WRITE, PacketKind.SEND)),
                        via.immediate.eq(Mux(job.last & job.immediate, job.immediate_data, 0)),
                    ]
            with m.Switch(count):
                with m.Case(0):
                    m.d.comb += self.data.eq(header)
                with m.Case(1):
                    m.d.comb += self.data.eq(via)
                with m.Default():
                    m.d.comb += self.data.eq(address)
        m.d.comb += [
            addressed.eq((job.kind == JobKind.READ) | ((job.kind == JobKind.PACKET)
                                                       & (job.operation == Operation.RDMA_WRITE))),
            self.meta.vi.eq(job.queue[1:]),
            self.meta.sequence.eq(job.sequence),
            self.meta.reliable.eq(job.reliable),
            self.meta.carries.eq(job.reliable & (job.kind != JobKind.READ)
                                 & ~(job.last & job.immediate)),
            self.meta.addressed.eq(addressed),
            self.meta.words.eq(2 + addressed + ((job.bytes + 7) >> 3)),
            self.meta.size.eq(Mux(job.bytes[:3] == 0, FLIT_BYTES, job.bytes[:3])),
            self.meta.trace.eq(job.trace),
        ]
        return m
