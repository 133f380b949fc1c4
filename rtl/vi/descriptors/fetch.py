"""Reads a block of a descriptor, up to 64 bytes, from the consumer's memory."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.packet import TRACE_BITS
from ....layouts.via import DESCRIPTOR_ALIGN, HANDLE_BITS, VA_BITS
from ..types import Access, Address, VirtualMemory

__all__ = ["BRIEF_WORDS", "DescriptorFetch", "FetchRequest", "HEAD_WORDS", "WORDS",
           "next_address"]

WORDS = DESCRIPTOR_ALIGN // 8
HEAD_WORDS = 4
"""Words of the control segment. A descriptor with fewer readable words is unreadable."""
BRIEF_WORDS = 6
"""Words of a descriptor's control segment and first segment; most descriptors have no more."""


class FetchRequest(data.Struct):
    """Read the 64 bytes at ``address`` under protection tag ``tag``, or with ``brief`` the first
    BRIEF_WORDS words of them. An address that is not a multiple of 64 is refused."""

    address: Address
    tag: 16
    brief: 1
    trace: TRACE_BITS


def next_address(words: "data.View | list[Value]") -> Value:
    """The Next and NextHandle of a descriptor as an :class:`Address` value.

    If one of them has bits above VA_BITS or HANDLE_BITS, the address is made misaligned, so that
    the descriptor is unreadable.
    """
    va, handle = words[0], words[1][:32]
    wide = (va[VA_BITS:] != 0) | (handle[HANDLE_BITS:] != 0)
    return Cat(va[0] | wide, va[1:VA_BITS], handle[:HANDLE_BITS])


class DescriptorFetch(wiring.Component):
    """Translates one address (local access) and reads up to 64 bytes from there.

    ``request`` is taken when the translator takes it. The fetch reads min(64, room) bytes, where
    room is the number of bytes left in the page and region according to the translation. ``count``
    is the number of whole words read. A brief read ends after BRIEF_WORDS of them; ``cut`` says
    that there were more. If the translation is refused, ``ok`` is low, ``count`` is 0, and nothing
    is read.

    Latency: the translation, the bursts, 1 cycle; the bus request comes in the cycle of the
    translation's answer. A refusal: 1 cycle. Throughput: one at a time; a request is taken in the
    cycle after ``valid`` at the earliest, so that ``translate.hold`` falls between two.
    Back-pressure: none on the answer; ``words``, ``count`` and ``ok`` hold until the next request
    is taken, and ``words`` until its data comes. Reset: idle.

    Members
    -------
    request : In(stream of FetchRequest)
        What to read. Its payload must hold while it is valid, as for every stream.
    linked : Out(1)
        High for a cycle when Next and NextHandle are in ``words``; not if the descriptor is
        unreadable.
    ending : Out(1)
        High for the cycle before ``valid``.
    valid, ok : Out(1), Out(1)
        High for the cycle of the answer; whether the address may be read.
    count, cut, words : Out(4), Out(1), Out(ArrayLayout(64, 8))
        Words read, whether a brief read left some, and they.
    memory : Out(VirtualMemory)
        To host memory; reads only.
    idle : Out(1)
        Nothing under way and nothing requested.
    """

    request: In(stream.Signature(FetchRequest))
    linked: Out(1)
    ending: Out(1)
    valid: Out(1)
    ok: Out(1)
    count: Out(4)
    cut: Out(1)
    words: Out(data.ArrayLayout(64, WORDS))
    memory: Out(VirtualMemory)
    idle: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        asked = self.request.payload
        bus, translate = self.memory.bus, self.memory.translate
        burst = bus.request.payload
        translated = translate.request.payload
        aligned = Signal()
        brief = Signal()
        enough = Signal()
        # The next burst: its beginning, and the number of words to read from there on.
        place = Signal(32)
        left = Signal(4)
        begins = Signal(32)
        rest = Signal(4)
        beats = Signal(4)
        index = Signal(4)
        trace = Signal(TRACE_BITS)
        m.d.sync += [self.valid.eq(self.ending), self.linked.eq(0)]
        m.d.comb += [
            translated.address.eq(asked.address),
            translated.tag.eq(asked.tag),
            translated.access.eq(Access.LOCAL),
            begins.eq(place),
            rest.eq(left),
            beats.eq(Mux(rest < self.memory.max_beats, rest, self.memory.max_beats)),
            burst.address.eq(begins),
            burst.beats.eq(beats),
            burst.trace.eq(trace),
        ]
        readable = Signal(4)
        cut = Signal()
        m.d.comb += [
            readable.eq(Mux(translate.room >= 8 * WORDS, WORDS, translate.room[3:6])),
            cut.eq(brief & (readable > BRIEF_WORDS)),
        ]
        with m.If(bus.request.valid):
            m.d.sync += [place.eq(begins), left.eq(rest)]
            with m.If(bus.request.ready):
                m.d.sync += [left.eq(rest - beats), place.eq(begins + Cat(Const(0, 3), beats))]
        with m.FSM() as state:
            with m.State("IDLE"):
                with m.If(self.request.valid & ~self.valid):
                    m.d.comb += aligned.eq(asked.address.va[:6] == 0)
                    with m.If(aligned):
                        m.d.comb += [
                            translate.request.valid.eq(1),
                            translate.hold.eq(1),
                            self.request.ready.eq(translate.request.ready),
                        ]
                        with m.If(translate.request.ready):
                            m.d.sync += [trace.eq(asked.trace), brief.eq(asked.brief),
                                         self.ok.eq(0), self.count.eq(0), self.cut.eq(0)]
                            m.next = "TRANSLATE"
                    with m.Else():
                        m.d.comb += [self.request.ready.eq(1), self.ending.eq(1)]
                        m.d.sync += [self.ok.eq(0), self.count.eq(0), self.cut.eq(0)]
            with m.State("TRANSLATE"):
                m.d.comb += translate.hold.eq(1)
                with m.If(translate.valid):
                    with m.If(translate.ok & (readable != 0)):
                        m.d.comb += [
                            begins.eq(Cat(Const(0, 3), translate.physical[3:])),
                            rest.eq(Mux(cut, BRIEF_WORDS, readable)),
                            bus.request.valid.eq(1),
                        ]
                        m.d.sync += [self.ok.eq(1), self.cut.eq(cut), index.eq(0),
                                     enough.eq(readable >= HEAD_WORDS)]
                        m.next = "REQUEST"
                        with m.If(bus.request.ready):
                            m.next = "READ"
                    with m.Else():
                        m.d.comb += self.ending.eq(1)
                        m.d.sync += self.ok.eq(translate.ok)
                        m.next = "IDLE"
            with m.State("REQUEST"):
                m.d.comb += [translate.hold.eq(1), bus.request.valid.eq(1)]
                with m.If(bus.request.ready):
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += [translate.hold.eq(1), bus.read.ready.eq(1)]
                with m.If(bus.read.valid):
                    m.d.sync += [self.words[index[:3]].eq(bus.read.payload),
                                 index.eq(index + 1), self.linked.eq(enough & (index == 1))]
                with m.If(bus.done):
                    with m.If(left == 0):
                        m.d.comb += self.ending.eq(1)
                        m.d.sync += self.count.eq(index + bus.read.valid)
                        m.next = "IDLE"
                    with m.Else():
                        m.next = "REQUEST"
        m.d.comb += self.idle.eq(state.ongoing("IDLE") & ~self.request.valid & ~self.valid)
        return m
