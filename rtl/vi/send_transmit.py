"""Packets out: answers first, then other control packets, what is to be sent again, what is new."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ...layouts.packet import FLIT_BYTES, HEADER, Protocol
from ...layouts.via import DETAIL, VIA_HEADER, PacketKind, Reliability
from ..flit import FlitStream, Header
from ..queue import Queue
from .send_job import Slot
from .sizes import check_power_of_two
from .types import ContextRead, ControlPacket, Detail, ViaHeader

__all__ = ["SendTransmit"]

CONTROL_DEPTH = 8
ASKS = HEADER.pack(detail=DETAIL.pack(acknowledge=1))
"""What asks for an acknowledgement, in the wire header."""
CARRIES = HEADER.pack(detail=DETAIL.pack(carries=1))
"""What says that the packet carries one."""


class SendTransmit(wiring.Component):
    """Makes flits of control packets and of slots, a whole packet at a time.

    A control packet of an unreliable VI is thrown away: it has no acknowledgements, and its peer
    is not told of a break. A probe's number is the time at which it left, so that whatever was sent
    after it has a later one.

    A slot's packet asks for an acknowledgement if it was made to, or if ``slot_asks``.

    An ACK that answers no probe is a packet of its own only if it must be. If a slot in line may
    carry one and is of the same VI, it is left to the slots, and the VI's packet that leaves first
    takes its sequence number along; if that is forgotten, the ACK leaves in its place (proven:
    tests/formal). An answer of a VI that one was left for leaves at once, and stands for both. So
    an ACK waits for the packets in line at most, and not when more are asked for; and what a packet
    carries is chosen when it leaves, be it for the second time.

    A slot whose data is still coming is sent as it comes: ``o`` is not valid in between, while the
    link and what else waits for it wait. So the data must come without waiting for the link.

    Latency: 1 cycle from a slot being offered to its first flit, 4 from a control packet.
    Throughput: a flit a cycle, 1 cycle between packets. Back-pressure: ``control`` is not ready
    when CONTROL_DEPTH wait. Reset: idle.

    Parameters
    ----------
    slots : int
        Of the SendSlots.

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
    slot, slot_again, slot_asks, slot_forgotten, done, done_slot : of SendSlots
        The slot to send: ``o`` to ``sent_slot``.
    slot_carries, slot_carried, same, lined, waits, leave, settle : of SendSlots
        ``o_carries`` and ``o_carried``; ``o_same`` to ``settle``, of ``answer``.
    part, part_slot, filled : of SendWalk ``part``, ``write_slot``, ``filled``
        The slot of which only some payload words are there, if any.
    read_en ... body : of SendSlots
        Its words.
    o : Out(FlitStream)
        Packets without CRC.
    sent, resent : Out(1), Out(1)
        A packet of a slot left, for the first time or again: high with its last flit.
    idle : Out(1)
        No packet under way, none to send.
    """

    def __init__(self, *, slots: int) -> None:
        check_power_of_two("slots", slots)
        self._slots = slots
        bits = ceil_log2(slots)
        # A slot is under way; not to be sent; its packet asks for an acknowledgement.
        self._sending = Signal()
        self._forgets = Signal()
        self._asks = Signal()
        # It carries this.
        self._carries = Signal()
        self._carried = Signal(8)
        # A control packet is told.
        self._control = Signal(ControlPacket)
        self._tells = Signal()
        self._index = Signal(9)
        super().__init__({
            "answer": In(stream.Signature(ControlPacket)),
            "control": In(stream.Signature(ControlPacket)),
            "node": In(8),
            "now": In(32),
            "context": Out(ContextRead),
            "slot": In(stream.Signature(bits)), "slot_again": In(1), "slot_asks": In(1),
            "slot_forgotten": In(1),
            "slot_carries": In(1), "slot_carried": In(8),
            "same": In(1), "lined": In(1), "waits": In(1), "leave": Out(1), "settle": Out(1),
            "done": Out(1), "done_slot": Out(bits),
            "part": In(1), "part_slot": In(bits), "filled": In(8),
            "read_en": Out(1), "read_slot": Out(bits), "read_front": Out(2), "read_body": Out(8),
            "meta": In(Slot), "front": In(64), "body": In(64),
            "o": Out(FlitStream),
            "sent": Out(1), "resent": Out(1),
            "idle": Out(1),
        })

    @property
    def slots(self) -> int:
        """Of the SendSlots."""
        return self._slots

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.queue = queue = Queue(shape=ControlPacket, depth=CONTROL_DEPTH)
        wiring.connect(m, wiring.flipped(self.control), queue.i)
        told = Signal(ControlPacket)
        control = self._control
        flit = self.o.payload
        peer = self.context.data.peer
        header = Signal(Header)
        detail = Signal(Detail)
        via = Signal(ViaHeader)
        slot = Signal.like(self.slot.payload)
        again = Signal()
        index, asks = self._index, self._asks
        carries, carried = self._carries, self._carried
        following = Signal(9)
        # The word to be read next, and which of the payload that is; word ``index`` has been read.
        wanted = Signal(9)
        place = Signal(9)
        there = Signal()
        here = Signal()
        fronts = Signal(2)
        # Not read back from the flit: a vector that a part of itself depends on is a loop to
        # simulators, and Verilator's optimiser has got it wrong.
        last = Signal()
        front = Signal(64)
        answer = self.answer.payload
        plain = Signal()
        rides = Signal()
        alone = Signal()
        m.d.comb += [
            self.context.vi.eq(control.vi),
            self.done_slot.eq(slot),
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
            rides.eq(plain & self.same),
            alone.eq(self.answer.valid & ~(plain & self.lined & (self.same | ~self.waits))),
        ]
        with m.FSM() as state:
            with m.State("IDLE"):
                m.d.sync += index.eq(0)
                with m.If(self.answer.valid & ~alone & ~rides):
                    m.d.comb += [self.leave.eq(1), self.answer.ready.eq(1)]
                with m.If(alone | queue.o.valid):
                    m.d.comb += [
                        self.answer.ready.eq(alone | self.leave),
                        self.settle.eq(alone),
                        queue.o.ready.eq(~alone),
                        told.eq(Mux(alone, answer, queue.o.payload)),
                        self.context.vi.eq(told.vi),
                    ]
                    m.d.sync += control.eq(told)
                    m.next = "CONTROL"
                with m.Elif(self.slot.valid):
                    m.d.comb += [
                        self.slot.ready.eq(1),
                        self.answer.ready.eq(rides | self.leave),
                        self.settle.eq(rides),
                        self.read_en.eq(1),
                        self.read_slot.eq(self.slot.payload),
                    ]
                    m.d.sync += [slot.eq(self.slot.payload), again.eq(self.slot_again),
                                 here.eq(1), asks.eq(self.slot_asks),
                                 carries.eq(rides | self.slot_carries),
                                 carried.eq(Mux(rides, answer.sequence, self.slot_carried))]
                    m.next = "SLOT"
                    with m.If(self.slot_forgotten):
                        m.next = "FORGOTTEN"
            with m.State("FORGOTTEN"):
                m.d.comb += [self.done.eq(1), self.context.vi.eq(self.meta.vi)]
                m.d.sync += [control.eq(0), control.vi.eq(self.meta.vi),
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
                    front.eq(self.front | Mux((index == 0) & asks, ASKS, 0)
                             | Mux((index == 0) & carries, CARRIES, 0)
                             | Mux((index == 1) & carries,
                                   carried << VIA_HEADER.offset("immediate"), 0)),
                    fronts.eq(Mux(self.meta.addressed, 3, 2)),
                    following.eq(index + 1),
                    flit.data.eq(Mux(index < fronts, front, self.body)),
                    flit.first.eq(index == 0),
                    last.eq(following == self.meta.words),
                    flit.last.eq(last),
                    flit.size.eq(Mux(last, self.meta.size, FLIT_BYTES)),
                    flit.trace.eq(self.meta.trace),
                    self.o.valid.eq(here),
                    wanted.eq(Mux(here, following, index)),
                    place.eq(wanted - fronts),
                    there.eq((wanted < fronts) | ~self.part | (slot != self.part_slot)
                             | (place < self.filled)),
                    self.read_slot.eq(slot),
                    self.read_front.eq(wanted),
                    self.read_body.eq(place),
                ]
                with m.If(~here):
                    m.d.comb += self.read_en.eq(there)
                    m.d.sync += here.eq(there)
                with m.Elif(self.o.ready):
                    m.d.comb += self.read_en.eq(~last & there)
                    m.d.sync += [index.eq(following), here.eq(there)]
                    with m.If(last):
                        m.d.comb += [self.done.eq(1), self.sent.eq(~again), self.resent.eq(again)]
                        m.next = "IDLE"
        m.d.comb += [
            self._forgets.eq(state.ongoing("FORGOTTEN")),
            self._tells.eq(state.ongoing("CONTROL")),
            self._sending.eq(state.ongoing("SLOT") | self._forgets),
        ]
        m.d.comb += self.idle.eq(state.ongoing("IDLE") & ~queue.o.valid & (queue.level == 0)
                                 & ~self.answer.valid & ~self.slot.valid)
        return m
