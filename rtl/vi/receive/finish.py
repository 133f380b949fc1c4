"""Ends a packet in the receiver: completes its descriptor, stores what is kept, tells others."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.via import VI_BITS, PacketKind, RemoteOperation
from ..types import Acknowledged, Reports
from .receive_state import Message, Storing
from .turn import Answering, StatusLayout, Turn, all_errors, carries

__all__ = ["Finish", "Finishing"]

Finishing = wiring.Signature({
    "begin": Out(1),
    "tell": Out(1),
    "whole": Out(1),
    "good": Out(1),
    "index": Out(8),
    "offset": Out(32),
    "looks": In(1),
    "busy": In(1),
    "waits": In(1),
    "over": In(1),
    "ended": In(1),
    "clear": In(1),
})
"""Whose packet it is. ``begin`` ends it, from the next cycle on; ``ended`` is the last cycle, with
``over`` if it counts. ``tell``: it does not count, but what it says to the sender does.

``whole``: the packet is here, and it is then ``good`` or not. ``index``, ``offset``: where its data
ends in its descriptor's segments. ``looks``: in this cycle its VI's entries are looked up.
``busy``: a packet ends; ``waits``: it has not ended as a bad one. ``clear``: nothing of the last
one is still to be taken by others."""


class Finish(wiring.Component):
    """Waits until the packet is known to be good, completes its descriptor, stores what is kept of
    its VI, and tells the others. A bad packet is over as if it had not come, but that a receive
    descriptor taken for it is held.

    Latency: 1 cycle from ``begin`` to ``over``, if the packet is whole; a bad one takes 2. What is
    told comes 1 cycle later. Back-pressure: of ``reports.complete``; the others hold until they are
    taken, while another packet may begin only when they are ``clear``. Reset: nothing to be told.

    Members
    -------
    user : In(Finishing)
        Whose packet it is.
    turn : In(Turn)
        The packet and its fate. Hold from the cycle after ``begin``.
    message : In(Message)
        What is kept of the VI, in the cycle after ``looks``.
    stores : Out(Storing)
        What is kept from now on.
    reports : Out(Reports)
        The completion; a broken connection; an event.
    acknowledged, read_done : Out(stream)
        What the sender is told.
    answer : Out(Answering)
        ACK, or BREAK.
    """

    user: In(Finishing)
    turn: In(Turn)
    message: In(Message)
    stores: Out(Storing)
    reports: Out(Reports)
    acknowledged: Out(stream.Signature(Acknowledged))
    read_done: Out(stream.Signature(VI_BITS))
    answer: Out(Answering)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        user, turn, stores, reports = self.user, self.turn, self.stores, self.reports
        saved = Signal(Message)
        fresh = Signal()
        told = (reports.break_, reports.event, self.read_done, self.acknowledged)
        m.d.comb += [
            saved.eq(turn.message),
            stores.next_message.eq(saved),
            stores.next_reading.eq(saved),
            stores.next_sequence.eq(turn.sequence),
            stores.next_sequence.broken.eq(turn.breaks | turn.lost),
            user.clear.eq(~reports.break_.valid & ~reports.event.valid & ~self.read_done.valid
                          & (~self.acknowledged.valid | self.acknowledged.ready)),
        ]
        with m.If(turn.walked):
            m.d.comb += [saved.index.eq(user.index), saved.offset.eq(user.offset)]
        for pending in told:
            with m.If(pending.ready):
                m.d.sync += pending.valid.eq(0)
        m.d.sync += fresh.eq(1)
        with m.FSM() as self._state:
            with m.State("IDLE"):
                with m.If(user.begin):
                    m.next = "FINISH"
            with m.State("FINISH"):
                m.d.comb += [user.busy.eq(1), user.waits.eq(1)]
                with m.If(user.good):
                    m.d.sync += fresh.eq(0)
                    with m.If(fresh & turn.acknowledges & ~turn.breaks):
                        m.d.comb += [self.answer.valid.eq(1), self.answer.kind.eq(PacketKind.ACK)]
                    m.d.comb += reports.complete.valid.eq(turn.completes)
                    with m.If(reports.complete.ready | ~turn.completes):
                        m.d.comb += [user.over.eq(1), user.ended.eq(1)]
                        m.next = "IDLE"
                with m.Elif(user.whole):
                    m.d.comb += user.looks.eq(1)
                    m.next = "VOID"
            with m.State("VOID"):
                m.d.comb += [
                    user.busy.eq(1), user.ended.eq(1),
                    stores.write_message.eq(turn.took),
                    stores.next_message.eq(self.message),
                    stores.next_message.held.eq(1),
                    stores.next_message.address.eq(turn.message.address),
                ]
                m.next = "IDLE"
        with m.If(user.over):
            m.d.comb += [
                stores.write_sequence.eq(1),
                stores.write_message.eq(~turn.on_read),
                stores.write_reading.eq(turn.on_read),
            ]
            m.d.sync += [
                self.read_done.valid.eq(turn.on_read & turn.completes & (turn.errors == 0)),
                reports.break_.valid.eq(turn.breaks),
                reports.event.valid.eq(turn.raises),
                self.acknowledged.valid.eq(turn.replies | carries(turn.packet) & turn.reliable),
            ]
            with m.If(turn.tells):
                m.d.comb += [self.answer.valid.eq(1), self.answer.kind.eq(PacketKind.BREAK)]
        with m.If(user.tell):
            m.d.sync += self.acknowledged.valid.eq(1)
        with m.If(user.over | user.tell):
            self._say(m)
        self._completion(m)
        return m

    def _say(self, m: Module) -> None:
        """What others are told; that they are is said elsewhere."""
        turn, reports, packet = self.turn, self.reports, self.turn.packet
        kind, out = packet.detail.kind, self.acknowledged.payload
        m.d.sync += [
            self.read_done.payload.eq(turn.vi),
            reports.break_.payload.vi.eq(turn.vi),
            reports.break_.payload.event.eq(turn.break_event),
            reports.event.payload.code.eq(turn.event_code),
            reports.event.payload.number.eq(turn.vi),
            out.vi.eq(turn.vi),
            out.sequence.eq(Mux(carries(packet), packet.header.immediate[:8],
                                packet.header.sequence)),
            out.again.eq(kind == PacketKind.NAK),
            out.echo.eq((kind == PacketKind.ACK) & packet.detail.acknowledge),
            out.broken.eq(kind == PacketKind.BREAK),
            out.code.eq(packet.header.immediate),
        ]

    def _completion(self, m: Module) -> None:
        """The descriptor's completion."""
        turn, payload = self.turn, self.reports.complete.payload
        status = Signal(StatusLayout)
        m.d.comb += [
            payload.queue.eq(Cat(~turn.on_read, turn.vi)),
            payload.address.eq(turn.message.address),
            payload.length.eq(turn.message.bytes),
            payload.immediate.eq(turn.packet.header.immediate),
            payload.status.eq(status),
            payload.silent.eq(turn.silent),
            payload.trace.eq(turn.packet.trace),
            status.errors.eq(all_errors(turn.errors, turn.partial | (turn.message.bytes != 0))),
            status.operation.eq(Mux(turn.on_read, RemoteOperation.RDMA_READ, Mux(
                turn.packet.detail.kind == PacketKind.RDMA_WRITE,
                RemoteOperation.REMOTE_RDMA_WRITE, RemoteOperation.RECEIVE))),
            status.immediate.eq(turn.packet.detail.immediate & ~turn.on_read
                                & (turn.errors == 0)),
        ]
