"""Delivers a packet's data: into the segments of a receive descriptor, or where the peer wants."""

from amaranth.hdl import Module, Mux
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from ..descriptors.segment_walk import Walking
from ..types import Access, Address
from .descriptor import Search
from .scatter_writer import ScatterRun
from .turn import Turn

__all__ = ["Deliver", "Delivered", "Delivering", "Delivery", "Fate"]


class Delivery(enum.Enum, shape=2):
    """The delivery that is wanted."""

    FIND = 0
    """Into a descriptor that is to be found."""
    RESUME = 1
    """Into the message's descriptor, behind what was delivered before."""
    WRITE = 2
    """Where an RDMA write says."""


class Fate(enum.Enum, shape=4):
    """The outcome of a delivery."""

    NONE = 0
    """Not yet known."""
    NONE_POSTED = 1
    """No receive descriptor is posted."""
    UNREADABLE = 2
    """The descriptor cannot be read."""
    MALFORMED = 3
    """The descriptor is none."""
    AT_ONCE = 4
    """A descriptor that is to complete without data was found."""
    SCATTERED = 5
    """The data has landed in the descriptor's segments."""
    REFUSED = 6
    """A segment is refused, or cannot be read."""
    TOO_LONG = 7
    """The segments are too short for the data."""
    WRITTEN = 8
    """The data has landed where the RDMA write wanted it."""
    WRITE_REFUSED = 9
    """The RDMA write may not write there."""


Delivering = wiring.Signature({
    "begin": Out(1),
    "valid": Out(1),
    "delivery": Out(Delivery),
    "searches": In(1),
    "over": In(1),
})
"""The side that has the packet. ``begin``: its data begins with the next run. ``valid`` begins a
``delivery``, from the next cycle on; ``over`` is its last cycle. ``searches``: a descriptor is
looked for, or the packet is an RDMA write."""


Delivered = wiring.Signature({
    "fate": Out(Fate),
    "found": Out(1),
    "address": Out(Address),
    "segments": Out(8),
    "posted": Out(1),
    "walks": Out(1),
    "landed": Out(1),
    "bytes": Out(16),
})
"""The delivery, as far as it changes what is known of the packet, in the cycle in which it happens:
its ``fate``. ``found``: the search is over, for a descriptor at ``address`` with ``segments``, if
one is ``posted``. ``walks``: data goes into a descriptor's segments. ``landed``: a run is over, of
which ``bytes`` have landed."""


