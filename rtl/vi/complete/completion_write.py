"""Writes what a completion says: status into a descriptor, an entry into a completion queue."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ....layouts.via import CONTROL_BYTES, CQ_ENTRY, DESCRIPTOR_ALIGN, Status
from ..types import Access, Completion, VirtualMemory
from .completion_queues import CqState

__all__ = ["CompletionWrite", "Writing"]

_Entry = data.StructLayout({field.name: field.width for field in CQ_ENTRY.fields})


Writing = wiring.Signature({
    "completion": Out(Completion),
    "tag": Out(16),
    "queue": Out(CqState),
    "status": Out(1),
    "entry": Out(1),
    "hold": Out(1),
    "landed": In(1),
    "refused": In(1),
})
"""Whose completions they are. ``status`` begins to write into the descriptor of ``completion``,
which belongs to a VI with ``tag``; ``entry`` begins to write the next entry of ``queue``. Both act
from the next cycle on, in which ``completion`` and ``queue`` hold. It ends with ``landed`` or
``refused``. ``hold`` holds the translator between two writes."""


class CompletionWrite(wiring.Component):
    """Translates the address, then writes in order, in bursts.

    A descriptor gets immediate data, if its status says so, then Length and Status with DONE, in
    one burst, or in two if ``max_beats`` is 1. It is ``refused`` if it may not be written, is
    unaligned or cut short; so is an entry that may not be written.

    Latency, on a bus where a write of n beats takes n + 2 cycles and with a translation that takes
    2: 6 cycles from ``status`` or ``entry`` to ``landed``, 1 more with immediate data.
    Back-pressure: of the memory. Reset: idle.

    Members
    -------
    user : In(Writing)
        Whose completions they are.
    memory : Out(VirtualMemory)
        Descriptors and completion queues.
    """

    user: In(Writing)
    memory: Out(VirtualMemory)

    def __init__(self) -> None:
        super().__init__()
        # Of the words: the immediate data is next, and the status after it in the same burst; or
        # the queue's entry is. Where.
        self._immediate = Signal()
        self._more = Signal()
        self._entry = Signal()
        self._physical = Signal(32)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        user, memory = self.user, self.memory
        completion, queue = user.completion, user.queue
        translate, request = memory.translate, memory.translate.request
        bus = memory.bus.request.payload
        immediate, more, entry, physical = (self._immediate, self._more, self._entry,
                                            self._physical)
        tag = Signal(16)
        both = Signal()
        good = Signal()
        busy = Signal()
        m.d.comb += [
            request.payload.address.eq(Mux(entry, queue.address, completion.address)),
            request.payload.tag.eq(Mux(entry, queue.tag, tag)),
            request.payload.access.eq(Access.LOCAL),
            request.payload.wide.eq(entry & queue.wide),
            translate.hold.eq(user.hold | busy),
            both.eq(immediate & (memory.max_beats != 1)),
            bus.write.eq(1),
            bus.address.eq(Mux(entry, physical, physical + Mux(immediate, 16, 24))),
            bus.beats.eq(Mux(both, 2, 1)),
            bus.trace.eq(completion.trace),
            good.eq(translate.ok & Mux(
                entry,
                (translate.room >= 8) & (translate.physical[:3] == 0),
                (translate.room >= CONTROL_BYTES)
                & (translate.physical[:ceil_log2(DESCRIPTOR_ALIGN)] == 0))),
        ]
        self._word(m)

        def landed() -> None:
            m.d.comb += user.landed.eq(1)
            m.next = "IDLE"

        with m.FSM() as self._state:
            with m.State("IDLE"):
                with m.If(user.status):
                    m.d.sync += [tag.eq(user.tag), entry.eq(0),
                                 immediate.eq((completion.status & Status.IMMEDIATE).any())]
                    m.next = "TRANSLATE"
                with m.If(user.entry):
                    m.d.sync += [entry.eq(1), immediate.eq(0)]
                    m.next = "TRANSLATE"
            with m.State("TRANSLATE"):
                m.d.comb += [busy.eq(1), request.valid.eq(1)]
                with m.If(request.ready):
                    m.next = "ANSWER"
            with m.State("ANSWER"):
                m.d.comb += busy.eq(1)
                m.d.sync += physical.eq(translate.physical)
                with m.If(translate.valid):
                    m.next = "REQUEST"
                    with m.If(~good):
                        m.d.comb += user.refused.eq(1)
                        m.next = "IDLE"
            with m.State("REQUEST"):
                m.d.comb += [busy.eq(1), memory.bus.request.valid.eq(1)]
                m.d.sync += more.eq(both)
                with m.If(memory.bus.request.ready):
                    m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += [busy.eq(1), memory.bus.write.valid.eq(1)]
                with m.If(memory.bus.write.ready):
                    m.d.sync += [immediate.eq(0), more.eq(0)]
                    with m.If(~more):
                        m.next = "DONE"
                        with m.If(immediate):
                            # The next burst is the one with the status.
                            m.next = "IMMEDIATE DONE"
                            with m.If(memory.bus.done):
                                m.next = "REQUEST"
                        with m.Elif(memory.bus.done):
                            landed()
            with m.State("IMMEDIATE DONE"):
                m.d.comb += busy.eq(1)
                with m.If(memory.bus.done):
                    m.next = "REQUEST"
            with m.State("DONE"):
                m.d.comb += busy.eq(1)
                with m.If(memory.bus.done):
                    landed()
        return m

    def _word(self, m: Module) -> None:
        """The next word."""
        completion, word = self.user.completion, self.memory.bus.write.payload
        entry_word = Signal(_Entry)
        m.d.comb += [
            entry_word.phase.eq(self.user.queue.phase),
            entry_word.receive.eq(completion.queue[0]),
            entry_word.vi.eq(completion.queue[1:]),
        ]
        with m.If(self._entry):
            m.d.comb += [word.data.eq(entry_word), word.strobe.eq(0xFF)]
        with m.Elif(self._immediate):
            m.d.comb += [word.data.eq(completion.immediate << 32), word.strobe.eq(0xF0)]
        with m.Else():
            m.d.comb += [word.data.eq(Cat(completion.length, completion.status | Status.DONE)),
                         word.strobe.eq(0xFF)]
