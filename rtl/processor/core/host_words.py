"""The core's own loads and stores of host memory."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ...bus.burst import Burst
from ..types import HostWordBus

__all__ = ["HostWords"]


class HostWords(wiring.Component):
    """Makes a bus transaction of one beat of each access to a word of host memory.

    Latency: 1 cycle from an access to the bus request; the access ends with its burst. So the
    core's accesses reach host memory in order. Throughput: one access at a time. Back-pressure: the
    core waits. The burst of an access that is given up, because the core crashed or was reset,
    comes to its end, and the next access waits for that. Reset: idle.

    Members
    -------
    core : ``In(HostWordBus)``
        The core's accesses.
    bus : ``Out(Burst)``
        To host memory.
    idle : ``Out(1)``
        No burst is asked for or under way.
    """

    core: In(HostWordBus)
    bus: Out(Burst())
    idle: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        core, bus = self.core, self.bus
        request, word = bus.request.payload, bus.write.payload
        address, upper = Signal(27), Signal()
        write, data, strobe = Signal(), Signal(32), Signal(4)
        given, loaded = Signal(), Signal(64)
        # Whether the core has waited since the access began.
        awaited = Signal()
        m.d.comb += [
            request.address.eq(Cat(Const(0, 3), address)),
            request.write.eq(write),
            request.beats.eq(1),
            word.data.eq(Cat(data, data)),
            word.strobe.eq(Mux(upper, Cat(Const(0, 4), strobe), strobe)),
            core.read.eq(Mux(bus.read.valid, bus.read.payload, loaded).word_select(upper, 32)),
        ]
        m.d.sync += awaited.eq(awaited & core.valid)
        with m.FSM() as state:
            with m.State("IDLE"):
                with m.If(core.valid):
                    m.d.sync += [
                        address.eq(core.address[3:]), upper.eq(core.address[2]),
                        write.eq(core.write), data.eq(core.data), strobe.eq(core.strobe),
                        given.eq(0), awaited.eq(1),
                    ]
                    m.next = "REQUEST"
            with m.State("REQUEST"):
                m.d.comb += bus.request.valid.eq(1)
                with m.If(bus.request.ready):
                    m.next = "MOVE"
            with m.State("MOVE"):
                m.d.comb += [bus.write.valid.eq(write & ~given), bus.read.ready.eq(1)]
                with m.If(bus.write.ready):
                    m.d.sync += given.eq(1)
                with m.If(bus.read.valid):
                    m.d.sync += loaded.eq(bus.read.payload)
                with m.If(bus.done):
                    m.d.comb += core.ack.eq(awaited & core.valid)
                    m.next = "IDLE"
        m.d.comb += self.idle.eq(state.ongoing("IDLE"))
        return m
