"""Completions of every queue are in order, and DONE is the last word of each: proven for all time.

8 VIs, 4 completion queues; clients, translator and bus as hostile as their contracts let them be.
"""

from amaranth.hdl import Assert, Assume, Cat, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import wiring
from nicbed.layouts.trace import Kind
from nicbed.layouts.via import CQ_ENTRY, Status
from nicbed.rtl.vi.complete.completion_unit import CompletionUnit
from nicbed.rtl.vi.types import Completion

from tests.formal.prover import needs_prover, prove

pytestmark = needs_prover


class InOrder(wiring.Elaboratable):
    """No completion is taken before the one before it has landed; and of each, the immediate data
    is written first, then Length and Status with DONE, then, once those have landed, the entry of
    the completion queue; each once, and nothing else is written."""

    def __init__(self, unit: CompletionUnit) -> None:
        self.unit = unit

    def elaborate(self, platform: object) -> Module:
        m = Module()
        unit = self.unit
        # Elaborated here, so that their insides are there to speak of.
        write = unit._write
        inside = write.elaborate(platform)
        write.elaborate = lambda platform: inside
        m.submodules.unit = unit.elaborate(platform)
        bus, translate = unit.memory.bus, unit.memory.translate
        word = bus.write.payload

        def claim(condition: Value, then: Value) -> Assert:
            return Assert(~condition | then)

        def at(*names: str) -> Value:
            return Cat(unit._state.ongoing(name) for name in names).any()

        def writes(*names: str) -> Value:
            return Cat(write._state.ongoing(name) for name in names).any()

        landed = Signal()
        m.d.comb += [
            Assume(~ResetSignal()),
            landed.eq(unit.events[0].valid & (unit.events[0].kind == Kind.END)),
        ]

        # The bus: one burst at a time, done when all its beats were given.
        active = Signal()
        left = Signal(10)
        place = Signal(32)
        beat = Signal()
        asked = Signal()
        m.d.comb += [
            beat.eq(bus.write.valid & bus.write.ready),
            asked.eq(bus.request.valid & bus.request.ready),
            Assume(~(bus.request.ready & active)),
            Assume(~(bus.write.ready & (left == 0))),
            Assume(~bus.done | (active & ((left == 0) | ((left == 1) & beat)))),
            Assume(unit.memory.max_beats != 0),
        ]
        with m.If(asked):
            m.d.sync += [active.eq(1), left.eq(bus.request.payload.beats),
                         place.eq(bus.request.payload.address)]
        with m.If(beat):
            m.d.sync += [left.eq(left - 1), place.eq(place + 8)]
        with m.If(bus.done):
            m.d.sync += active.eq(0)

        # The translator: answers what it was asked.
        pending = Signal()
        m.d.comb += Assume(~translate.valid | pending)
        with m.If(translate.request.valid & translate.request.ready):
            m.d.sync += pending.eq(1)
        with m.If(translate.valid):
            m.d.sync += pending.eq(0)

        # What was taken and has not landed, and what of it was written.
        busy = Signal()
        taken = Signal(Completion)
        answers = Signal(2)
        good = Signal()
        descriptor = Signal(32)
        entry = Signal(32)
        wrote = Signal(3)
        status_landed = Signal()
        takes = Cat(port.valid & port.ready for port in unit.i)
        immediate = (taken.status & Status.IMMEDIATE).any()
        m.d.comb += [
            claim(takes.any(), ~busy), Assert(~takes.all()), claim(landed, busy),
        ]
        with m.If(landed):
            m.d.sync += busy.eq(0)
            m.d.comb += [
                Assert(unit.events[0].arg == taken.queue),
                Assert((wrote[1] | (beat & (answers == 1))) == good),
            ]
        with m.If(takes.any()):
            m.d.sync += [busy.eq(1), taken.eq(Mux(takes[0], unit.i[0].payload, unit.i[1].payload)),
                         answers.eq(0), good.eq(0), wrote.eq(0), status_landed.eq(0)]
        with m.If(translate.valid):
            m.d.sync += answers.eq(answers + 1)
            with m.If(answers == 0):
                m.d.sync += [descriptor.eq(translate.physical),
                             good.eq(translate.ok & (translate.room >= 32)
                                     & (translate.physical[:6] == 0))]
            with m.Else():
                m.d.sync += entry.eq(translate.physical)
        with m.If(bus.done & (answers == 1) & (wrote[1] | (beat & (place == descriptor + 24)))):
            m.d.sync += status_landed.eq(1)
        with m.If(beat):
            m.d.comb += [Assert(busy), Assert(good), Assert(~word.jump)]
            with m.If(answers == 2):
                number = CQ_ENTRY.offset("vi")
                m.d.comb += [
                    Assert(status_landed & ~wrote[2]), Assert(place == entry),
                    Assert(word.strobe == 0xFF),
                    Assert(word.data[number:] == taken.queue[1:]),
                    Assert(word.data[CQ_ENTRY.offset("receive")] == taken.queue[0]),
                ]
                m.d.sync += wrote[2].eq(1)
            with m.Elif(place == descriptor + 24):
                m.d.comb += [
                    Assert(~wrote[1] & (wrote[0] == immediate)), Assert(word.strobe == 0xFF),
                    Assert(word.data == Cat(taken.length, taken.status | Status.DONE)),
                ]
                m.d.sync += wrote[1].eq(1)
            with m.Else():
                m.d.comb += [
                    Assert(immediate & (wrote == 0)), Assert(place == descriptor + 16),
                    Assert(word.strobe == 0xF0), Assert(word.data[32:] == taken.immediate),
                ]
                m.d.sync += wrote[0].eq(1)

        # What makes it inductive.
        moving = writes("WRITE", "DONE", "IMMEDIATE DONE")
        m.d.comb += [
            Assert(busy == at("CONTEXT", "WRITE", "LOOK")),
            Assert(at("WRITE") == ~writes("IDLE")),
            claim(busy, taken == unit._completion),
            Assert(active == moving), Assert(pending == writes("ANSWER")),
            claim(at("CONTEXT", "LOOK"), ~unit._on_entry),
            claim(at("WRITE"), unit._on_entry == write._entry),
            claim(at("LOOK") | writes("IMMEDIATE DONE"), ~write._entry),
            claim(at("CONTEXT"), (answers == 0) & (wrote == 0) & ~status_landed & ~good),
            claim(at("WRITE") & write._entry, ~write._immediate),
            claim(writes("TRANSLATE", "ANSWER") & ~write._entry,
                  (answers == 0) & (wrote == 0) & ~good & ~status_landed
                  & (write._immediate == immediate)),
            claim(at("WRITE") & write._entry | at("LOOK"),
                  status_landed & wrote[1] & ~wrote[2] & good | writes("DONE")),
            claim(writes("TRANSLATE", "ANSWER") & write._entry | at("LOOK"), answers == 1),
            claim((writes("REQUEST") | moving) & ~write._entry,
                  (answers == 1) & good & (write._physical == descriptor) & ~status_landed
                  & (descriptor[:6] == 0)),
            claim((writes("REQUEST") | moving) & write._entry,
                  (answers == 2) & good & (write._physical == entry) & status_landed & wrote[1]),
            claim(writes("REQUEST", "WRITE") & ~write._entry,
                  ~wrote[1] & (wrote[0] == (immediate & ~write._immediate))
                  & (immediate | ~write._immediate)),
            claim(writes("WRITE"),
                  (left == Mux(write._more, 2, 1)) & (~write._more | write._immediate)),
            claim(writes("WRITE") & ~write._entry,
                  place == descriptor + Mux(write._immediate, 16, 24)),
            claim(writes("WRITE") & write._entry, (place == entry) & ~wrote[2]),
            claim(writes("REQUEST", "WRITE") & write._entry, ~wrote[2]),
            claim(writes("IMMEDIATE DONE"), (left == 0) & wrote[0] & ~wrote[1] & immediate
                  & ~write._immediate & (place == descriptor + 24)),
            claim(writes("DONE"), (left == 0) & wrote[1]),
            claim(~active, left == 0), claim(answers < 2, ~wrote[2]),
            claim(at("WRITE", "LOOK") & wrote[1], ~write._immediate),
        ]
        return m


def ports(unit: CompletionUnit) -> list[Value]:
    """All inputs, for the prover to drive."""
    return [Value.cast(value) for _, _, value in unit.signature.flatten(unit)]


def test_in_order(tmp_path):
    unit = CompletionUnit(vis=8, cqs=4)
    prove(InOrder(unit), ports(unit), tmp_path, depth=3)
