"""Serves the receiver's manager and sender between packets: connections, and RDMA reads."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import enum, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.via import VI_BITS, RemoteOperation, Status
from ..types import Address, Completion, Control, ControlAction, Reading
from .descriptor import Void
from .receive_state import Message, Storing
from .turn import StatusLayout, all_errors, errors_of

__all__ = ["Serve", "Service", "Serving"]


class Service(enum.Enum, shape=2):
    """The block that is served."""

    CONTROL = 0
    """The manager: a connection begins, or ends."""
    READING = 1
    """The sender, which is about to ask for the VI's RDMA read."""
    READ_LOST = 2
    """The sender: the peer of an RDMA read is silent."""


Serving = wiring.Signature({
    "valid": Out(1),
    "service": Out(Service),
    "vi": Out(VI_BITS),
    "controls": In(1),
    "over": In(1),
})
"""Whose services they are. ``valid`` begins a ``service``, of the VI that is looked up in this
cycle and is ``vi`` from the next cycle on; ``over`` is the last cycle. ``controls``: it is the
manager's."""


class Serve(wiring.Component):
    """Writes what is kept of a VI, and completes with an error what it no longer waits for.

    A VI that is created, connected or aborted has nothing under way; with ABORT its message and its
    RDMA read complete flushed. An RDMA read is held from its ``reading`` on, or, if the VI is no
    longer connected, completes flushed; one that is lost completes with TRANSPORT. What had landed
    makes a completion PARTIAL.

    Latency: 2 cycles, 1 for ``reading`` of a VI that is connected; 1 more for each completion but
    the first. Back-pressure: of ``complete``. Reset: idle.

    Members
    -------
    user : In(Serving)
        Who decides when it is whose turn.
    control, reading, read_lost : In(stream)
        Manager, and sender: taken with the end of the service.
    void : Out(Void)
        What was taken for packets of the VI that are still to come.
    message, kept_reading : In(Message)
        What is kept of the VI, in the cycle after ``valid``.
    connected : In(1)
        The VI is connected, in that cycle.
    stores : Out(Storing)
        What is kept from now on.
    complete : Out(stream of Completion)
        Descriptors.
    forgets : Out(1)
        No answer is owed to an earlier peer.
    """

    user: In(Serving)
    control: In(stream.Signature(Control))
    reading: In(stream.Signature(Reading))
    read_lost: In(stream.Signature(VI_BITS))
    void: Out(Void)
    message: In(Message)
    kept_reading: In(Message)
    connected: In(1)
    stores: Out(Storing)
    complete: Out(stream.Signature(Completion))
    forgets: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        user, void, stores = self.user, self.void, self.stores
        message, read = self.message, self.kept_reading
        completes, on_read, partial = Signal(), Signal(), Signal()
        address = Signal(Address)
        errors = Signal(8)
        flush_read = Signal()
        lost = Signal()
        offers = Signal()
        over = Signal()
        status = Signal(StatusLayout)
        payload = self.complete.payload
        flush = errors_of(Status.FLUSHED)
        m.d.comb += [
            void.vi.eq(user.vi),
            self.complete.valid.eq(offers & completes),
            over.eq(offers & (self.complete.ready | ~completes)),
            payload.queue.eq(Cat(~on_read, user.vi)),
            payload.address.eq(address),
            payload.status.eq(status),
            status.errors.eq(all_errors(errors, partial)),
            status.operation.eq(Mux(on_read, RemoteOperation.RDMA_READ, RemoteOperation.RECEIVE)),
        ]
        with m.FSM() as self._state:
            with m.State("IDLE"):
                m.d.sync += [completes.eq(0), on_read.eq(0), partial.eq(0)]
                with m.If(user.valid):
                    with m.Switch(user.service):
                        with m.Case(Service.CONTROL):
                            m.next = "CONTROL"
                        with m.Case(Service.READING):
                            m.next = "READING"
                        with m.Case(Service.READ_LOST):
                            m.next = "READ_LOST"
            with m.State("CONTROL"):
                aborts = self.control.payload.action == ControlAction.ABORT
                m.d.comb += user.controls.eq(1)
                m.d.sync += [
                    address.eq(Mux(void.held, void.address, message.address)),
                    errors.eq(flush),
                    partial.eq(message.begun & ~message.write & (message.bytes != 0)),
                    completes.eq(aborts & (void.held | message.held)),
                    flush_read.eq(aborts & read.held),
                ]
                m.next = "FLUSH"
            with m.State("FLUSH"):
                m.d.comb += [user.controls.eq(1), offers.eq(1)]
                with m.If(over):
                    m.d.sync += flush_read.eq(0)
                    with m.If(flush_read):
                        m.d.sync += [address.eq(read.address), partial.eq(read.bytes != 0),
                                     on_read.eq(1), completes.eq(1)]
                    with m.Else():
                        m.d.comb += [
                            self.control.ready.eq(1),
                            void.valid.eq(1),
                            # Nothing of an earlier connection is owed; an ABORT may owe its BREAK.
                            self.forgets.eq(self.control.payload.action != ControlAction.ABORT),
                            stores.write_sequence.eq(1),
                            stores.write_message.eq(1),
                            stores.write_reading.eq(1),
                            user.over.eq(1),
                        ]
                        m.next = "IDLE"
            with m.State("READING"):
                m.d.sync += [lost.eq(0), address.eq(self.reading.payload.address), on_read.eq(1),
                             completes.eq(1), errors.eq(flush)]
                m.next = "READ_OVER"
                with m.If(self.connected):
                    m.d.comb += [
                        stores.write_reading.eq(1),
                        stores.next_reading.held.eq(1),
                        stores.next_reading.address.eq(self.reading.payload.address),
                        self.reading.ready.eq(1),
                        user.over.eq(1),
                    ]
                    m.next = "IDLE"
            with m.State("READ_LOST"):
                m.d.sync += [lost.eq(1), address.eq(read.address), partial.eq(read.bytes != 0),
                             on_read.eq(1), completes.eq(read.held),
                             errors.eq(errors_of(Status.TRANSPORT))]
                m.d.comb += stores.write_reading.eq(1)
                m.next = "READ_OVER"
            with m.State("READ_OVER"):
                m.d.comb += offers.eq(1)
                with m.If(over):
                    m.d.comb += [self.reading.ready.eq(~lost), self.read_lost.ready.eq(lost),
                                 user.over.eq(1)]
                    m.next = "IDLE"
        return m
