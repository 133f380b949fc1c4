"""Shares the send DMA engine's port to host memory among its parts, one burst at a time."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import enum, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.packet import TRACE_BITS
from ...bus.burst import Burst

__all__ = ["BurstArbiter", "ReadPart", "WritePart"]


class _Part(enum.Enum, shape=2):
    """The part that a burst is for, in the order in which they go."""

    NONE = 0
    REPORT = 1
    PAYLOAD = 2
    DESCRIPTORS = 3


ReadPart = wiring.Signature({
    "free": In(1),
    "wanted": Out(1),
    "address": Out(32),
    "beats": Out(10),
    "begun": In(1),
    "words": In(stream.Signature(64)),
})
"""The side of a part that reads. ``free``: a burst may begin in this cycle; only then it is looked
whether one is ``wanted``. ``begun``: that of ``beats`` words at ``address`` does; later come its
``words``, all of them before ``free``."""

WritePart = wiring.Signature({
    "wanted": Out(1),
    "address": Out(32),
    "begun": In(1),
    "data": Out(64),
})
"""The side of a part that writes one word. ``begun``: the write of ``data`` to ``address`` begins;
from the next cycle to the next ``begun`` ``data`` is what is written."""


class BurstArbiter(wiring.Component):
    """One burst at a time: the report first, then payload, then descriptors.

    Latency: 1 cycle from ``wanted`` to the request; words none. Throughput: 1 word a cycle within a
    burst, then 1 cycle of choice. Back-pressure: words wait for their part. Reset: free.

    Members
    -------
    report : In(WritePart), payload : In(ReadPart), descriptors : In(ReadPart)
        The parts.
    trace : In(TRACE_BITS)
        Trace number of the packet that the payload is of. Constant while its burst is asked for.
    bus : Out(Burst)
        To host memory.
    idle : Out(1)
        No burst is under way.
    """

    report: In(WritePart)
    payload: In(ReadPart)
    descriptors: In(ReadPart)
    trace: In(TRACE_BITS)
    bus: Out(Burst())
    idle: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bus = self.bus
        # The part that the burst is for, and the one whose burst begins in this cycle.
        owner = Signal(_Part)
        begin = Signal(_Part)
        address = Signal(32)
        beats = Signal(10)

        with m.FSM(name="bus_state") as state:
            with m.State("IDLE"):
                m.d.comb += [self.payload.free.eq(1), self.descriptors.free.eq(1)]
                with m.If(self.report.wanted):
                    m.d.comb += begin.eq(_Part.REPORT)
                with m.Elif(self.payload.wanted):
                    m.d.comb += begin.eq(_Part.PAYLOAD)
                with m.Elif(self.descriptors.wanted):
                    m.d.comb += begin.eq(_Part.DESCRIPTORS)
                with m.If(begin != _Part.NONE):
                    m.next = "REQUEST"
            with m.State("REQUEST"):
                m.d.comb += bus.request.valid.eq(1)
                with m.If(bus.request.ready):
                    m.next = "READ"
                    with m.If(owner == _Part.REPORT):
                        m.next = "WRITE"
            with m.State("READ"):
                for kind, part in ((_Part.PAYLOAD, self.payload),
                                   (_Part.DESCRIPTORS, self.descriptors)):
                    with m.If(owner == kind):
                        m.d.comb += [part.words.valid.eq(bus.read.valid),
                                     bus.read.ready.eq(part.words.ready)]
                with m.If(bus.done):
                    m.next = "IDLE"
            with m.State("WRITE"):
                m.d.comb += [
                    bus.write.valid.eq(1),
                    bus.write.payload.data.eq(self.report.data),
                    bus.write.payload.strobe.eq(0xFF),
                ]
                with m.If(bus.write.ready):
                    m.next = "WRITTEN"
                with m.If(bus.done):
                    m.next = "IDLE"
            with m.State("WRITTEN"):
                with m.If(bus.done):
                    m.next = "IDLE"
        # Registers as they are: cheaper to simulate than zeroes while there is no request.
        m.d.comb += [
            self.idle.eq(state.ongoing("IDLE")),
            bus.request.payload.write.eq(owner == _Part.REPORT),
            bus.request.payload.address.eq(address),
            bus.request.payload.beats.eq(beats),
            bus.request.payload.trace.eq(Mux(owner == _Part.PAYLOAD, self.trace, 0)),
            self.payload.words.payload.eq(bus.read.payload),
            self.descriptors.words.payload.eq(bus.read.payload),
        ]

        with m.If(begin != _Part.NONE):
            m.d.sync += owner.eq(begin)
        with m.Switch(begin):
            with m.Case(_Part.REPORT):
                m.d.comb += self.report.begun.eq(1)
                m.d.sync += [address.eq(self.report.address), beats.eq(1)]
            for kind, part in ((_Part.PAYLOAD, self.payload),
                               (_Part.DESCRIPTORS, self.descriptors)):
                with m.Case(kind):
                    m.d.comb += part.begun.eq(1)
                    m.d.sync += [address.eq(part.address), beats.eq(part.beats)]
        return m
