"""Walks the data segments of a descriptor."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.packet import TRACE_BITS
from ....layouts.via import HANDLE_BITS, VA_BITS
from ..types import Address, VirtualMemory
from .fetch import DescriptorFetch, FetchRequest

__all__ = ["Head", "Piece", "Segment", "SegmentWalk", "Walk", "Walking"]


class Segment(data.Struct):
    """A segment as it is stored in memory."""

    va: 64
    handle: 32
    length: 32


class Head(data.Struct):
    """The first two segments of a descriptor, of which ``count`` (0 to 2) could be read; with
    ``cut`` the first alone was read."""

    segments: data.ArrayLayout(Segment, 2)
    count: 2
    cut: 1


class Walk(data.Struct):
    """Beginning of a walk: byte ``offset`` of segment ``index`` of descriptor ``address``, which
    has ``segments`` segments (its SegCount, at most MAX_SEGMENTS). Segments are counted from 0,
    address segments included: an RDMA descriptor's data segments begin at 1."""

    address: Address
    tag: 16
    segments: 8
    index: 8
    offset: 32
    trace: TRACE_BITS


class Piece(data.Struct):
    """The memory at the walk's position: ``left`` bytes (at least 1) from ``address`` on. ``wide``:
    the segment's address has bits set above the valid ones (see TranslateRequest)."""

    address: Address
    wide: 1
    left: 32


Walking = wiring.Signature({
    "load": Out(1),
    "walk": Out(Walk),
    "fresh": Out(1),
    "head": Out(Head),
    "valid": In(1),
    "piece": In(Piece),
    "exhausted": In(1),
    "failed": In(1),
    "advance": Out(1),
    "bytes": Out(32),
    "index": In(8),
    "offset": In(32),
})
"""``load`` begins a walk (and ends any other) where ``walk`` says. From then on exactly one of
these comes to hold, and holds until ``advance`` or ``load``: ``valid``, with ``piece``;
``exhausted``, no segment is left; ``failed``, the next segment cannot be read. ``advance`` (only
with ``valid``) moves the position by ``bytes``, 1 to ``piece.left``; segments of no length are
skipped. ``index`` and ``offset`` are the position, to be loaded again later.

With ``fresh`` the first segments come along in ``head``; if it was ``cut``, the block that they are
in is read again if there is a second. With ``fresh`` low they are read as all the others are."""


