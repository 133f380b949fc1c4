"""Tells software in host memory how many descriptors of the send ring are done."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .burst_arbiter import WritePart

__all__ = ["DoneReporter"]


class DoneReporter(wiring.Component):
    """Writes ``done`` to ``place`` after a descriptor has finished. Of those that finish before the
    write begins one report tells.

    Latency: 1 cycle from ``finished`` to ``bus.wanted``. Reset: nothing to tell.

    Members
    -------
    place : In(32)
        Address of the word. With 0 nothing is reported.
    done : In(16)
        Descriptors done, modulo 65536.
    finished : In(1)
        One more is done from the next cycle on.
    bus : Out(WritePart)
        To host memory.
    """

    place: In(32)
    done: In(16)
    finished: In(1)
    bus: Out(WritePart)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        reported = Signal(16)
        pending = self.bus.wanted
        m.d.comb += [self.bus.address.eq(self.place), self.bus.data.eq(reported)]
        with m.If(self.bus.begun):
            m.d.sync += [pending.eq(0), reported.eq(self.done)]
        with m.If(self.finished & (self.place != 0)):
            m.d.sync += pending.eq(1)
        return m
