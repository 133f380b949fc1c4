"""The send side of the VI engine: from a work queue's turn to packets, and back."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ....layouts.description import Description
from ....layouts.trace import Block
from ....layouts.via import QUEUE_BITS
from ...bus.burst_share import BurstShare
from ...parts.event import EventPort
from ...parts.flit import FlitStream
from ...parts.stream_merge import StreamMerge
from ..records import ViRecords
from ..types import (
    Break,
    Completion,
    ContextRead,
    Control,
    Reports,
    SentCounts,
    Surroundings,
    Take,
    ToSender,
    Turns,
    memory_ports,
)
from .acknowledgements import Acknowledgements
from .fetch import SendFetch
from .job import Position
from .owed_answers import OwedAnswers
from .packet_build import PacketBuild
from .read_responder import ReadResponder
from .read_timer import ReadTimer
from .slots import SendSlots
from .transmit import SendTransmit
from .unacknowledged import Unacknowledged

__all__ = ["Sender"]

_EVENT_SOURCES = (Block.VI_FETCH, Block.VI_FETCH, Block.VI_SEND, Block.VI_SEND, Block.VI_SEND)
CONTEXTS = 2


class Sender(wiring.Component):
    """Sends posted messages, answers RDMA reads, sends lost packets again, and flushes.

    Two stages with a register between them: SendFetch takes and reads descriptors and decides,
    PacketBuild gathers one packet into a send slot or completes a descriptor; a descriptor is read
    while the data of the one before it moves. After every packet of a longer message its VI goes to
    the end of the scheduler's line. SendTransmit sends the slots, following the walk that writes
    them, and lets their packets carry acknowledgements of OwedAnswers. Acknowledgements handles
    acknowledgements, time-outs and the manager's orders. Their docstrings define the semantics.

    Completions of a send queue are in posting order. A message is done: with Unreliable and
    Reliable Delivery, when its last packet is in its slot; with Reliable Reception, when that
    packet is acknowledged; an RDMA read, when the receiver reports ``read_done``. While no response
    to an RDMA read arrives, the peer gets a probe from time to time.

    Latency, on a bus that reads n beats in n + 3 cycles and with a translator that answers after 3:
    28 cycles from a turn to the first flit of an 8-byte message. Throughput: a message of one
    packet of 8 bytes in 19 cycles on one VI, in 16 on several. Back-pressure: turns wait while the
    walk stage has no slot; ``control_packet`` is always ready, from ``vis / 2`` cycles after reset
    on; ``control``, ``acknowledged``, ``read_job`` and ``read_done`` are taken within bounded
    cycles always. Reset: idle; a VI must be CREATEd before anything of it comes.

    Parameters
    ----------
    description : Description
        ``nic.mtu`` and ``via``'s ``vis``, ``window``, ``send_slots``.

    Members
    -------
    turns : Out(Turns)
        From and to the scheduler.
    take, context : Out(Take), Out(ContextRead).array(contexts)
        Work queues, contexts.
    memory : Out(memory_ports(translate=3, bus=2))
        Translations for heads of descriptors, further blocks, data. Buses for reads of descriptors,
        of data.
    control : In(stream of Control)
        The manager.
    receiver : In(ToSender)
        What the receiver tells, and what it is told.
    reports : Out(Reports)
        What is over, what is broken, RDMAR_PROT.
    tx : Out(FlitStream)
        Packets, without CRC.
    surroundings : In(Surroundings)
        Of the timing registers ``bus.max_burst``, ``via.retry_timeout``, ``via.retries``.
    counts : Out(SentCounts)
        Data packets.
    idle : Out(1)
        Nothing changes here without an input. Packets that wait for an acknowledgement and
        outstanding reads are not idle.
    events : Out(EventPort).array
        Of the blocks in :attr:`event_sources`. VI_FETCH: BEGIN when a queue's turn takes a
        descriptor (arg: the queue), END when it has come. VI_SEND: BEGIN and END of a packet,
        AGAIN when it has left again (arg: the VI).

    Raises
    ------
    TypeError
        ``description`` is not a Description.
    """

    event_sources = _EVENT_SOURCES
    """The block behind each port of ``events``."""

    def __init__(self, *, description: Description) -> None:
        if not isinstance(description, Description):
            raise TypeError(f"description must be a Description, not {description!r}")
        self._description = description
        super().__init__({
            "turns": Out(Turns),
            "take": Out(Take),
            "context": Out(ContextRead).array(CONTEXTS),
            "memory": Out(memory_ports(translate=3, bus=2)),
            "control": In(stream.Signature(Control)),
            "receiver": In(ToSender),
            "reports": Out(Reports),
            "tx": Out(FlitStream),
            "surroundings": In(Surroundings),
            "counts": Out(SentCounts),
            "idle": Out(1),
            "events": Out(EventPort).array(len(_EVENT_SOURCES)),
        })

    @property
    def description(self) -> Description:
        """The description of which it was made."""
        return self._description

    @property
    def contexts(self) -> int:
        """Ports of ``context``."""
        return CONTEXTS

    def elaborate(self, platform: object) -> Module:
        m = Module()
        via = self._description.via
        mtu = self._description.nic.mtu
        m.submodules.fetch = fetch = SendFetch(vis=via.vis, window=via.window, mtu=mtu)
        m.submodules.walk = walk = PacketBuild(mtu=mtu, slots=via.send_slots)
        m.submodules.slots = slots = SendSlots(slots=via.send_slots, words=mtu // 8)
        m.submodules.transmit = transmit = SendTransmit(slots=via.send_slots)
        m.submodules.owed = owed = OwedAnswers(vis=via.vis)
        m.submodules.back = back = Acknowledgements(vis=via.vis, window=via.window,
                                                    slots=via.send_slots)
        m.submodules.watch = watch = ReadTimer(vis=via.vis)
        m.submodules.responder = responder = ReadResponder(vis=via.vis)
        m.submodules.ring = ring = Unacknowledged(vis=via.vis, window=via.window)
        m.submodules.positions = positions = ViRecords(shape=Position, vis=via.vis, readers=2)
        m.submodules.share = share = BurstShare()
        m.submodules.wakes = wakes = StreamMerge(shape=QUEUE_BITS, inputs=4)
        m.submodules.breaks = breaks = StreamMerge(shape=Break, inputs=2)
        m.submodules.completions = completions = StreamMerge(shape=Completion, inputs=2)

        # First stage.
        connect(m, flipped(self.turns.next), fetch.next)
        connect(m, flipped(self.take), fetch.take)
        connect(m, flipped(self.context[0]), fetch.context)
        connect(m, flipped(self.memory.translate[0]), fetch.memory.translate)
        connect(m, fetch.memory.bus, share.i[0])
        connect(m, fetch.known.position, positions.read[0])
        connect(m, fetch.known.progress, back.progress[0])
        connect(m, fetch.known.response, responder.response)
        connect(m, fetch.known.newest, ring.newest)
        connect(m, fetch.work, walk.work)

        # Second stage.
        connect(m, flipped(self.memory.translate[1]), walk.chunks.translate)
        connect(m, walk.chunks.bus, share.i[1])
        connect(m, flipped(self.memory.translate[2]), walk.pieces.translate)
        connect(m, flipped(self.memory.bus[1]), walk.pieces.bus)
        connect(m, flipped(self.reports.event), walk.event)
        connect(m, flipped(self.receiver.reading), walk.reading)
        connect(m, walk.kept.failed, positions.read[1])
        connect(m, walk.kept.progress, back.progress[1])
        connect(m, walk.kept.position, positions.write)
        connect(m, walk.kept.response, responder.update)
        connect(m, walk.kept.unfinished, ring.push)
        connect(m, walk.slot, slots.write)

        # The link.
        connect(m, flipped(self.receiver.control_packet), owed.i)
        connect(m, owed.o, transmit.answer)
        connect(m, flipped(self.context[1]), transmit.context)
        connect(m, transmit.slots, slots.send)
        connect(m, transmit.owing, slots.owing)
        connect(m, flipped(self.tx), transmit.o)

        # Acknowledgements and time-outs.
        connect(m, flipped(self.control), back.control)
        connect(m, flipped(self.receiver.acknowledged), back.acknowledged)
        connect(m, flipped(self.receiver.read_done), back.reads.done)
        connect(m, flipped(self.receiver.read_lost), back.reads.lost)
        connect(m, flipped(self.receiver.read_job), responder.job)
        connect(m, back.reads.watch, watch.watched)
        connect(m, back.numbers, fetch.numbers)
        connect(m, back.ring, ring.pop)
        connect(m, back.slots, slots.wait)
        connect(m, back.abort, walk.abort)
        for port, part in zip(back.clear, (fetch, ring, responder, positions), strict=True):
            connect(m, port, part.clear)

        # What several parts say.
        connect(m, flipped(self.memory.bus[0]), share.o)
        connect(m, flipped(self.turns.wake), wakes.o)
        for port, wake in zip(wakes.i, (back.outcome.wake, walk.outcome.wake, fetch.wake,
                                        responder.wake), strict=True):
            connect(m, port, wake)
        connect(m, flipped(self.reports.break_), breaks.o)
        connect(m, flipped(self.reports.complete), completions.o)
        for n, part in enumerate((back, walk)):
            connect(m, part.outcome.break_, breaks.i[n])
            connect(m, part.outcome.complete, completions.i[n])
        for port, events in zip(self.events, (*fetch.events, *walk.events, transmit.event),
                                strict=True):
            connect(m, flipped(port), events)

        for memory in (fetch.memory, walk.chunks, walk.pieces):
            m.d.comb += memory.max_beats.eq(self.surroundings.timing.bus_max_burst >> 3)
        for part in (slots, transmit, watch):
            m.d.comb += part.now.eq(self.surroundings.now)
        for part in (slots, watch):
            m.d.comb += part.timeout.eq(self.surroundings.timing.via_retry_timeout)
        for part in (walk, transmit):
            m.d.comb += part.node.eq(self.surroundings.node)
        m.d.comb += [
            back.timing.eq(self.surroundings.timing),
            watch.begun.eq(walk.reading.valid & walk.reading.ready),
            watch.begun_vi.eq(walk.reading.payload.vi),
            self.counts.sent.eq(transmit.sent),
            self.counts.resent.eq(transmit.resent),
            self.idle.eq(fetch.idle & walk.idle & slots.idle & transmit.idle & back.idle
                         & owed.idle & responder.idle & watch.idle & wakes.idle & breaks.idle
                         & completions.idle),
        ]
        room = transmit.control.ready
        for port in (back.outcome.control_packet, walk.outcome.control_packet):
            m.d.comb += port.ready.eq(room)
            with m.If(port.valid & room):
                m.d.comb += [transmit.control.valid.eq(1),
                             transmit.control.payload.eq(port.payload)]
            room = room & ~port.valid
        return m
