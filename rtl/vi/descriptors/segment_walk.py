"""Walks the data segments of a descriptor."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.packet import TRACE_BITS
from ....layouts.via import HANDLE_BITS, VA_BITS
from ...bus.burst import Burst
from ..types import Address, Translate
from .fetch import DescriptorFetch, FetchRequest

__all__ = ["Piece", "Segment", "SegmentWalk", "Walk"]


class Segment(data.Struct):
    """A segment as it lies in memory."""

    va: 64
    handle: 32
    length: 32


class Walk(data.Struct):
    """Where a walk begins: at byte ``offset`` of segment ``index`` of descriptor ``address``, which
    has ``segments`` of them (its SegCount, at most MAX_SEGMENTS). Segments are counted from 0,
    address segments too: an RDMA descriptor's data segments begin at 1."""

    address: Address
    tag: 16
    segments: 8
    index: 8
    offset: 32
    trace: TRACE_BITS


class Piece(data.Struct):
    """What lies at the walk's position: ``left`` bytes (at least 1) from ``address`` on. ``wide``:
    the segment's address has bits set that none has (see TranslateRequest)."""

    address: Address
    wide: 1
    left: 32


class SegmentWalk(wiring.Component):
    """Gives the data segments of a descriptor piece by piece, and can begin in their middle.

    ``load`` begins a walk (and ends any other). From then on exactly one of these comes to hold,
    and holds until ``advance`` or ``load``: ``valid``, with ``piece``; ``exhausted``, no segment is
    left; ``failed``, the next segment cannot be read. ``advance`` (only with ``valid``) moves the
    position by ``bytes``, 1 to ``piece.left``; segments of no length are skipped. ``index`` and
    ``offset`` are the position, to be loaded again later.

    The first two segments come with ``load`` in ``head``, of which ``head_count`` (0 to 2) were
    readable; with ``cut`` the first of them alone was read, and the block it is in is read again
    if there is a second. With ``fresh`` low they are not there, and are read as all the others are:
    blocks of 64 bytes of the descriptor, translated afresh each. A block is read while the one
    before it is walked. A load while a block is being read waits for that read to end.

    Latency: 1 cycle from ``load`` to the first piece if it is in the head; 1 from ``advance`` to
    the next in the same block, 1 more for every segment of no length; a new block costs a
    DescriptorFetch. Reset: exhausted.

    Members
    -------
    load, walk : In(1), In(Walk)
        Begin.
    fresh, head, head_count, cut : In(1), In(ArrayLayout(Segment, 2)), In(2), In(1)
        Segments 0 and 1 come along, with ``load``; or with ``cut`` segment 0.
    max_beats : In(10)
        Longest burst in beats, at least 1.
    valid, piece : Out(1), Out(Piece)
        The position's piece.
    advance, bytes : In(1), In(32)
        Go on by so many bytes.
    exhausted, failed : Out(1), Out(1)
        The other outcomes.
    index, offset : Out(8), Out(32)
        The position.
    translate, bus : Out(Translate), Out(Burst)
        Of its DescriptorFetch.
    idle : Out(1)
        No read of a block is under way or wanted.
    """

    load: In(1)
    walk: In(Walk)
    fresh: In(1)
    head: In(data.ArrayLayout(Segment, 2))
    head_count: In(2)
    cut: In(1)
    max_beats: In(10)
    valid: Out(1)
    piece: Out(Piece)
    advance: In(1)
    bytes: In(32)
    exhausted: Out(1)
    failed: Out(1)
    index: Out(8)
    offset: Out(32)
    translate: Out(Translate)
    bus: Out(Burst)
    idle: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.fetch = fetch = DescriptorFetch()
        wiring.connect(m, wiring.flipped(self.translate), fetch.translate)
        wiring.connect(m, wiring.flipped(self.bus), fetch.bus)

        address = Signal(Address)
        tag = Signal(16)
        trace = Signal(TRACE_BITS)
        segments = Signal(8)
        # Position in slots of 16 bytes from the descriptor's beginning, the control segment being
        # two of them: block and place within it.
        position = Signal(9)
        slot = position[:2]
        walking = Signal()
        # The block that is here: its segments, how many of its slots could be read, its number.
        block = Signal(data.ArrayLayout(Segment, 4))
        slots = Signal(3)
        here = Signal()
        # Of block 0 that is here segment 1 was not read; whether the walk needs it.
        cut = Signal()
        lacks = Signal()
        number = Signal(7)
        # The block that is asked for, or has come: always the one that is wanted next.
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
            fetch.max_beats.eq(self.max_beats),
            fetch.request.valid.eq(asking),
            fetch.request.payload.eq(ask),
            self.index.eq(position - 2),
            self.piece.address.va.eq(segment.va + self.offset),
            self.piece.address.handle.eq(segment.handle),
            self.piece.left.eq(left),
            self.idle.eq(fetch.idle & ~asking),
        ]
        with m.If(walking):
            m.d.comb += [
                ended.eq(position == segments + 2),
                segment.eq(block[slot]),
                left.eq(segment.length - self.offset),
                self.piece.wide.eq((segment.va[VA_BITS:] != 0)
                                   | (segment.handle[HANDLE_BITS:] != 0)
                                   | ((segment.va + self.offset)[VA_BITS:] != 0)),
                self.exhausted.eq(ended),
            ]
            with m.If(~ended & here):
                m.d.comb += [
                    readable.eq(slot < slots),
                    self.failed.eq(~readable),
                    # An offset behind the end: the descriptor was changed under way.
                    self.valid.eq(readable & (segment.length > self.offset)),
                    move.eq(readable & ~self.valid),
                ]
        with m.Else():
            m.d.comb += self.exhausted.eq(1)

        with m.If(self.advance):
            m.d.sync += self.offset.eq(self.offset + self.bytes)
            with m.If(self.bytes == left):
                m.d.comb += move.eq(1)
        with m.If(move):
            m.d.sync += [position.eq(position + 1), self.offset.eq(0)]
            with m.If((slot == 3) | cut):
                m.d.sync += [here.eq(0), cut.eq(0)]

        # The next block is read ahead as soon as this one is here.
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
                # As it was asked for: a load while it waits must not change it.
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

        with m.If(self.load):
            m.d.sync += [
                walking.eq(1),
                address.eq(self.walk.address),
                tag.eq(self.walk.tag),
                trace.eq(self.walk.trace),
                segments.eq(self.walk.segments),
                position.eq(self.walk.index + 2),
                self.offset.eq(self.walk.offset),
                block[2].eq(self.head[0]),
                block[3].eq(self.head[1]),
                slots.eq(self.head_count + 2),
                number.eq(0),
                here.eq(self.fresh & (self.walk.index < Mux(self.cut, 1, 2))),
                cut.eq(self.cut),
                there.eq(0),
                # What is being read is of the old walk.
                stale.eq(1),
            ]
        return m