class Deliver(wiring.Component):
    """Finds the descriptor, and scatters the packet's data run by run. An RDMA write with immediate
    data goes on to the descriptor that the immediate completes.

    Latency: of its parts, and 1 cycle between descriptor and segments. Throughput and back-pressure
    are those of ``scatter``. Reset: idle.

    Members
    -------
    user : In(Delivering)
        Whose packet it is.
    turn : In(Turn)
        The packet.
    search, walk, scatter : Out(Search), Out(Walking), Out(ScatterRun)
        The descriptor; its segments; what is written of the data.
    delivered : Out(Delivered)
        What is done.
    """

    user: In(Delivering)
    turn: In(Turn)
    search: Out(Search)
    walk: Out(Walking)
    scatter: Out(ScatterRun)
    delivered: Out(Delivered)

    def elaborate(self, platform: object) -> Module:
        self._m = m = Module()
        user, turn, search, walk = self.user, self.turn, self.search, self.walk
        told, wanted, run = self.delivered, search.request.payload, self.scatter.request.payload
        m.d.comb += [
            wanted.vi.eq(turn.vi),
            wanted.tag.eq(turn.tag),
            wanted.take.eq(~turn.message.held),
            wanted.address.eq(turn.message.address),
            wanted.read.eq(turn.on_read),
            wanted.brief.eq(~turn.on_read & (turn.message.segments <= 1)),
            wanted.trace.eq(turn.packet.trace),
            walk.walk.address.eq(turn.message.address),
            walk.walk.tag.eq(turn.tag),
            walk.walk.segments.eq(turn.message.segments),
            walk.walk.index.eq(turn.message.index),
            walk.walk.offset.eq(turn.message.offset),
            walk.walk.trace.eq(turn.packet.trace),
            walk.head.segments.eq(search.head.segments),
            walk.head.count.eq(search.head.count),
            walk.bytes.eq(run.bytes),
            run.tag.eq(turn.tag),
            run.trace.eq(turn.packet.trace),
            self.scatter.restart.eq(user.begin),
            told.address.eq(search.address),
            told.segments.eq(search.segments),
            told.posted.eq(search.found),
            told.bytes.eq(self.scatter.written),
        ]
        with m.FSM() as self._state:
            with m.State("IDLE"):
                with m.If(user.valid):
                    with m.Switch(user.delivery):
                        with m.Case(Delivery.FIND):
                            m.next = "DESCRIPTOR"
                        with m.Case(Delivery.RESUME):
                            m.next = "RESUME"
                        with m.Case(Delivery.WRITE):
                            m.next = "WRITE"
            with m.State("DESCRIPTOR"):
                m.d.comb += [user.searches.eq(1), search.request.valid.eq(1)]
                with m.If(search.request.ready):
                    self._found()
            with m.State("RESUME"):
                m.d.comb += walk.load.eq(1)
                m.next = "WALK"
            with m.State("WALK"):
                m.d.comb += told.walks.eq(1)
                self._walk()
            with m.State("WRITE"):
                m.d.comb += user.searches.eq(1)
                self._write()
        return m

    def _end(self, fate: Fate) -> None:
        """The delivery is over, with ``fate``."""
        self._m.d.comb += [self.user.over.eq(1), self.delivered.fate.eq(fate)]
        self._m.next = "IDLE"

    def _found(self) -> None:
        """The search is over."""
        m, turn, search, walk = self._m, self.turn, self.search, self.walk
        m.d.comb += self.delivered.found.eq(1)
        with m.If(~search.found):
            self._end(Fate.NONE_POSTED)
        with m.Elif(~search.readable):
            self._end(Fate.UNREADABLE)
        with m.Elif(search.malformed):
            self._end(Fate.MALFORMED)
        with m.Elif(turn.at_once):
            self._end(Fate.AT_ONCE)
        with m.Else():
            m.d.comb += [
                walk.load.eq(1),
                walk.fresh.eq(1),
                walk.walk.address.eq(search.address),
                walk.walk.segments.eq(search.segments),
                walk.head.cut.eq(search.head.cut),
                # Behind the address segment.
                walk.walk.index.eq(turn.on_read),
                walk.walk.offset.eq(0),
            ]
            m.next = "WALK"

    def _walk(self) -> None:
        """Data goes into the descriptor's segments."""
        m, turn, walk, scatter = self._m, self.turn, self.walk, self.scatter
        run = scatter.request.payload
        m.d.comb += [
            run.address.eq(walk.piece.address),
            run.wide.eq(walk.piece.wide),
            run.access.eq(Access.LOCAL),
            run.bytes.eq(Mux(walk.piece.left < turn.left, walk.piece.left, turn.left)),
        ]
        with m.If(turn.left == 0):
            self._end(Fate.SCATTERED)
        with m.Elif(walk.valid):
            m.d.comb += scatter.request.valid.eq(1)
            with m.If(scatter.request.ready):
                m.d.comb += self.delivered.landed.eq(1)
                with m.If(~scatter.ok):
                    self._end(Fate.REFUSED)
                with m.Else():
                    m.d.comb += walk.advance.eq(1)
                    with m.If(scatter.written == turn.left):
                        self._end(Fate.SCATTERED)
        with m.Elif(walk.exhausted):
            self._end(Fate.TOO_LONG)
        with m.Elif(walk.failed):
            self._end(Fate.REFUSED)

    def _write(self) -> None:
        """Data of an RDMA write."""
        m, turn, scatter = self._m, self.turn, self.scatter
        run = scatter.request.payload
        m.d.comb += [
            run.address.eq(turn.packet.address),
            run.access.eq(Access.RDMA_WRITE),
            run.bytes.eq(turn.left),
        ]
        with m.If(turn.left == 0):
            self._written()
        with m.Else():
            m.d.comb += scatter.request.valid.eq(1)
            with m.If(scatter.request.ready):
                m.d.comb += self.delivered.landed.eq(1)
                with m.If(scatter.ok):
                    self._written()
                with m.Else():
                    self._end(Fate.WRITE_REFUSED)

    def _written(self) -> None:
        """All of it has landed."""
        m, detail = self._m, self.turn.packet.detail
        with m.If(detail.last & detail.immediate):
            m.d.comb += self.delivered.fate.eq(Fate.WRITTEN)
            m.next = "DESCRIPTOR"
        with m.Else():
            self._end(Fate.WRITTEN)
