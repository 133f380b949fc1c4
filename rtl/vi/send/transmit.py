"""Packets out, in this order: answers, other control packets, packets sent again, new packets."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ....layouts.packet import FLIT_BYTES, HEADER, Protocol
from ....layouts.trace import Kind
from ....layouts.via import DETAIL, VIA_HEADER, PacketKind, Reliability
from ...parts.event import EventPort
from ...parts.flit import FlitStream, Header
from ...parts.queue import Queue
from ...parts.sizes import check_power_of_two
from ..types import ContextRead, ControlPacket, Detail, ViaHeader
from .slots import Owing, slot_send

__all__ = ["SendTransmit"]

CONTROL_DEPTH = 8
ASKS = HEADER.pack(detail=DETAIL.pack(acknowledge=1))
"""The bits of the wire header that request an acknowledgement."""
CARRIES = HEADER.pack(detail=DETAIL.pack(carries=1))
"""The bits of the wire header that say that the packet carries one."""


class SendTransmit(wiring.Component):
    """Makes flits of control packets and of slots, one whole packet at a time.

    A control packet of an unreliable VI is dropped: such a VI has no acknowledgements, and its peer
    is not informed of a break. A probe's number is the time at which it left, so all packets sent
    after it have a later time.

    A slot's packet requests an acknowledgement if its job says so, or if the slots say so.

    An ACK that answers no probe becomes a separate packet only if necessary. If a queued slot of
    the same VI may carry it, it is left to the slots, and the VI's first packet to leave carries
    its sequence number; if that packet is dropped, the ACK leaves in its place (proven:
    tests/formal). If the VI gets another answer meanwhile, this leaves at once, for both. So an ACK
    waits at most for the queued packets, and not if the peer requests more. The carried number is
    chosen whenever a packet leaves, also when it is sent again.

    A slot whose data is still arriving is sent as it arrives: ``o`` is not valid in the gaps, and
    the link and all waiting packets wait. So the data must arrive without waiting for the link.

    Latency: 1 cycle from a slot being offered to its first flit, 4 from a control packet.
    Throughput: a flit a cycle, 1 cycle between packets. Back-pressure: ``control`` is not ready
    when CONTROL_DEPTH wait. Reset: idle.

    Parameters
    ----------
    slots : int
        Number of slots of the SendSlots.

    Members
    -------
    answer : In(stream of ControlPacket)
        Acknowledgements, and breaks of the receiver's.
    control : In(stream of ControlPacket)
        Probes, and breaks of the sender's.
    node, now : In(8), In(32)
        This node's number; cycle counter.
    context : Out(ContextRead)
        Peers.
    slots : Out(slot_send(bits)), owing : Out(Owing)
        The slots to send, and the acknowledgement in ``answer``.
    o : Out(FlitStream)
        Packets without CRC.
    sent, resent : Out(1), Out(1)
        A packet of a slot left, for the first time or again: high with its last flit.
    event : Out(EventPort)
        AGAIN with ``resent`` (arg: the VI).
    idle : Out(1)
        No packet under way, none to send.
    """

    def __init__(self, *, slots: int) -> None:
        check_power_of_two("slots", slots)
        self._slots = slots
        bits = ceil_log2(slots)
        # A slot is under way; it must not be sent; its packet requests an acknowledgement.
        self._sending = Signal()
        self._forgets = Signal()
        self._asks = Signal()
        # The acknowledgement that it carries.
        self._carries = Signal()
        self._carried = Signal(8)
        # A control packet is being sent.
        self._control = Signal(ControlPacket)
        self._tells = Signal()
        self._index = Signal(9)
        super().__init__({
            "answer": In(stream.Signature(ControlPacket)),
            "control": In(stream.Signature(ControlPacket)),
            "node": In(8),
            "now": In(32),
            "context": Out(ContextRead),
            "slots": Out(slot_send(bits)),
            "owing": Out(Owing),
            "o": Out(FlitStream),
            "sent": Out(1), "resent": Out(1),
            "event": Out(EventPort),
            "idle": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.queue = queue = Queue(shape=ControlPacket, depth=CONTROL_DEPTH)
        wiring.connect(m, wiring.flipped(self.control), queue.i)
        slots, read, owing = self.slots, self.slots.read, self.owing
        offer = slots.offer
        told = Signal(ControlPacket)
        control = self._control
        flit = self.o.payload
        peer = self.context.data.peer
        header = Signal(Header)
        detail = Signal(Detail)
        via = Signal(ViaHeader)
        slot = Signal.like(offer.payload)
        again = Signal()
        index, asks = self._index, self._asks
        carries, carried = self._carries, self._carried
        following = Signal(9)
        # The word to be read next, and its index in the payload; word ``index`` has been read.
        wanted = Signal(9)
        place = Signal(9)
        there = Signal()
        here = Signal()
        fronts = Signal(2)
        # Not read back from the flit: simulators take a vector that depends on a part of itself for
        # a loop, and Verilator's optimiser has compiled it wrongly.
        last = Signal()
        front = Signal(64)
        answer = self.answer.payload
        plain = Signal()
        rides = Signal()
        alone = Signal()
        m.d.comb += [
            self.context.vi.eq(control.vi),
            slots.done_slot.eq(slot),
            owing.vi.eq(answer.vi),
            owing.sequence.eq(answer.sequence),
            self.event.valid.eq(self.resent),
            self.event.kind.eq(Kind.AGAIN),
            self.event.number.eq(read.meta.trace),
            self.event.arg.eq(read.meta.vi),
            header.route.eq(peer.route),
            header.length.eq(8),
            header.source.eq(self.node),
            header.destination.eq(peer.node),
            header.protocol.eq(Protocol.VIA),
            detail.kind.eq(control.kind),
            detail.acknowledge.eq(control.echo),
            header.detail.eq(detail),
            via.destination.eq(peer.vi),
            via.source.eq(control.vi),
            via.sequence.eq(control.sequence),
            via.immediate.eq(control.code),
            plain.eq(self.answer.valid & (answer.kind == PacketKind.ACK) & ~answer.echo),
            rides.eq(plain & owing.same),
            alone.eq(self.answer.valid & ~(plain & owing.lined & (owing.same | ~owing.waits))),
        ]
        with m.FSM() as state:
            with m.State("IDLE"):
                m.d.sync += index.eq(0)
                with m.If(self.answer.valid & ~alone & ~rides):
                    m.d.comb += [owing.leave.eq(1), self.answer.ready.eq(1)]
                with m.If(alone | queue.o.valid):
                    m.d.comb += [
                        self.answer.ready.eq(alone | owing.leave),
                        owing.settle.eq(alone),
                        queue.o.ready.eq(~alone),
                        told.eq(Mux(alone, answer, queue.o.payload)),
                        self.context.vi.eq(told.vi),
                    ]
                    m.d.sync += control.eq(told)
                    m.next = "CONTROL"
                with m.Elif(offer.valid):
                    m.d.comb += [
                        offer.ready.eq(1),
                        self.answer.ready.eq(rides | owing.leave),
                        owing.settle.eq(rides),
                        read.en.eq(1),
                        read.slot.eq(offer.payload),
                    ]
                    m.d.sync += [slot.eq(offer.payload), again.eq(slots.again),
                                 here.eq(1), asks.eq(slots.asks),
                                 carries.eq(rides | slots.carries),
                                 carried.eq(Mux(rides, answer.sequence, slots.carried))]
                    m.next = "SLOT"
                    with m.If(slots.forgotten):
                        m.next = "FORGOTTEN"
            with m.State("FORGOTTEN"):
                m.d.comb += [slots.done.eq(1), self.context.vi.eq(read.meta.vi)]
                m.d.sync += [control.eq(0), control.vi.eq(read.meta.vi),
                             control.kind.eq(PacketKind.ACK), control.sequence.eq(carried)]
                m.next = "IDLE"
                with m.If(carries):
                    m.next = "CONTROL"
            with m.State("CONTROL"):
                with m.If(control.kind == PacketKind.PROBE):
                    m.d.sync += control.code.eq(self.now)
                m.next = "HEADER"
                with m.If(self.context.data.attributes.reliability
                          == Reliability.UNRELIABLE_DELIVERY):
                    m.next = "IDLE"
            with m.State("HEADER"):
                m.d.comb += [flit.data.eq(header), flit.first.eq(1), flit.size.eq(FLIT_BYTES),
                             self.o.valid.eq(1)]
                with m.If(self.o.ready):
                    m.next = "VIA"
            with m.State("VIA"):
                m.d.comb += [flit.data.eq(via), flit.last.eq(1), flit.size.eq(FLIT_BYTES),
                             self.o.valid.eq(1)]
                with m.If(self.o.ready):
                    m.next = "IDLE"
            with m.State("SLOT"):
                m.d.comb += [
                    front.eq(read.front | Mux((index == 0) & asks, ASKS, 0)
                             | Mux((index == 0) & carries, CARRIES, 0)
                             | Mux((index == 1) & carries,
                                   carried << VIA_HEADER.offset("immediate"), 0)),
                    fronts.eq(Mux(read.meta.addressed, 3, 2)),
                    following.eq(index + 1),
                    flit.data.eq(Mux(index < fronts, front, read.body)),
                    flit.first.eq(index == 0),
                    last.eq(following == read.meta.words),
                    flit.last.eq(last),
                    flit.size.eq(Mux(last, read.meta.size, FLIT_BYTES)),
                    flit.trace.eq(read.meta.trace),
                    self.o.valid.eq(here),
                    wanted.eq(Mux(here, following, index)),
                    place.eq(wanted - fronts),
                    there.eq((wanted < fronts) | ~slots.part | (slot != slots.part_slot)
                             | (place < slots.filled)),
                    read.slot.eq(slot),
                    read.front_index.eq(wanted),
                    read.body_index.eq(place),
                ]
                with m.If(~here):
                    m.d.comb += read.en.eq(there)
                    m.d.sync += here.eq(there)
                with m.Elif(self.o.ready):
                    m.d.comb += read.en.eq(~last & there)
                    m.d.sync += [index.eq(following), here.eq(there)]
                    with m.If(last):
                        m.d.comb += [slots.done.eq(1), self.sent.eq(~again), self.resent.eq(again)]
                        m.next = "IDLE"
        m.d.comb += [
            self._forgets.eq(state.ongoing("FORGOTTEN")),
            self._tells.eq(state.ongoing("CONTROL")),
            self._sending.eq(state.ongoing("SLOT") | self._forgets),
        ]
        m.d.comb += self.idle.eq(state.ongoing("IDLE") & ~queue.o.valid & (queue.level == 0)
                                 & ~self.answer.valid & ~offer.valid)
        return m
