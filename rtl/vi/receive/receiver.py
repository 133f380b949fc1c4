"""The receive side of the VI engine: packets in, bytes in memory, descriptors completed."""

from amaranth.hdl import Cat, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ....layouts.description import Description
from ....layouts.trace import Block
from ...bus.burst_share import BurstShare
from ...parts.event import EventPort
from ...parts.receive_word import ReceiveWord
from ...parts.timing import Timing
from ..descriptors.segment_walk import SegmentWalk
from ..types import (
    ContextRead,
    Control,
    ReceivedCounts,
    Reports,
    Take,
    ToSender,
    memory_ports,
)
from .descriptor import ReceiveDescriptor
from .packet_machine import PacketMachine
from .packet_words import PacketWords
from .parse import ReceiveParse
from .receive_state import ReceiveState
from .scatter_writer import ScatterWriter

__all__ = ["Receiver"]

WORDS = 256
"""Words of data that wait for their packet's turn, or for the rest of it: at least the longest
packet's."""


class Receiver(wiring.Component):
    """Does what the packets for this node's VIs ask for, one packet at a time.

    A packet may come as slowly as the link brings it, and be found bad with its last word. Data of
    a SEND or of an answer to an RDMA read is written meanwhile, to where its descriptor's segments
    lie behind what was delivered before; that memory is nobody's before DONE. All else waits until
    the packet is known to be good, the data of RDMA writes too. A bad packet leaves everything as
    it was, but that a receive descriptor that was taken for it serves the next message.

    A packet counts only if it is from the peer of a VI that is CONNECTED, else it is ``unmatched``.
    On a reliable VI (Reliable Delivery or Reception) a packet before the expected one is a
    ``duplicate``, acknowledged again and dropped; one ahead of it is a ``gap``, dropped, and the
    first of them makes a NAK. On an unreliable VI a packet up to BEHIND before the expected one is
    a duplicate, any other is taken; a hole before it, like a message's ``first`` packet in the
    middle of another, abandons the message under way, whose receive descriptor then serves the next
    message from its beginning; packets that belong to no message are dropped.

    - SEND: the first packet takes a receive descriptor, the last completes it. No descriptor:
      ``dropped``; bad descriptor, or too short: it is completed with its error and Length as far as
      it went, and the rest of the message is dropped. An unreliable VI raises RECVQ_EMPTY for the
      first of these; a reliable one tells its peer by a BREAK and breaks. A descriptor that cannot
      be read completes silently and breaks the VI with POST_DESC.
    - RDMA_WRITE goes where it says, if the VI and the region allow it. Refused: RDMAW_PROT, or with
      immediate data the receive descriptor completes with RDMA_PROTECTION; a reliable VI breaks.
      With immediate data the last packet, once its data has landed, completes a receive descriptor.
    - READ_REQUEST becomes a ``read_job``. Refused: RDMAR_PROT, and the VI breaks.
    - READ_RESPONSE goes to the data segments of the descriptor that ``reading`` told; the last
      completes it on the send queue, then comes ``read_done``. Without a read: dropped.
    - ACK and NAK are handed on in ``acknowledged``, BREAK too, after a read outstanding was
      completed with its error; the sender breaks the VI when it has done its part.
    - So is what a data packet of a reliable VI carries, as an ACK, when the packet is over, be it a
      duplicate or behind a gap.
    - PROBE is answered at once by an ACK with its number.

    What a reliable VI's packet asks for is acknowledged once its data has landed. Immediate data is
    reported only if the descriptor has no error. ABORT completes the message and the read under way
    flushed; so is a read told of when the VI is no longer connected. ``read_lost`` completes the
    VI's read with TRANSPORT, if there is one. Whatever completes with an error after some of its
    message has landed is PARTIAL too; its Length says how much if the error was found here. After a
    break nothing of the VI counts until it is connected anew.

    Nothing here waits for the link: answers are owed, not sent (OwedAnswers), and whoever takes
    ``read_job`` does not wait either. A break, an event, ``acknowledged`` or ``read_done`` not yet
    taken lets no further packet begin, but ``control``, ``reading`` and ``read_lost`` pass.

    Latency and throughput: one packet at a time; for the next one its descriptor is taken and read
    meanwhile. ``control``, ``reading`` and ``read_lost`` wait for the packet, and so for its link.
    Back-pressure: ``i`` stalls for DMA, translations, descriptors and completions. Reset: idle; a
    VI means nothing before its CREATE.

    Parameters
    ----------
    description : Description
        Knobs: section ``via``.

    Members
    -------
    i : In(stream of ReceiveWord)
        Packets of Protocol.VIA, of which ``bad`` says that they are not to be used.
    take : Out(Take)
        Receive queues.
    context : Out(ContextRead)
        Contexts.
    memory : Out(memory_ports(translate=3, bus=2))
        Translations for descriptors' heads, their segments, data. Buses for descriptors, for data.
    control : In(stream of Control)
        The manager. Taken between packets.
    sender : Out(ToSender)
        Answers, acknowledgements and RDMA reads. ``control_packet`` is not held back: whoever takes
        it is always ready. ``reading`` and ``read_lost`` are taken between packets.
    reports : Out(Reports)
        What comes of packets.
    timing : In(Timing)
        ``bus.max_burst`` is used here.
    counts : Out(ReceivedCounts)
        Packets that do not count, and messages without a descriptor.
    idle : Out(1)
        Nothing changes until something comes in.
    events : Out(EventPort), one for BEGIN and one for END and DROP
        As in :attr:`event_sources`.

    Raises
    ------
    TypeError
        ``description`` is not a Description.
    """

    event_sources = (Block.VI_RECEIVE, Block.VI_RECEIVE)
    """Whose events :attr:`events` are."""

    def __init__(self, *, description: Description) -> None:
        if not isinstance(description, Description):
            raise TypeError(f"description must be a Description, not {description!r}")
        self._description = description
        super().__init__({
            "i": In(stream.Signature(ReceiveWord)),
            "take": Out(Take),
            "context": Out(ContextRead),
            "memory": Out(memory_ports(translate=3, bus=2)),
            "control": In(stream.Signature(Control)),
            "sender": Out(ToSender),
            "reports": Out(Reports),
            "timing": In(Timing),
            "counts": Out(ReceivedCounts),
            "idle": Out(1),
            "events": Out(EventPort).array(len(self.event_sources)),
        })

    @property
    def description(self) -> Description:
        """The description it was built from."""
        return self._description

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.parse = parse = ReceiveParse()
        m.submodules.words = words = PacketWords(depth=WORDS)
        m.submodules.descriptor = descriptor = ReceiveDescriptor()
        m.submodules.state = state = ReceiveState(vis=self._description.via.vis)
        m.submodules.machine = machine = PacketMachine()
        m.submodules.walk = walk = SegmentWalk()
        m.submodules.scatter = scatter = ScatterWriter()
        m.submodules.share = share = BurstShare()

        # A packet's way: its headers by way of the descriptor to the machine, its data to memory.
        connect(m, flipped(self.i), parse.i)
        connect(m, parse.o, descriptor.i)
        connect(m, machine.descriptor, descriptor.machine)
        connect(m, parse.data, words.i)
        connect(m, machine.words, words.turn)
        connect(m, words.o, scatter.i)
        connect(m, machine.walk, walk.user)
        connect(m, machine.scatter, scatter.run)

        # What is known of a VI, and its receive queue.
        connect(m, flipped(self.take), descriptor.take)
        connect(m, flipped(self.context), machine.context)
        connect(m, machine.state, state.entries)

        # Manager, sender, and what comes of packets.
        connect(m, flipped(self.control), machine.control)
        connect(m, flipped(self.sender), machine.sender)
        connect(m, flipped(self.reports), machine.reports)
        connect(m, flipped(self.counts), machine.counts)
        for port, event in zip(self.events, (parse.event, machine.event), strict=True):
            connect(m, flipped(port), event)

        # Memory.
        for port, part in zip(self.memory.translate, (descriptor, walk, scatter), strict=True):
            connect(m, flipped(port), part.memory.translate)
            m.d.comb += part.memory.max_beats.eq(self.timing.bus_max_burst >> 3)
        connect(m, descriptor.memory.bus, share.i[0])
        connect(m, walk.memory.bus, share.i[1])
        connect(m, flipped(self.memory.bus[0]), share.o)
        connect(m, flipped(self.memory.bus[1]), scatter.memory.bus)

        m.d.comb += self.idle.eq(Cat(part.idle for part in (
            parse, words, descriptor, machine, walk)).all())
        return m
