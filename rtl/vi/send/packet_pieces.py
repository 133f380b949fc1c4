"""Gathers the data of a packet, piece by piece, from the memory that its job names."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ....layouts.via import Status
from ..descriptors.segment_walk import Piece, SegmentWalk
from ..types import Access, VirtualMemory
from .job import Job, JobKind
from .packet_gather import PacketGather
from .slots import slot_word

__all__ = ["PacketPieces", "Pieces"]

Pieces = wiring.Signature({
    "load": Out(1),
    "offered": Out(Job),
    "gather": Out(1),
    "at_once": Out(1),
    "sum": Out(1),
    "headed": Out(1),
    "stop": Out(1),
    "commit": In(1),
    "whole": In(1),
    "summed": In(1),
    "stopped": In(1),
    "failed": In(1),
    "status": In(9),
})
"""Whose packet it is. ``load`` takes ``offered``, which is the job from the next cycle on. Then
``gather`` begins with its packet's data (with ``at_once`` in this very cycle, else in the next
one), ``sum`` with the sum of an RDMA read's segments. In a later cycle exactly one of these tells
the end: ``whole``, the data are in the slot; ``summed``, the segments have the job's length;
``stopped``; or ``failed`` with ``status``, an error of the descriptor.

``commit`` comes once, before ``whole`` or with it, and only when the packet is ``headed``: no error
can prevent it any more. ``stop`` stops the work where no burst is under way, but a packet that is
committed is made whole."""


class PacketPieces(wiring.Component):
    """Translates each piece of a packet and packs it behind those before it; or adds up an RDMA
    read's segments.

    The source is the descriptor's segments, or the region that the peer asked for. A packet is
    committed when only the data of its last piece is missing. The end of a message must be that of
    its segments, else its status is LENGTH; it is PROTECTION if a segment is refused or unreadable.

    Latency, of a packet of one piece whose translation takes t cycles and whose burst takes b: t +
    b + 1 cycles from ``gather`` with ``at_once`` to ``whole``. Throughput: a packet at a time; for
    each further piece its translation, its burst and 1 cycle. Back-pressure: none. Reset: idle.

    Members
    -------
    user : In(Pieces)
        Whose packet it is.
    job : In(Job)
        Holds from the cycle after ``load``.
    chunks, pieces : Out(VirtualMemory)
        The descriptor's further blocks, and data.
    body : Out(slot_word(8))
        A word of the slot.
    part : Out(1)
        The packet is committed and not whole.
    index, offset : Out(8), Out(32)
        Where in the descriptor's segments the packet ends.
    begins : Out(1)
        The packet's first translation begins.
    idle : Out(1)
        No block of a descriptor is being read.
    """

    user: In(Pieces)
    job: In(Job)
    chunks: Out(VirtualMemory)
    pieces: Out(VirtualMemory)
    body: Out(slot_word(8))
    part: Out(1)
    index: Out(8)
    offset: Out(32)
    begins: Out(1)
    idle: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.walk = segments = SegmentWalk()
        m.submodules.gather = gather = PacketGather()
        wiring.connect(m, wiring.flipped(self.chunks), segments.memory)
        wiring.connect(m, wiring.flipped(self.pieces.bus), gather.bus)
        user, job, offered, walk = self.user, self.job, self.user.offered, segments.user
        translate = self.pieces.translate
        request = translate.request.payload

        # Bytes of the packet, or of an RDMA read's segments, still to come; bytes that have gone.
        left = Signal(32)
        went = Signal(11)
        size = Signal(11)
        is_respond = Signal()
        piece = Signal(Piece)
        there = Signal()
        none = Signal()
        ends = Signal()

        m.d.comb += [
            is_respond.eq(job.kind == JobKind.RESPOND),
            walk.load.eq(user.load & ((offered.kind == JobKind.PACKET)
                                      | (offered.kind == JobKind.READ))),
            walk.walk.address.eq(offered.address),
            walk.walk.tag.eq(offered.tag),
            walk.walk.segments.eq(offered.segments),
            walk.walk.index.eq(offered.index),
            walk.walk.offset.eq(offered.offset),
            walk.walk.trace.eq(offered.trace),
            walk.fresh.eq(offered.fresh),
            walk.head.eq(offered.head),
            gather.clear.eq(user.load),
            gather.max_beats.eq(self.pieces.max_beats),
            gather.trace.eq(job.trace),
            gather.place.eq(translate.physical),
            gather.bytes.eq(size),
            request.address.eq(piece.address),
            request.wide.eq(piece.wide),
            request.tag.eq(job.tag),
            request.access.eq(Mux(is_respond, Access.RDMA_READ, Access.LOCAL)),
            self.body.valid.eq(gather.write),
            self.body.index.eq(gather.index),
            self.body.data.eq(gather.data),
            self.index.eq(walk.index),
            self.offset.eq(walk.offset),
            self.idle.eq(segments.idle),
            # The message's end must be the segments' end.
            ends.eq(~job.last | is_respond | walk.exhausted),
        ]
        with m.If(is_respond):
            m.d.comb += [
                piece.address.va.eq(job.remote.va + went),
                piece.address.handle.eq(job.remote.handle),
                piece.wide.eq((job.remote.va + went)[38:]),
                piece.left.eq(left),
                there.eq(left != 0),
                none.eq(left == 0),
            ]
        with m.Else():
            m.d.comb += [piece.eq(walk.piece), there.eq(walk.valid), none.eq(walk.exhausted)]

        def ask() -> None:
            """Have the piece translated."""
            m.d.comb += [
                translate.request.valid.eq(1), translate.hold.eq(1),
                self.begins.eq(translate.request.ready & (went == 0)),
            ]
            with m.If(translate.request.ready):
                m.next = "TRANSLATE"

        def stop() -> None:
            m.d.comb += user.stopped.eq(1)
            m.next = "IDLE"

        def fail(status: Status) -> None:
            m.d.comb += [user.failed.eq(1), user.status.eq(status)]
            m.next = "IDLE"

        with m.FSM():
            with m.State("IDLE"):
                with m.If(user.load):
                    m.d.sync += [left.eq(Mux(offered.kind == JobKind.READ, offered.length,
                                             offered.bytes)),
                                 went.eq(0)]
                with m.If(user.gather):
                    m.next = "PIECE"
                    with m.If(job.bytes == 0):
                        m.next = "TAIL"
                    with m.Elif(user.at_once & there):
                        ask()
                with m.If(user.sum):
                    m.next = "SUM"
            with m.State("PIECE"):
                with m.If(there):
                    ask()
                with m.Elif(user.stop):
                    stop()
                with m.Elif(none):
                    fail(Status.LENGTH)
                with m.Elif(walk.failed & ~is_respond):
                    fail(Status.PROTECTION)
            with m.State("TRANSLATE"):
                m.d.comb += [
                    translate.hold.eq(1),
                    size.eq(Mux(piece.left < left, piece.left, left)),
                ]
                with m.If(translate.room < Mux(piece.left < left, piece.left, left)):
                    m.d.comb += size.eq(translate.room)
                with m.If(translate.valid):
                    with m.If(translate.ok):
                        m.d.comb += [gather.start.eq(1), walk.bytes.eq(size),
                                     walk.advance.eq(~is_respond)]
                        m.d.sync += [left.eq(left - size), went.eq(went + size)]
                        m.next = "MOVE"
                    with m.Else():
                        fail(Status.PROTECTION)
            with m.State("MOVE"):
                m.d.comb += translate.hold.eq(1)
                with m.If((left == 0) & user.headed & ends & ~self.part & ~user.stop):
                    m.d.comb += user.commit.eq(1)
                    m.d.sync += self.part.eq(1)
                with m.If(gather.done):
                    m.next = "PIECE"
                    with m.If(left == 0):
                        m.next = "TAIL"
                    with m.Elif(user.stop):
                        stop()
            with m.State("TAIL"):
                with m.If(self.part):
                    m.d.comb += [gather.flush.eq(1), user.whole.eq(1)]
                    m.d.sync += self.part.eq(0)
                    m.next = "IDLE"
                with m.Elif(ends):
                    with m.If(user.stop):
                        stop()
                    with m.Elif(user.headed):
                        m.d.comb += [gather.flush.eq(1), user.commit.eq(1), user.whole.eq(1)]
                        m.next = "IDLE"
                with m.Elif(walk.failed):
                    fail(Status.PROTECTION)
                with m.Elif(walk.valid):
                    fail(Status.LENGTH)
            with m.State("SUM"):
                with m.If(walk.valid):
                    m.d.comb += [walk.bytes.eq(walk.piece.left), walk.advance.eq(1)]
                    m.d.sync += left.eq(left - walk.piece.left)
                    with m.If(walk.piece.left > left):
                        fail(Status.LENGTH)
                with m.Elif(walk.failed):
                    fail(Status.PROTECTION)
                with m.Elif(walk.exhausted):
                    with m.If(left != 0):
                        fail(Status.LENGTH)
                    with m.Else():
                        m.d.comb += user.summed.eq(1)
                        m.next = "IDLE"
        return m
