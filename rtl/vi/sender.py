"""The send side of the VI engine: from a work queue's turn to packets, and back."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ...layouts.description import Description
from ...layouts.trace import Block, Kind
from ...layouts.via import QUEUE_BITS, VI_BITS
from ..burst import Burst
from ..event import EventPort
from ..flit import FlitStream
from ..timing import Timing
from .burst_share import BurstShare
from .owed_answers import OwedAnswers
from .read_responder import ReadResponder
from .read_watch import ReadWatch
from .send_acknowledged import SendAcknowledged
from .send_fetch import SendFetch
from .send_job import Position
from .send_ring import SendRing
from .send_slots import SendSlots
from .send_transmit import SendTransmit
from .send_walk import SendWalk
from .stream_merge import StreamMerge
from .types import (
    Acknowledged,
    Break,
    Completion,
    ContextRead,
    Control,
    ControlPacket,
    EngineEvent,
    Reading,
    ReadJob,
    Take,
    Translate,
)
from .vi_records import ViRecords

__all__ = ["Sender"]

_EVENT_SOURCES = (Block.VI_FETCH, Block.VI_FETCH, Block.VI_SEND, Block.VI_SEND, Block.VI_SEND)
CONTEXTS = 2


class Sender(wiring.Component):
    """Sends what is posted, answers RDMA reads, sends again what is not acknowledged, and flushes.

    Two stages with a register between them: SendFetch takes and reads descriptors and decides,
    SendWalk gathers one packet into a send slot or completes a descriptor; a descriptor is read
    while the data of the one before it moves. After every packet of a longer message its VI goes
    to the end of the scheduler's line. SendTransmit sends the slots, a packet's words behind the
    walk that writes them, and has their packets carry what OwedAnswers owes; SendAcknowledged
    handles what comes back, time-outs and the manager's orders. The semantics are theirs.

    Completions of a send queue are in posting order. A message is over: Unreliable and Reliable
    Delivery, when its last packet is in its slot; Reliable Reception, when that is acknowledged; an
    RDMA read, when the receiver says ``read_done``; its request is only the beginning, and while
    nothing comes the peer is asked from time to time whether it is there.

    Latency, on a bus that reads n beats in n + 3 cycles and with a translator that answers after 3:
    28 cycles from ``next`` to the first flit of an 8-byte message. Throughput: a message of one
    packet of 8 bytes in 19 cycles on one VI, in 16 on several. Back-pressure: ``next`` waits while
    the walk stage has no slot; ``control_packet`` is always ready, from ``vis / 2`` cycles after
    reset on; ``control``, ``acknowledged``, ``read_job`` and ``read_done`` are taken within bounded
    cycles always. Reset: idle; a VI must be CREATEd before anything of it comes.

    Parameters
    ----------
    description : Description
        ``nic.mtu`` and ``via``'s ``vis``, ``window``, ``send_slots``.

    Members
    -------
    next, wake : In(stream of QUEUE_BITS), Out(stream of QUEUE_BITS)
        From and to the scheduler.
    take, context : Out(Take), Out(ContextRead).array(contexts)
        Work queues, contexts.
    translate : Out(Translate).array(3)
        Heads of descriptors, further blocks, data.
    bus : Out(Burst).array(2)
        Reads of descriptors, of data.
    complete, break_, event : Out(stream of Completion, Break, EngineEvent)
        What is over, what is broken, RDMAR_PROT.
    control : In(stream of Control)
        The manager.
    control_packet, acknowledged, read_job, read_done : In(stream)
        From the receiver.
    reading : Out(stream of Reading)
        To the receiver. It must complete the descriptor from then on, even if the VI has just been
        aborted there.
    read_lost : Out(stream of VI_BITS)
        To the receiver: the peer of this VI is silent, its read outstanding is over with TRANSPORT.
        The break comes after it.
    tx : Out(FlitStream)
        Packets, without CRC.
    node, timing, now : In(8), In(Timing), In(32)
        This node's number; ``bus.max_burst``, ``via.retry_timeout``, ``via.retries``; cycle
        counter.
    sent, resent : Out(1), Out(1)
        A data packet left, for the first time or again.
    idle : Out(1)
        Nothing changes here until something comes in; packets that wait for an acknowledgement
        and reads that are outstanding are not idle.
    events : Out(EventPort).array
        Of the blocks in :attr:`event_sources`. VI_FETCH: BEGIN when a queue's turn takes a
        descriptor (arg: the queue), END when it has come. VI_SEND: BEGIN and END of a packet,
        AGAIN when it has left again (arg: the VI).

    Raises
    ------
    TypeError
        ``description`` is not a Description.
    """

    def __init__(self, *, description: Description) -> None:
        if not isinstance(description, Description):
            raise TypeError(f"description must be a Description, not {description!r}")
        self._description = description
        super().__init__({
            "next": In(stream.Signature(QUEUE_BITS)),
            "wake": Out(stream.Signature(QUEUE_BITS)),
            "take": Out(Take),
            "context": Out(ContextRead).array(CONTEXTS),
            "translate": Out(Translate).array(3),
            "bus": Out(Burst).array(2),
            "complete": Out(stream.Signature(Completion)),
            "control": In(stream.Signature(Control)),
            "break_": Out(stream.Signature(Break)),
            "control_packet": In(stream.Signature(ControlPacket)),
            "acknowledged": In(stream.Signature(Acknowledged)),
            "read_job": In(stream.Signature(ReadJob)),
            "reading": Out(stream.Signature(Reading)),
            "read_done": In(stream.Signature(VI_BITS)),
            "read_lost": Out(stream.Signature(VI_BITS)),
            "tx": Out(FlitStream),
            "node": In(8),
            "timing": In(Timing),
            "now": In(32),
            "event": Out(stream.Signature(EngineEvent)),
            "sent": Out(1),
            "resent": Out(1),
            "idle": Out(1),
            "events": Out(EventPort).array(len(_EVENT_SOURCES)),
        })

    @property
    def description(self) -> Description:
        """What it was made from."""
        return self._description

    @property
    def contexts(self) -> int:
        """Ports of ``context``."""
        return CONTEXTS

    @property
    def event_sources(self) -> tuple[Block, ...]:
        """The block behind each port of ``events``."""
        return _EVENT_SOURCES

    def elaborate(self, platform: object) -> Module:
        m = Module()
        via = self._description.via
        mtu = self._description.nic.mtu
        m.submodules.fetch = fetch = SendFetch(vis=via.vis, window=via.window, mtu=mtu)
        m.submodules.walk = walk = SendWalk(mtu=mtu, slots=via.send_slots)
        m.submodules.slots = slots = SendSlots(slots=via.send_slots, words=mtu // 8)
        m.submodules.transmit = transmit = SendTransmit(slots=via.send_slots)
        m.submodules.owed = owed = OwedAnswers(vis=via.vis)
        m.submodules.back = back = SendAcknowledged(vis=via.vis, window=via.window,
                                                    slots=via.send_slots)
        m.submodules.watch = watch = ReadWatch(vis=via.vis)
        m.submodules.responder = responder = ReadResponder(vis=via.vis)
        m.submodules.ring = ring = SendRing(vis=via.vis, window=via.window)
        m.submodules.positions = positions = ViRecords(shape=Position, vis=via.vis, readers=2)
        m.submodules.share = share = BurstShare()
        m.submodules.wakes = wakes = StreamMerge(shape=QUEUE_BITS, inputs=4)
        m.submodules.breaks = breaks = StreamMerge(shape=Break, inputs=2)
        m.submodules.completions = completions = StreamMerge(shape=Completion, inputs=2)
        max_beats = self.timing.bus_max_burst >> 3

        # First stage.
        connect(m, flipped(self.next), fetch.next)
        connect(m, flipped(self.take), fetch.take)
        connect(m, flipped(self.context[0]), fetch.context)
        connect(m, flipped(self.translate[0]), fetch.translate)
        connect(m, walk.job, fetch.job)
        m.d.comb += [
            fetch.max_beats.eq(max_beats),
            positions.read[1].en.eq(walk.look), positions.read[1].vi.eq(walk.look_vi),
            walk.failed.eq(positions.read[1].data.failed),
            walk.push_place.eq(ring.push_newest),
            positions.read[0].en.eq(fetch.look), positions.read[0].vi.eq(fetch.look_vi),
            back.look[0].eq(fetch.look), back.look_vi[0].eq(fetch.look_vi),
            responder.look.eq(fetch.look), responder.look_vi.eq(fetch.look_vi),
            ring.spare_look.eq(fetch.look), ring.spare_vi.eq(fetch.look_vi),
            fetch.position.eq(positions.read[0].data),
            fetch.progress.eq(back.progress[0]),
            fetch.response.eq(responder.response),
            fetch.newest.eq(ring.spare_newest),
        ]

        # Second stage.
        connect(m, flipped(self.translate[1]), walk.chunks)
        connect(m, flipped(self.translate[2]), walk.piece)
        connect(m, flipped(self.bus[0]), share.o)
        connect(m, share.i[0], fetch.bus)
        connect(m, share.i[1], walk.chunk_bus)
        connect(m, flipped(self.bus[1]), walk.bus)
        connect(m, flipped(self.event), walk.event)
        connect(m, flipped(self.reading), walk.reading)
        m.d.comb += [
            walk.node.eq(self.node),
            fetch.exclusive.eq(walk.exclusive), fetch.exclusive_vi.eq(walk.look_vi),
            walk.max_beats.eq(max_beats),
            back.look[1].eq(walk.look), back.look_vi[1].eq(walk.look_vi),
            walk.progress.eq(back.progress[1]),
            ring.push_look.eq(walk.push_look), ring.push_vi.eq(walk.look_vi),
            ring.push.eq(walk.push), ring.entry.eq(walk.entry),
            positions.write.eq(walk.position_write), positions.write_vi.eq(walk.look_vi),
            positions.write_data.eq(walk.position),
            responder.update.eq(walk.response_write), responder.update_vi.eq(walk.look_vi),
            responder.update_data.eq(walk.response),
            walk.free.eq(slots.free), walk.free_slot.eq(slots.free_slot),
            slots.write_slot.eq(walk.write_slot),
            slots.front_write.eq(walk.front_write), slots.front_index.eq(walk.front_index),
            slots.front_data.eq(walk.front_data),
            slots.body_write.eq(walk.body_write), slots.body_index.eq(walk.body_index),
            slots.body_data.eq(walk.body_data),
            slots.commit.eq(walk.commit), slots.meta.eq(walk.meta),
            transmit.part.eq(walk.part), transmit.part_slot.eq(walk.write_slot),
            transmit.filled.eq(walk.filled),
            walk.abort.eq(back.abort), walk.abort_vi.eq(back.abort_vi),
        ]
        self._back(m, back, fetch, walk, slots, ring, responder, positions)
        self._watch(m, watch, back, walk)
        connect(m, flipped(self.control_packet), owed.i)
        connect(m, owed.o, transmit.answer)
        self._transmit(m, transmit, slots, back, walk)

        # What several parts say.
        connect(m, flipped(self.wake), wakes.o)
        for port, part in zip(wakes.i, (back, walk, fetch, responder), strict=True):
            connect(m, port, part.wake)
        connect(m, flipped(self.break_), breaks.o)
        for port, part in zip(breaks.i, (back, walk), strict=True):
            connect(m, port, part.break_)
        connect(m, flipped(self.complete), completions.o)
        for port, part in zip(completions.i, (back, walk), strict=True):
            connect(m, port, part.complete)

        m.d.comb += [
            self.sent.eq(transmit.sent),
            self.resent.eq(transmit.resent),
            self.idle.eq(fetch.idle & walk.idle & slots.idle & transmit.idle & back.idle
                         & owed.idle & responder.idle & watch.idle & wakes.idle & breaks.idle
                         & completions.idle),
            self.events[0].valid.eq(fetch.turn), self.events[0].kind.eq(Kind.BEGIN),
            self.events[0].arg.eq(fetch.queue),
            self.events[1].valid.eq(fetch.came), self.events[1].kind.eq(Kind.END),
            self.events[1].number.eq(fetch.trace), self.events[1].arg.eq(fetch.came_queue),
            self.events[2].valid.eq(walk.begin), self.events[2].kind.eq(Kind.BEGIN),
            self.events[2].number.eq(walk.trace),
            self.events[3].valid.eq(walk.end), self.events[3].kind.eq(Kind.END),
            self.events[3].number.eq(walk.trace),
            self.events[4].valid.eq(transmit.resent), self.events[4].kind.eq(Kind.AGAIN),
            self.events[4].number.eq(slots.meta_read.trace),
            self.events[4].arg.eq(slots.meta_read.vi),
        ]
        return m

    def _back(self, m: Module, back: SendAcknowledged, fetch: SendFetch, walk: SendWalk,
              slots: SendSlots, ring: SendRing, responder: ReadResponder,
              positions: ViRecords) -> None:
        connect(m, flipped(self.control), back.control)
        connect(m, flipped(self.acknowledged), back.acknowledged)
        connect(m, flipped(self.read_done), back.read_done)
        connect(m, flipped(self.read_job), responder.job)
        m.d.comb += [
            back.timeout.eq(self.timing.via_retry_timeout),
            back.retries.eq(self.timing.via_retries),
            fetch.numbers_look.eq(back.numbers_look), fetch.numbers_vi.eq(back.numbers_vi),
            back.numbers_next.eq(fetch.numbers_next),
            back.numbers_reads.eq(fetch.numbers_reads),
            ring.look.eq(back.ring_look), ring.look_vi.eq(back.ring_vi),
            back.newest.eq(ring.newest),
            ring.read.eq(back.ring_read), ring.read_place.eq(back.ring_place),
            back.oldest.eq(ring.oldest),
            back.quiet.eq(walk.quiet),
            back.writing.eq(fetch.writing | walk.push | walk.position_write
                            | walk.response_write),
            slots.release.valid.eq(back.release.valid), slots.release.all.eq(back.release.all),
            slots.release.vi.eq(back.release.vi),
            slots.release.sequence.eq(back.release.sequence),
            slots.look_vi.eq(back.slot_vi), slots.look_sequence.eq(back.slot_sequence),
            back.found.eq(slots.found), back.found_slot.eq(slots.found_slot),
            back.found_waits.eq(slots.found_waits), back.found_sent.eq(slots.found_sent),
            slots.again.eq(back.again), slots.again_slot.eq(back.again_slot),
            back.expired.eq(slots.expired), back.expired_vi.eq(slots.expired_vi),
            back.expired_sequence.eq(slots.expired_sequence),
            slots.extend.eq(back.extend), slots.extension.eq(back.extension),
            slots.now.eq(self.now), slots.timeout.eq(self.timing.via_retry_timeout),
        ]
        for part in (fetch, ring, responder, positions):
            m.d.comb += [part.clear.eq(back.clear), part.clear_vi.eq(back.clear_vi)]

    def _watch(self, m: Module, watch: ReadWatch, back: SendAcknowledged, walk: SendWalk) -> None:
        connect(m, watch.o, back.watched)
        connect(m, flipped(self.read_lost), back.read_lost)
        m.d.comb += [
            watch.begun.eq(walk.reading.valid & walk.reading.ready),
            watch.begun_vi.eq(walk.look_vi),
            watch.done.eq(back.read_over), watch.done_vi.eq(back.clear_vi),
            watch.again.eq(back.watch_again), watch.again_vi.eq(back.clear_vi),
            watch.now.eq(self.now), watch.timeout.eq(self.timing.via_retry_timeout),
        ]

    def _transmit(self, m: Module, transmit: SendTransmit, slots: SendSlots,
                  back: SendAcknowledged, walk: SendWalk) -> None:
        connect(m, flipped(self.context[1]), transmit.context)
        connect(m, flipped(self.tx), transmit.o)
        connect(m, transmit.slot, slots.o)
        m.d.comb += [
            transmit.node.eq(self.node),
            transmit.slot_again.eq(slots.o_again),
            slots.owed.eq(transmit.answer.payload.vi),
            slots.owed_sequence.eq(transmit.answer.payload.sequence),
            slots.leave.eq(transmit.leave), slots.settle.eq(transmit.settle),
            transmit.same.eq(slots.o_same), transmit.lined.eq(slots.owed_lined),
            transmit.waits.eq(slots.owed_waits),
            transmit.slot_carries.eq(slots.o_carries),
            transmit.slot_carried.eq(slots.o_carried),
            transmit.slot_forgotten.eq(slots.forgotten),
            transmit.slot_asks.eq(slots.o_asks), transmit.now.eq(self.now),
            slots.sent.eq(transmit.done), slots.sent_slot.eq(transmit.done_slot),
            slots.read_en.eq(transmit.read_en), slots.read_slot.eq(transmit.read_slot),
            slots.read_front.eq(transmit.read_front), slots.read_body.eq(transmit.read_body),
            transmit.meta.eq(slots.meta_read),
            transmit.front.eq(slots.front), transmit.body.eq(slots.body),
        ]
        ports = (back.control_packet, walk.control_packet)
        room = transmit.control.ready
        for port in ports:
            m.d.comb += port.ready.eq(room)
            with m.If(port.valid & room):
                m.d.comb += [transmit.control.valid.eq(1),
                             transmit.control.payload.eq(port.payload)]
            room = room & ~port.valid