class SegmentWalk(wiring.Component):
    """Gives the data segments of a descriptor piece by piece, and can begin in their middle.

    Segments that do not come along are read in blocks of 64 bytes of the descriptor, translated
    afresh each. A block is read while the one before it is walked. A load while a block is being
    read waits for that read to end.

    Latency: 1 cycle from ``load`` to the first piece if it is in the head; 1 from ``advance`` to
    the next in the same block, 1 more for every segment of no length; a new block costs a
    DescriptorFetch. Reset: exhausted.

    Members
    -------
    user : In(Walking)
        Whose walk it is.
    memory : Out(VirtualMemory)
        Of its DescriptorFetch.
    idle : Out(1)
        No read of a block is under way or wanted.
    """

    user: In(Walking)
    memory: Out(VirtualMemory)
    idle: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.fetch = fetch = DescriptorFetch()
        wiring.connect(m, wiring.flipped(self.memory), fetch.memory)
        user = self.user

        address = Signal(Address)
        tag = Signal(16)
        trace = Signal(TRACE_BITS)
        segments = Signal(8)
        # Position in slots of 16 bytes from the descriptor's beginning (the control segment is two
        # of them): block, and place within it.
        position = Signal(9)
        slot = position[:2]
        walking = Signal()
        # The current block: its segments, how many of its slots could be read, its number.
        block = Signal(data.ArrayLayout(Segment, 4))
        slots = Signal(3)
        here = Signal()
        # Segment 1 of the current block 0 was not read; whether the walk needs it.
        cut = Signal()
        lacks = Signal()
        number = Signal(7)
        # The block that is requested, or has arrived: always the next one needed.
        wanted = Signal(7)
        next_wanted = Signal(7)
        asking = Signal()
        stale = Signal()
        there = Signal()

        ended = Signal()
        readable = Signal()
        segment = Signal(Segment)
        left = Signal(32)
        move = Signal()
        ask = Signal(FetchRequest)
        begin = Signal()
        m.d.comb += [
            fetch.request.valid.eq(asking),
            fetch.request.payload.eq(ask),
            user.index.eq(position - 2),
            user.piece.address.va.eq(segment.va + user.offset),
            user.piece.address.handle.eq(segment.handle),
            user.piece.left.eq(left),
            self.idle.eq(fetch.idle & ~asking),
        ]
        with m.If(walking):
            m.d.comb += [
                ended.eq(position == segments + 2),
                segment.eq(block[slot]),
                left.eq(segment.length - user.offset),
                user.piece.wide.eq((segment.va[VA_BITS:] != 0)
                                   | (segment.handle[HANDLE_BITS:] != 0)
                                   | ((segment.va + user.offset)[VA_BITS:] != 0)),
                user.exhausted.eq(ended),
            ]
            with m.If(~ended & here):
                m.d.comb += [
                    readable.eq(slot < slots),
                    user.failed.eq(~readable),
                    # An offset behind the end: the descriptor was changed under way.
                    user.valid.eq(readable & (segment.length > user.offset)),
                    move.eq(readable & ~user.valid),
                ]
        with m.Else():
            m.d.comb += user.exhausted.eq(1)

        with m.If(user.advance):
            m.d.sync += user.offset.eq(user.offset + user.bytes)
            with m.If(user.bytes == left):
                m.d.comb += move.eq(1)
        with m.If(move):
            m.d.sync += [position.eq(position + 1), user.offset.eq(0)]
            with m.If((slot == 3) | cut):
                m.d.sync += [here.eq(0), cut.eq(0)]

        # The next block is read ahead as soon as this one has arrived.
        with m.If(asking):
            with m.If(fetch.request.ready):
                m.d.sync += asking.eq(0)
        with m.Elif(walking & ~there & fetch.idle):
            with m.If(here):
                m.d.comb += lacks.eq(cut & (segments > 1))
                with m.If(lacks):
                    m.d.comb += [begin.eq(1), next_wanted.eq(0)]
                with m.Elif(segments + 2 > ((number + 1) << 2)):
                    m.d.comb += [begin.eq(1), next_wanted.eq(number + 1)]
            with m.Elif(~ended):
                m.d.comb += [begin.eq(1), next_wanted.eq(position[2:])]
        with m.If(begin):
            m.d.sync += [
                asking.eq(1),
                stale.eq(0),
                wanted.eq(next_wanted),
                # Registered at the request, because a load during the wait must not change it.
                ask.address.handle.eq(address.handle),
                ask.address.va.eq(address.va + (next_wanted << 6)),
                ask.tag.eq(tag),
                ask.trace.eq(trace),
            ]
        with m.If(fetch.valid):
            m.d.sync += there.eq(~stale)
        with m.If(there & ~here & (wanted == position[2:])):
            m.d.sync += [
                block.eq(fetch.words.as_value()),
                slots.eq(fetch.count[1:]),
                number.eq(wanted),
                here.eq(1),
                cut.eq(0),
                there.eq(0),
            ]

        with m.If(user.load):
            m.d.sync += [
                walking.eq(1),
                address.eq(user.walk.address),
                tag.eq(user.walk.tag),
                trace.eq(user.walk.trace),
                segments.eq(user.walk.segments),
                position.eq(user.walk.index + 2),
                user.offset.eq(user.walk.offset),
                block[2].eq(user.head.segments[0]),
                block[3].eq(user.head.segments[1]),
                slots.eq(user.head.count + 2),
                number.eq(0),
                here.eq(user.fresh & (user.walk.index < Mux(user.head.cut, 1, 2))),
                cut.eq(user.head.cut),
                there.eq(0),
                # The block being read belongs to the old walk.
                stale.eq(1),
            ]
        return m
