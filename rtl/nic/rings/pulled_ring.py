"""The send ring that is pulled: which of its cache lines to look at, and what a line says."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.rings import (
    DESCRIPTOR_CONTROL,
    LINE_BYTES,
    LINE_INLINE,
    LINE_PAYLOAD_INLINE,
    LINE_WORD,
)
from ...parts.flit import Header

__all__ = ["Control", "LineRing"]

Control = data.StructLayout({field.name: field.width for field in DESCRIPTOR_CONTROL.fields})
"""The control word of a descriptor."""
_Line = data.StructLayout({field.name: field.width for field in LINE_WORD.fields})
_LINE_BITS = LINE_BYTES.bit_length() - 1


class LineRing(wiring.Component):
    """Tells when to look at the next line of a ring of lines, and reads what comes.

    A look is due when a CPU has taken the next line for writing since it was last looked at. A
    line that nobody has taken since the NIC read it is dirty in no cache, so whoever stores to it
    has to take it, and is seen (:class:`TagCache`): nothing is missed, in whatever order lines are
    stored. After reset nothing is known of any line, so the first lap looks at each once in vain.

    Latency: ``looks`` in the cycle after ``watched``; the outputs about a word in its own cycle.
    Reset, and while not ``active``: all lines count as taken.

    Parameters
    ----------
    ring : int
        Lines: a power of two of at least 4.

    Members
    -------
    active : In(1)
        The ring is on, and is one of lines.
    base, node : In(32), In(8)
        Where it lies, and the node for the wire headers' source.
    requested : In(16)
        Descriptors found so far; the line looked at is theirs that come next.
    watched, line : In(1), In(32)
        A CPU takes the ring's line at ``line``.
    looks, address : Out(1), Out(32)
        A look is due; the line.
    asks : In(1)
        Its read burst is asked for next.
    valid, word : In(1), In(64)
        One of its words comes, in order.
    there, number : Out(1), Out(2)
        The line is a descriptor; which of its words this is.
    header, control : Out(64), Out(Control)
        In the cycle of word 0 the wire header; behind it the control word.
    found, lacks : Out(1), Out(1)
        In the cycle of the last word: it was a descriptor; it was none.
    """

    def __init__(self, *, ring: int) -> None:
        self._ring = ring
        super().__init__({
            "active": In(1),
            "base": In(32),
            "node": In(8),
            "requested": In(16),
            "watched": In(1),
            "line": In(32),
            "looks": Out(1),
            "address": Out(32),
            "asks": In(1),
            "valid": In(1),
            "word": In(64),
            "there": Out(1),
            "number": Out(2),
            "header": Out(64),
            "control": Out(Control),
            "found": Out(1),
            "lacks": Out(1),
        })

    @property
    def ring(self) -> int:
        """Lines."""
        return self._ring

    def elaborate(self, platform: object) -> Module:
        m = Module()
        slots = (self._ring - 1).bit_length()

        # Lines that a CPU may hold dirty: taken since the last look at them was asked for.
        taken = Signal(self._ring, init=~0)
        index = Signal(slots)
        m.d.comb += [
            index.eq(self.line[_LINE_BITS:] - self.base[_LINE_BITS:]),
            self.looks.eq(self.active & taken.bit_select(self.requested[:slots], 1)),
            self.address.eq(self.base + Cat(Const(0, _LINE_BITS), self.requested[:slots])),
        ]
        with m.If(self.asks):
            m.d.sync += taken.bit_select(self.requested[:slots], 1).eq(0)
        with m.If(self.watched):
            m.d.sync += taken.bit_select(index, 1).eq(1)
        with m.If(~self.active):
            m.d.sync += taken.eq(~0)

        line = data.View(_Line, self.word)
        was_there = Signal()
        control = Signal(Control)
        header = data.View(Header, self.header)
        first = self.number == 0
        m.d.comb += [
            self.there.eq(Mux(first, line.phase != self.requested[slots], was_there)),
            header.route.eq(line.route),
            header.length.eq(line.length),
            header.source.eq(self.node),
            header.destination.eq(line.destination),
            header.protocol.eq(line.protocol),
            self.control.eq(control),
            self.found.eq(self.valid & (self.number == 3) & was_there),
            self.lacks.eq(self.valid & (self.number == 3) & ~was_there),
        ]
        with m.If(self.valid):
            m.d.sync += self.number.eq(self.number + 1)
            with m.If(first):
                m.d.sync += [was_there.eq(self.there), control.trace.eq(line.trace)]
                with m.If(line.payload):
                    m.d.sync += [control.inline.eq(LINE_PAYLOAD_INLINE),
                                 control.payload.eq(line.length - LINE_PAYLOAD_INLINE)]
                with m.Else():
                    # More than fits: more than any descriptor holds, so it is refused.
                    m.d.sync += [control.payload.eq(0),
                                 control.inline.eq(Mux(line.length <= LINE_INLINE,
                                                       line.length, ~0))]
        return m
