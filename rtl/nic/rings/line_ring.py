"""The send ring that is pulled: which of its cache lines to look at, and what a line says."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.rings import LINE_BYTES, LINE_INLINE, LINE_PAYLOAD_INLINE, LINE_WORD
from ...bus.watch import LineTaken
from ...parts.flit import Header
from .descriptor_store import Control

__all__ = ["LineFound", "LineLook", "LineRing"]

_Line = data.StructLayout({field.name: field.width for field in LINE_WORD.fields})
_LINE_BITS = LINE_BYTES.bit_length() - 1


LineLook = wiring.Signature({
    "due": Out(1),
    "address": Out(32),
    "begin": In(1),
    "word": In(stream.Signature(64, always_ready=True)),
})
"""The ring's side: a look at the line at ``address`` is ``due``; its read burst is asked for next
(``begin``); the words of the line, in order."""

LineFound = wiring.Signature({
    "there": Out(1),
    "number": Out(2),
    "header": Out(64),
    "control": Out(Control),
    "found": Out(1),
    "lacks": Out(1),
})
"""What a line's word says, in its own cycle. ``there``: the line is a descriptor; ``number``: which
of its words this is; ``header``: with word 0 the wire header; ``control``: behind it the control
word. With the last word, ``found``: it was a descriptor; ``lacks``: it was none."""


class LineRing(wiring.Component):
    """Tells when to look at the next line of a ring of lines, and reads what comes.

    A look is due when a CPU has taken the next line for writing since it was last looked at. A
    line that nobody has taken since the NIC read it is dirty in no cache, so whoever stores to it
    has to take it, and is seen (:class:`TagCache`): nothing is missed, in whatever order lines are
    stored. After reset nothing is known of any line, so the first lap looks at each once in vain.

    Latency: ``look.due`` in the cycle after ``watched``; ``line`` in a word's own cycle.
    Reset, and while not ``active``: all lines count as taken.

    Parameters
    ----------
    ring : int
        Lines: a power of two of at least 4.
    cpus : int
        CPUs that take lines.

    Members
    -------
    active : In(1)
        The ring is on, and is one of lines.
    base, node : In(32), In(8)
        Where it lies, and the node for the wire headers' source.
    requested : In(16)
        Descriptors found so far; the line looked at is theirs that come next.
    watched : In(LineTaken), one a CPU
        Lines of the ring that CPUs take.
    look : Out(LineLook)
        Which line to look at, and its words.
    line : Out(LineFound)
        What they say.
    """

    def __init__(self, *, ring: int, cpus: int = 1) -> None:
        self._ring = ring
        self._cpus = cpus
        super().__init__({
            "active": In(1),
            "base": In(32),
            "node": In(8),
            "requested": In(16),
            "watched": In(LineTaken).array(cpus),
            "look": Out(LineLook),
            "line": Out(LineFound),
        })

    @property
    def ring(self) -> int:
        """Lines."""
        return self._ring

    @property
    def cpus(self) -> int:
        """CPUs that take lines."""
        return self._cpus

    def elaborate(self, platform: object) -> Module:
        m = Module()
        slots = (self._ring - 1).bit_length()

        # Lines that a CPU may hold dirty: taken since the last look at them was asked for.
        look, line = self.look, self.line
        taken = Signal(self._ring, init=~0)
        watched = self.watched
        indices = [Signal(slots, name=f"index_{cpu}") for cpu in range(self._cpus)]
        m.d.comb += [
            *(index.eq(one.address[_LINE_BITS:] - self.base[_LINE_BITS:])
              for index, one in zip(indices, watched, strict=True)),
            look.due.eq(self.active & taken.bit_select(self.requested[:slots], 1)),
            look.address.eq(self.base + Cat(Const(0, _LINE_BITS), self.requested[:slots])),
        ]
        with m.If(look.begin):
            m.d.sync += taken.bit_select(self.requested[:slots], 1).eq(0)
        for index, one in zip(indices, watched, strict=True):
            with m.If(one.valid):
                m.d.sync += taken.bit_select(index, 1).eq(1)
        with m.If(~self.active):
            m.d.sync += taken.eq(~0)

        word = data.View(_Line, look.word.payload)
        was_there = Signal()
        control = Signal(Control)
        header = data.View(Header, line.header)
        first = line.number == 0
        m.d.comb += [
            line.there.eq(Mux(first, word.phase != self.requested[slots], was_there)),
            header.route.eq(word.route),
            header.length.eq(word.length),
            header.source.eq(self.node),
            header.destination.eq(word.destination),
            header.protocol.eq(word.protocol),
            line.control.eq(control),
            line.found.eq(look.word.valid & (line.number == 3) & was_there),
            line.lacks.eq(look.word.valid & (line.number == 3) & ~was_there),
        ]
        with m.If(look.word.valid):
            m.d.sync += line.number.eq(line.number + 1)
            with m.If(first):
                m.d.sync += [was_there.eq(line.there), control.trace.eq(word.trace)]
                with m.If(word.payload):
                    m.d.sync += [control.inline.eq(LINE_PAYLOAD_INLINE),
                                 control.payload.eq(word.length - LINE_PAYLOAD_INLINE)]
                with m.Else():
                    # More than fits: more than any descriptor holds, so it is refused.
                    m.d.sync += [control.payload.eq(0),
                                 control.inline.eq(Mux(word.length <= LINE_INLINE,
                                                       word.length, ~0))]
        return m
