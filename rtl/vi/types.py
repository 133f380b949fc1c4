"""Signatures and structs between the blocks of the VI engine.

Each signature is the requesting side; the answering block documents its timing.
"""

from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.packet import TRACE_BITS
from ...layouts.via import (
    ATTRIBUTES,
    CQ_BITS,
    DETAIL,
    EVENT,
    HANDLE_BITS,
    INDEX_BITS,
    PEER,
    QUEUE_BITS,
    VA_BITS,
    VI_BITS,
    VIA_HEADER,
)
from ..bus.burst import Burst
from ..parts.timing import Timing

__all__ = ["Access", "Acknowledged", "Address", "Arm", "Break", "Command", "Completion",
           "CompletionRegisters", "Context", "ContextRead", "ContextWrite", "Control",
           "ControlAction", "ControlPacket", "CountsRead", "CqSetup", "Detail", "EngineEvent",
           "EngineRegisters", "EventHead", "EventRead", "Link", "PacketCounts", "ReadJob",
           "Reading", "ReceivedCounts", "Reports", "SentCounts", "StateWrite", "Surroundings",
           "TableWrite", "Take", "ToSender", "Token", "Translate", "TranslateRequest",
           "TranslationRegisters", "Turns", "ViaHeader", "VirtualMemory", "memory_ports"]


class Address(data.Struct):
    """A virtual address and its handle: :data:`nicbed.layouts.via.ADDRESS`."""

    va: VA_BITS
    handle: HANDLE_BITS


AttributesLayout = data.StructLayout({field.name: field.width for field in ATTRIBUTES.fields})
PeerLayout = data.StructLayout({field.name: field.width for field in PEER.fields})
# Fields of the headers of a packet of Protocol.VIA.
ViaHeader = data.StructLayout({field.name: field.width for field in VIA_HEADER.fields})
Detail = data.StructLayout({field.name: field.width for field in DETAIL.fields})


class Context(data.Struct):
    """The kernel agent's settings of a VI, and its state."""

    attributes: AttributesLayout
    peer: PeerLayout
    state: 2


ContextRead = wiring.Signature({
    "vi": Out(VI_BITS),
    "data": In(Context),
})
"""``data`` is of the VI that ``vi`` selected in the previous cycle, with all writes up to then."""


ContextWrite = wiring.Signature({
    "valid": Out(1),
    "vi": Out(VI_BITS),
    "attributes": Out(48),
    "peer": Out(60),
})
"""In a cycle with ``valid``, ATTRIBUTES (its 46 bits) and PEER (layouts.via) of ``vi`` are
stored."""

StateWrite = wiring.Signature({
    "valid": Out(1),
    "vi": Out(VI_BITS),
    "state": Out(2),
})
"""In a cycle with ``valid``, ``vi`` enters ``state`` (layouts.via.ViState)."""


class Access(enum.Enum, shape=2):
    """Purpose of a translation: local use, or a remote peer's access."""

    LOCAL = 0
    RDMA_WRITE = 1
    RDMA_READ = 2


class TranslateRequest(data.Struct):
    """``wide``: the 64-bit virtual address in the descriptor had bits set above VA_BITS, or its
    handle above HANDLE_BITS: refused."""

    address: Address
    tag: 16
    access: Access
    wide: 1


Translate = wiring.Signature({
    "request": Out(stream.Signature(TranslateRequest)),
    "valid": In(1),
    "ok": In(1),
    "physical": In(32),
    "room": In(17),
    "hold": Out(1),
})
"""A client of the translator. One request at a time. ``valid`` is high for the one cycle of its
answer: whether the access is allowed, the physical address, and how many bytes from there on (1 to
the page's size) are in the same page and region. ``hold`` is high from the cycle in which the
request is offered until the last access to ``physical`` is over (at a refusal: until ``valid``); an
invalidation is not over before it has been low."""


VirtualMemory = wiring.Signature({
    "translate": Out(Translate),
    "bus": Out(Burst()),
    "max_beats": In(10),
})
"""A block's way to host memory by virtual addresses: to the translator, to the bus, and how many
beats a burst may have, at least 1."""


def memory_ports(*, translate: int, bus: int) -> wiring.Signature:
    """The ways to host memory of a block with several clients of the translator, some of which
    share a bus."""
    return wiring.Signature({
        "translate": Out(Translate).array(translate),
        "bus": Out(Burst()).array(bus),
    })


