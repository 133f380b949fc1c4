"""Two initiators of bursts behind one port."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .burst import Burst

__all__ = ["BurstShare"]


class BurstShare(wiring.Component):
    """Passes on the bursts of two initiators, one burst at a time.

    If both request, the one that was served last waits. Latency: none. Throughput: the port's.
    Back-pressure: the other's bursts. Reset: free.

    Members
    -------
    i : In(Burst), an array of two
        The initiators.
    o : Out(Burst)
        The port.
    """

    i: In(Burst()).array(2)
    o: Out(Burst())

    def elaborate(self, platform: object) -> Module:
        m = Module()
        busy = Signal()
        # The initiator whose burst is under way, or offered and perhaps not yet taken.
        owner = Signal()
        waiting = Signal()
        chosen = Signal()
        m.d.comb += chosen.eq(owner)
        with m.If(~busy & ~waiting):
            with m.If(self.i[0].request.valid & self.i[1].request.valid):
                m.d.comb += chosen.eq(~owner)
            with m.Elif(self.i[0].request.valid | self.i[1].request.valid):
                m.d.comb += chosen.eq(self.i[1].request.valid)
        for number, initiator in enumerate(self.i):
            m.d.comb += initiator.read.payload.eq(self.o.read.payload)
            with m.If(chosen == number):
                m.d.comb += [
                    self.o.request.payload.eq(initiator.request.payload),
                    self.o.write.payload.eq(initiator.write.payload),
                ]
                with m.If(busy):
                    m.d.comb += [
                        self.o.write.valid.eq(initiator.write.valid),
                        initiator.write.ready.eq(self.o.write.ready),
                        initiator.read.valid.eq(self.o.read.valid),
                        self.o.read.ready.eq(initiator.read.ready),
                        initiator.done.eq(self.o.done),
                    ]
                with m.Elif(initiator.request.valid):
                    m.d.comb += [
                        self.o.request.valid.eq(1),
                        initiator.request.ready.eq(self.o.request.ready),
                    ]
                    m.d.sync += [owner.eq(number), waiting.eq(~self.o.request.ready)]
        with m.If(self.o.request.valid & self.o.request.ready):
            m.d.sync += busy.eq(1)
        with m.Elif(self.o.done):
            m.d.sync += busy.eq(0)
        return m
