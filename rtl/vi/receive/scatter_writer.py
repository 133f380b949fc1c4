"""Scatters packet data into virtual memory, byte-exact."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.packet import TRACE_BITS
from ....layouts.via import VA_BITS
from ..types import Access, Address, VirtualMemory
from .packet_words import Arriving

__all__ = ["ScatterRequest", "ScatterRun", "ScatterWriter"]


class ScatterRequest(data.Struct):
    """The next ``bytes`` (at least 1) bytes of the packet go to ``address``. ``wide``: the address
    had bits beyond its fields: refused."""

    address: Address
    tag: 16
    access: Access
    wide: 1
    bytes: 16
    trace: TRACE_BITS


ScatterRun = wiring.Signature({
    "restart": Out(1),
    "request": Out(stream.Signature(ScatterRequest)),
    "ok": In(1),
    "written": In(16),
})
"""A run of bytes of a packet: ``request`` is taken in the cycle in which it is over. In that cycle
``ok`` says that all of it has landed (else a translation was refused, or the packet is bad), and
``written`` how many bytes have, a run's beginning. ``restart``: a new packet, of which the last
one's word is not; not while ``request`` is offered."""


class ScatterWriter(wiring.Component):
    """Writes runs of bytes out of a packet's words to any byte addresses.

    A run is translated page by page and written in bursts of at most ``max_beats`` beats, each
    inside one page, with strobes for the bytes of the run alone. Runs follow each other in the
    packet: what a run leaves of a word is the next run's beginning, up to ``restart``. An address
    that runs over the end of the address space is refused there.

    The packet may still be coming. A burst is asked for, and its address translated, only when all
    its words are here: neither bus nor translations ever wait for the link. Between bursts of a
    packet that is not whole each is translated anew, and a packet that is found bad then ends its
    run, as a refusal does.

    Latency: a run's first translation is asked for in the cycle in which it is offered, its first
    burst in the cycle of the answer. Throughput: 1 beat a cycle within a burst; 1 cycle between
    bursts, and a translation between pages. Back-pressure: ``bus`` stalls ``i``. Reset: idle.

    Members
    -------
    run : In(ScatterRun)
        The run.
    i : In(Arriving)
        The packet's words. A word is taken when its first byte is written.
    memory : Out(VirtualMemory)
        Where they go; writes only.
    """

    run: In(ScatterRun)
    i: In(Arriving)
    memory: Out(VirtualMemory)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        run = self.run.request.payload
        bus, translate = self.memory.bus, self.memory.translate
        ask = translate.request.payload
        burst = bus.request.payload

        # Where the next byte goes, how many bytes its page has from there on, bytes of this burst.
        place = Signal(32)
        room = Signal(17)
        at = Signal(32)
        there = Signal(17)
        asks = Signal()
        chunk = Signal(17)
        next_chunk = Signal(17)
        beats = Signal(10)
        next_beats = Signal(10)
        written = Signal(16)
        step = Signal(4)
        moved = Signal()

        after = Signal(16)
        left = Signal(16)
        in_page = Signal(17)
        reach = Signal(17)
        to_word_end = Signal(4)
        writing = Signal()
        translates = Signal()
        m.d.comb += [after.eq(written + step), self.run.written.eq(after)]
        kept = self._data(m, writing=writing, place=place, step=step, moved=moved)

        # Whether the words of the longest burst that may come next are here.
        first = Signal(3)
        longest = Signal(16)
        here = Signal()
        m.d.comb += [
            first.eq(run.address.va + written),
            left.eq(run.bytes - written),
            longest.eq(Cat(C(0, 3), self.memory.max_beats) - first),
            here.eq(self.i.whole | (Cat(kept, self.i.level) >= Mux(left < longest, left, longest))),
        ]

        with m.If(asks):
            m.d.comb += [
                in_page.eq(Mux(left < there, left, there)),
                reach.eq(Cat(C(0, 3), self.memory.max_beats) - at[:3]),
                next_chunk.eq(Mux(in_page < reach, in_page, reach)),
                next_beats.eq((next_chunk + at[:3] + 7) >> 3),
                burst.write.eq(1),
                burst.address.eq(Cat(C(0, 3), at[3:])),
                burst.trace.eq(run.trace),
                burst.beats.eq(next_beats),
                bus.request.valid.eq(1),
            ]
            m.d.sync += [chunk.eq(next_chunk), beats.eq(next_beats)]
        with m.If(translates):
            va = Signal(VA_BITS + 1)
            m.d.comb += [
                va.eq(run.address.va + written),
                ask.address.va.eq(va),
                ask.address.handle.eq(run.address.handle),
                ask.tag.eq(run.tag),
                ask.access.eq(run.access),
                ask.wide.eq(run.wide | va[VA_BITS]),
                translate.request.valid.eq(1),
                translate.hold.eq(1),
            ]
        with m.FSM():
            with m.State("ASK"):
                with m.If(self.run.request.valid):
                    with m.If(self.i.whole & self.i.bad):
                        m.d.comb += self.run.request.ready.eq(1)
                        m.d.sync += written.eq(0)
                    with m.Elif(here):
                        m.d.comb += translates.eq(1)
                        m.next = "ASKED"
                        with m.If(translate.request.ready):
                            m.next = "ANSWER"
            with m.State("ASKED"):
                m.d.comb += translates.eq(1)
                with m.If(translate.request.ready):
                    m.next = "ANSWER"
            with m.State("ANSWER"):
                m.d.comb += translate.hold.eq(1)
                with m.If(translate.valid):
                    m.d.comb += [at.eq(translate.physical), there.eq(translate.room)]
                    m.d.sync += [place.eq(at), room.eq(there)]
                    with m.If(translate.ok):
                        m.d.comb += asks.eq(1)
                        m.next = "BURST"
                        with m.If(bus.request.ready):
                            m.next = "WRITE"
                    with m.Else():
                        m.d.comb += self.run.request.ready.eq(1)
                        m.d.sync += written.eq(0)
                        m.next = "ASK"
            with m.State("BURST"):
                m.d.comb += [translate.hold.eq(1), at.eq(place), there.eq(room), asks.eq(1)]
                with m.If(bus.request.ready):
                    m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += [
                    translate.hold.eq(1),
                    writing.eq(1),
                    to_word_end.eq(8 - place[:3]),
                    step.eq(Mux(chunk < to_word_end, chunk, to_word_end)),
                ]
                with m.If(moved):
                    m.d.sync += [place.eq(place + step), room.eq(room - step),
                                 chunk.eq(chunk - step), written.eq(after), beats.eq(beats - 1)]
                    with m.If(beats == 1):
                        m.next = "DONE"
                        with m.If(bus.done):
                            self._landed(m, written=written, after=after, full=room == step)
            with m.State("DONE"):
                m.d.comb += translate.hold.eq(1)
                with m.If(bus.done):
                    self._landed(m, written=written, after=after, full=room == 0)
        return m

    def _landed(self, m: Module, *, written: Signal, after: Signal, full: Value) -> None:
        """A burst is over."""
        with m.If(after == self.run.request.payload.bytes):
            m.d.comb += [self.run.request.ready.eq(1), self.run.ok.eq(1)]
            m.d.sync += written.eq(0)
            m.next = "ASK"
        with m.Elif(full | ~self.i.whole | self.i.bad):
            m.next = "ASK"
        with m.Else():
            m.next = "BURST"

    def _data(self, m: Module, *, writing: Signal, place: Signal, step: Signal,
              moved: Signal) -> Signal:
        """The beat: ``step`` bytes out of what is left of the last word and the next one. How many
        are left."""
        # ``left`` bytes at the top of ``kept`` are not yet written.
        kept = Signal(64)
        left = Signal(3)
        enough = Signal()
        window = Signal(64)
        word, words = self.memory.bus.write, self.i.words
        m.d.comb += enough.eq(step <= left)
        with m.If(writing):
            m.d.comb += [
                word.valid.eq(enough | words.valid),
                words.ready.eq(~enough & word.ready),
                moved.eq(word.valid & word.ready),
                word.payload.strobe.eq(((1 << step) - 1)[:8] << place[:3]),
            ]
            with m.Switch(left):
                with m.Case(0):
                    m.d.comb += window.eq(words.payload)
                for byte in range(1, 8):
                    with m.Case(byte):
                        # What i shows when it is not taken must not show on the bus.
                        m.d.comb += window.eq(Cat(kept[64 - 8 * byte:], Mux(
                            enough, 0, words.payload[:64 - 8 * byte])))
            with m.Switch(place[:3]):
                for byte in range(8):
                    with m.Case(byte):
                        m.d.comb += word.payload.data.eq(window << 8 * byte)
        with m.If(moved):
            # Modulo 8, with the whole of a new word or without: the same difference.
            m.d.sync += left.eq(left - step)
            with m.If(~enough):
                m.d.sync += kept.eq(words.payload)
        with m.If(self.run.restart):
            m.d.sync += left.eq(0)
        return left