class Token(data.Struct):
    """A descriptor was linked to work queue ``queue``."""

    queue: QUEUE_BITS
    address: Address


class Link(data.Struct):
    """The descriptor behind the one taken from ``queue``: its Next and NextHandle. ``lost``: the
    one taken cannot be read; all descriptors posted behind it are dropped."""

    queue: QUEUE_BITS
    address: Address
    lost: 1


class Arm(data.Struct):
    """Software has seen ``count`` completions of ``queue`` and requests an event at the next
    one."""

    queue: QUEUE_BITS
    count: 16


Take = wiring.Signature({
    "request": Out(stream.Signature(QUEUE_BITS)),
    "valid": In(1),
    "found": In(1),
    "address": In(Address),
    "follow": In(1),
    "link": Out(stream.Signature(Link)),
})
"""Takes the oldest posted descriptor that nobody has taken. ``valid`` is high for the one cycle of
the answer: whether there is one and where. With ``follow`` more are posted behind it, and nobody
can take from this queue until ``link`` has said where the next is; without it no ``link`` is
given."""


class ControlAction(enum.Enum, shape=2):
    """The manager's orders to the other blocks about a VI."""

    CREATE = 0
    """Clear all state of the VI; counts and sequence numbers are zero."""
    CONNECT = 1
    """Sequence numbers become zero. Nothing of an earlier connection is left."""
    ABORT = 2
    """The VI is no longer connected: drop its packets, complete descriptors under way as
    flushed."""


class Control(data.Struct):
    """Manager to all blocks: done when it is taken (ready may come late)."""

    vi: VI_BITS
    action: ControlAction


class Break(data.Struct):
    """To the manager: VI ``vi`` is in error. ``event``: the asynchronous error to raise
    (layouts.via.Event), normally CONN_LOST. For an IDLE VI only the event is raised; for a VI that
    is CLOSED or in ERROR a break is ignored."""

    vi: VI_BITS
    event: 8


class ControlPacket(data.Struct):
    """A packet to the peer of ``vi``; ``kind`` is layouts.via.PacketKind ACK, NAK, BREAK or PROBE.
    ``echo``: an ACK answers the probe with number ``code``."""

    vi: VI_BITS
    kind: 3
    echo: 1
    sequence: 8
    code: 32


class Acknowledged(data.Struct):
    """Receiver to sender: an ACK or NAK (``again``) with this sequence number arrived for ``vi``,
    and answers (``echo``) the probe with number ``code``; or a BREAK (``broken``) arrived, with its
    code."""

    vi: VI_BITS
    sequence: 8
    again: 1
    echo: 1
    broken: 1
    code: 32


class ReadJob(data.Struct):
    """Receiver to sender: the peer of ``vi`` requests ``length`` bytes from ``address``."""

    vi: VI_BITS
    address: Address
    length: 32


class Reading(data.Struct):
    """Sender to receiver, before an RDMA read's request leaves: the descriptor for the responses on
    ``vi``; its data segments begin behind its address segment."""

    vi: VI_BITS
    address: Address


class Completion(data.Struct):
    """To the completion unit: descriptor ``address`` of ``queue`` is done.

    ``status``: layouts.via.STATUS without DONE, which the unit sets. ``immediate`` is written if
    the status says that it is there. ``silent``: the descriptor cannot be written to (it was never
    found); count it, write nothing.
    """

    queue: QUEUE_BITS
    address: Address
    length: 32
    status: 32
    immediate: 32
    silent: 1
    trace: TRACE_BITS


class EngineEvent(data.Struct):
    """To the kernel agent: layouts.via.Event ``code`` of VI (or completion queue) ``number``.
    Always taken; events without room become CATASTROPHIC."""

    code: 8
    number: VI_BITS


ToSender = wiring.Signature({
    "control_packet": Out(stream.Signature(ControlPacket)),
    "acknowledged": Out(stream.Signature(Acknowledged)),
    "read_job": Out(stream.Signature(ReadJob)),
    "read_done": Out(stream.Signature(VI_BITS)),
    "reading": In(stream.Signature(Reading)),
    "read_lost": In(stream.Signature(VI_BITS)),
})
"""Between receiver and sender. To the sender go: ``control_packet``, an answer that is owed to the
peer (ACK, NAK, BREAK; of kind SEND: at CREATE and CONNECT, none is owed any more), always taken at
once; ``acknowledged``, what the peer says; ``read_job``, the peer's RDMA read; ``read_done``, the
VI whose own RDMA read is over. To the receiver: ``reading``, the descriptor of an RDMA read, which
the receiver must complete from then on, even if the VI has just been aborted there; ``read_lost``:
the peer of this VI is silent, its read outstanding is over with TRANSPORT. The break comes after
it."""


