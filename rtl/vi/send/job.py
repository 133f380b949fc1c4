"""Structs and signatures between the parts of the sender."""

from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.packet import TRACE_BITS
from ....layouts.via import QUEUE_BITS, VI_BITS
from ..descriptors.segment_walk import Head
from ..types import Address, Break, Completion, ControlPacket, PeerLayout

__all__ = ["Abort", "Job", "JobKind", "LENGTH_BITS", "Numbers", "Outcome", "Position", "Progress",
           "Release", "Response", "Slot", "Unfinished", "Work", "before"]

LENGTH_BITS = 25
"""Bits of a message's length: MaxTransferSize has 24 bits."""


class JobKind(enum.Enum, shape=3):
    """Kinds of jobs for the walk stage."""

    PACKET = 0
    """Gather a packet of a SEND or RDMA write."""
    COMPLETE = 1
    """Only complete the descriptor, with ``errors``."""
    PARK = 2
    """Only store the descriptor: an RDMA read that has to wait."""
    READ = 3
    """Check an RDMA read's segments, then send its request."""
    RESPOND = 4
    """Gather a packet of a response to the peer's RDMA read."""
    BREAK = 5
    """Break the connection: all descriptors before the one in error have completed."""


class Job(data.Struct):
    """From the fetch stage to the walk stage: one packet, or one completion.

    ``errors`` are the error bits of Status (bit 0 unused); ``breaks``: the connection is lost with
    it. ``exclusive``: until the walk stage is through with it, nothing of this VI is looked at; it
    then wakes the VI. ``resumed``: the descriptor's Position is kept. ``fresh``: ``head`` was
    read. ``bytes`` of the packet, which begins ``done`` bytes into the message.
    """

    kind: JobKind
    queue: QUEUE_BITS
    address: Address
    errors: 9
    silent: 1
    breaks: 1
    exclusive: 1
    resumed: 1
    operation: 2
    immediate: 1
    immediate_data: 32
    length: LENGTH_BITS
    segments: 8
    trace: TRACE_BITS
    tag: 16
    reliable: 1
    until_received: 1
    peer: PeerLayout
    remote: Address
    remote_wide: 1
    fresh: 1
    head: Head
    index: 8
    offset: 32
    done: LENGTH_BITS
    bytes: 11
    first: 1
    last: 1
    sequence: 8
    acknowledge: 1


class Numbers(data.Struct):
    """State of a VI: the next packet's sequence number, packets since the last one that requested
    an acknowledgement, a bit that changes with every RDMA read begun, and whether the last
    descriptor had more than one segment; the next one is then expected to have more, too."""

    following: 8
    since: 6
    reads: 1
    long: 1


class Position(data.Struct):
    """State of a VI: the send descriptor that was taken and is not done (``active``), and how much
    of it was sent. ``begun``: a part was sent. ``failed``: instead, a descriptor was in error, and
    nothing more is sent; ``armed``: the connection breaks when the oldest unfinished descriptor is
    in ``place``."""

    active: 1
    begun: 1
    failed: 1
    armed: 1
    place: 6
    address: Address
    index: 8
    offset: 32
    done: LENGTH_BITS
    operation: 2
    trace: TRACE_BITS


class Response(data.Struct):
    """State of a VI: the rest of the response to the peer's RDMA read."""

    active: 1
    begun: 1
    address: Address
    left: LENGTH_BITS


class Progress(data.Struct):
    """State of a VI: ``acknowledged``, the sequence number before which all packets have arrived;
    ``retries``, time-outs since it last grew; ``oldest``, the place of the oldest unfinished
    descriptor; ``read_done``, changes with every RDMA read that has ended; ``connected``: from
    CONNECT to ABORT, when the receiver has completed the descriptors under way; ``failure``, error
    bits of Status for the descriptor under way."""

    acknowledged: 8
    retries: 8
    oldest: 6
    read_done: 1
    connected: 1
    failure: 9


class Unfinished(data.Struct):
    """A Reliable Reception descriptor whose packets were all sent. It is done when ``sequence``,
    its last packet's, is acknowledged. With ``errors`` it was not sent, and is done when the VI
    aborts."""

    address: Address
    length: LENGTH_BITS
    operation: 2
    trace: TRACE_BITS
    sequence: 8
    errors: 9
    silent: 1


class Slot(data.Struct):
    """A whole packet of ``words`` words with headers, the last with ``size`` valid bytes; 3 words
    of header if ``addressed``, else 2. If it is not ``reliable``, it is dropped when it was sent.
    ``carries``: it carries an acknowledgement if there is one."""

    vi: VI_BITS
    sequence: 8
    reliable: 1
    carries: 1
    addressed: 1
    words: 9
    size: 4
    trace: TRACE_BITS


Work = wiring.Signature({
    "job": Out(stream.Signature(Job)),
    "exclusive": In(1),
    "vi": In(VI_BITS),
})
"""Jobs, each taken when the previous one is done; whether the current one, of ``vi``, is
``exclusive``."""


Abort = wiring.Signature({
    "valid": Out(1),
    "vi": Out(VI_BITS),
    "quiet": In(1),
})
"""``valid``, held for ``vi``, stops a job of that VI at the next point at which no slot is half
written and no burst under way. ``quiet`` reports that it has stopped, or that there is none."""


Outcome = wiring.Signature({
    "complete": Out(stream.Signature(Completion)),
    "break_": Out(stream.Signature(Break)),
    "wake": Out(stream.Signature(QUEUE_BITS)),
    "control_packet": Out(stream.Signature(ControlPacket)),
})
"""Results of a VI's descriptors: completions, broken connections, a queue to wake, control packets
to the peer."""


Release = wiring.Signature({
    "valid": Out(1),
    "all": Out(1),
    "vi": Out(VI_BITS),
    "sequence": Out(8),
})
"""A cycle with ``valid`` drops the packets of ``vi`` before ``sequence``, or ``all`` of them."""


def before(a: object, b: object) -> object:
    """Tells whether sequence number ``a`` comes before ``b``, given that they are less than 128
    apart."""
    return (a - b)[7]


