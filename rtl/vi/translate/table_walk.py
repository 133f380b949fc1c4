"""Reads an entry of the translation and protection table in host memory."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.via import INDEX_BITS, TRANSLATION_FLAGS, TRANSLATION_PLACE
from ...bus.burst import Burst
from .translation_table import TranslationEntry

__all__ = ["TableWalk", "Walk", "entry_of"]

Flags = data.StructLayout({field.name: field.width for field in TRANSLATION_FLAGS.fields})
Place = data.StructLayout({field.name: field.width for field in TRANSLATION_PLACE.fields})


def entry_of(m: Module, entry: Signal, flags: Value, place: Value) -> None:
    """Make ``entry``, a TranslationEntry, of the table's two words."""
    for layout, word in ((Flags, flags), (Place, place)):
        view = data.View(layout, word[:layout.size])
        m.d.comb += [entry[name].eq(view[name]) for name in layout.members if name != "reserved"]


Walk = wiring.Signature({
    "start": Out(1),
    "index": Out(INDEX_BITS),
    "busy": In(1),
    "there": In(1),
    "entry": In(TranslationEntry),
    "take": Out(1),
})
"""``start``, only while ``busy`` is low: fetch entry ``index``. ``busy`` from the next cycle to the
cycle of ``take``. ``there``: ``entry`` has arrived; it waits for ``take``, which may come only
then."""


class TableWalk(wiring.Component):
    """Fetches one entry at a time, the word with its valid bit first.

    An entry that is invalidated (``forget``) while it is on its way is fetched again. So an offered
    entry was read from memory after the last ``forget`` of its index.

    Latency: the request is offered in the cycle after ``start``, ``there`` rises in the cycle
    after the burst's ``done``. Throughput: one entry at a time. Reset: idle.

    Members
    -------
    walk : In(Walk)
        The entry to fetch.
    forget, forget_index : In(1), In(14)
        Data read so far of entry ``forget_index`` is void; ``there`` falls if it is this entry. Not
        together with ``walk.take``.
    table_base : In(32)
        The table's address, a multiple of 16.
    max_beats : In(10)
        Longest burst in beats, at least 1: with 1 an entry takes two bursts.
    bus : Out(Burst)
        To host memory.
    """

    walk: In(Walk)
    forget: In(1)
    forget_index: In(INDEX_BITS)
    table_base: In(32)
    max_beats: In(10)
    bus: Out(Burst())

    def __init__(self) -> None:
        super().__init__()
        self._index = Signal(INDEX_BITS)
        self._flags = Signal(64)
        # Words that have arrived.
        self._words = Signal(2)
        # The entry that has arrived, or is on its way, was invalidated.
        self._void = Signal()
        self._reading = Signal()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        request = self.bus.request.payload
        index, flags, words, void = self._index, self._flags, self._words, self._void
        place = Signal(64)
        next_words = Signal(2)
        m.d.comb += [
            next_words.eq(words + (self.bus.read.valid & self.bus.read.ready)),
            request.address.eq(self.table_base + (index << 4) + (words[0] << 3)),
            request.beats.eq(Mux((self.max_beats == 1) | words[0], 1, 2)),
        ]
        entry_of(m, self.walk.entry, flags, place)

        with m.FSM() as state:
            with m.State("IDLE"):
                with m.If(self.walk.start):
                    m.d.sync += [index.eq(self.walk.index), words.eq(0), void.eq(0)]
                    m.next = "REQUEST"
            with m.State("REQUEST"):
                m.d.comb += self.bus.request.valid.eq(1)
                with m.If(self.bus.request.ready):
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += [self._reading.eq(1), self.bus.read.ready.eq(1)]
                with m.If(self.bus.read.valid):
                    m.d.sync += [words.eq(next_words), place.eq(self.bus.read.payload)]
                    with m.If(words == 0):
                        m.d.sync += flags.eq(self.bus.read.payload)
                with m.If(self.bus.done):
                    m.next = "REQUEST"
                    with m.If(next_words == 2):
                        m.next = "THERE"
            with m.State("THERE"):
                m.d.comb += self.walk.there.eq(~void)
                with m.If(void):
                    m.d.sync += [void.eq(0), words.eq(0)]
                    m.next = "REQUEST"
                with m.Elif(self.walk.take):
                    m.next = "IDLE"
        m.d.comb += self.walk.busy.eq(~state.ongoing("IDLE"))
        with m.If(self.forget):
            with m.If(self.walk.busy & (self.forget_index == index)):
                m.d.sync += void.eq(1)
        return m