Reports = wiring.Signature({
    "complete": Out(stream.Signature(Completion)),
    "break_": Out(stream.Signature(Break)),
    "event": Out(stream.Signature(EngineEvent)),
})
"""What sender and receiver report of VIs: descriptors that are over, to the completion unit;
connections that are broken, to the manager; events, to the kernel agent."""


Turns = wiring.Signature({
    "next": In(stream.Signature(QUEUE_BITS)),
    "wake": Out(stream.Signature(QUEUE_BITS)),
})
"""From and to the scheduler: whose turn it is, and who is to have one again."""


Surroundings = wiring.Signature({
    "node": Out(8),
    "timing": Out(Timing),
    "now": Out(32),
})
"""This node's number, the timing registers, the cycle counter's low half."""


class Command(data.Struct):
    """A kernel agent's command to the manager: layouts.via.ViCommand, with the ATTRIBUTES and PEER
    that CREATE, CONNECT and ATTRIBUTES store."""

    vi: VI_BITS
    command: 3
    attributes: 48
    peer: 60


CountsRead = wiring.Signature({
    "vi": Out(VI_BITS),
    "counts": In(32),
})
"""``counts`` is of the VI that ``vi`` said in the cycle before: how many descriptors of its send
queue in the low half, of its receive queue in the high half, each modulo 65536, since CREATE."""

CqSetup = wiring.Signature({
    "valid": Out(1),
    "cq": Out(CQ_BITS),
    "base": Out(64),
    "config": Out(29),
})
"""In a cycle with ``valid``, completion queue ``cq`` takes over ADDRESS ``base`` and CQ_CONFIG
``config`` (layouts.via); it is then empty and disarmed."""

CompletionRegisters = wiring.Signature({
    "setup": Out(CqSetup),
    "completed": Out(CountsRead),
})
"""The completion unit's registers."""

TableWrite = wiring.Signature({
    "valid": Out(1),
    "index": Out(INDEX_BITS),
    "flags": Out(56),
    "place": Out(64),
})
"""In a cycle with ``valid``, entry ``index`` of the table in NIC memory becomes TRANSLATION_FLAGS
``flags`` and TRANSLATION_PLACE ``place`` (layouts.via)."""

TranslationRegisters = wiring.Signature({
    "table_base": Out(32),
    "table": Out(TableWrite),
    "invalidate": Out(stream.Signature(INDEX_BITS)),
    "invalidated": In(16),
    "hit": In(1),
    "miss": In(1),
    "walking": In(1),
})
"""The translator's registers. ``hit``, ``miss``, ``walking``: high for the cycle in which a request
finds its entry here; in which one begins its walk; for the cycles of walks."""

EventHead = data.StructLayout({field.name: field.width for field in EVENT.fields})

EventRead = wiring.Signature({
    "head": In(EventHead),
    "pop": Out(1),
    "lost": In(1),
})
"""``head``: the oldest event, as layouts.via.EVENT; 0 if none waits. ``pop`` takes it away; without
an event it does nothing. ``lost`` is high for a cycle for each event that is lost."""

ReceivedCounts = wiring.Signature({
    "unmatched": Out(1),
    "duplicate": Out(1),
    "gap": Out(1),
    "dropped": Out(1),
})
"""High for the cycle in which a packet, or the first of a message, ends so."""

SentCounts = wiring.Signature({
    "resent": Out(1),
    "sent": Out(1),
})
"""High for the cycle in which a data packet leaves, again or for the first time."""

PacketCounts = wiring.Signature({
    name: member.flip() for counts in (ReceivedCounts, SentCounts)
    for name, member in counts.members.items()})
"""Pulses of what receiver and sender count."""

EngineRegisters = wiring.Signature({
    "command": Out(stream.Signature(Command)),
    "busy": In(3),
    "ready": In(1),
    "context": Out(ContextRead),
    "posted": Out(CountsRead),
    "completion": Out(CompletionRegisters),
    "translation": Out(TranslationRegisters),
    "event": Out(EventRead),
    "packets": Out(PacketCounts),
})
"""The engine's registers (layouts.registers.ENGINE_REGISTERS), from the side of the NIC, block by
block: values, strobes, and for each counter its pulses. ``busy``: the command that is held."""
