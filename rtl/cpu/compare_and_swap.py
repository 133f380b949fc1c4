"""Compare-and-swap of a word of host memory, atomic at the memory controller."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..bus.burst import Burst

__all__ = ["CompareAndSwap"]


class CompareAndSwap(wiring.Component):
    """Reads a word and, if it is the expected one, writes another, with exclusive use of the port.

    ``valid`` requests an access. The access ends with the cycle in which ``done`` is high, which
    may be the first one; until then the inputs hold. Without other users of the memory it takes
    ``memory.latency + 3`` cycles when the words differ, ``memory.latency + 5`` when it writes. The
    access bypasses the caches. Reset: idle.

    Members
    -------
    valid : ``In(1)``, address : ``In(32)``, expected : ``In(64)``, replacement : ``In(64)``
        The access.
    done : ``Out(1)``, old : ``Out(64)``
        Its last cycle, and the old word.
    memory : ``Out(Burst)``, lock : ``Out(1)``
        The memory controller.
    """

    valid: In(1)
    address: In(32)
    expected: In(64)
    replacement: In(64)
    done: Out(1)
    old: Out(64)
    memory: Out(Burst())
    lock: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        word = Signal(64)
        request, write, read = self.memory.request, self.memory.write, self.memory.read
        m.d.comb += [
            request.payload.address.eq(self.address),
            request.payload.beats.eq(1),
            write.payload.data.eq(self.replacement),
            write.payload.strobe.eq(~0),
            self.old.eq(word),
        ]
        with m.If(self.valid), m.FSM() as fsm:
            with m.State("IDLE"):
                m.d.comb += request.valid.eq(1)
                with m.If(request.ready):
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += [read.ready.eq(1), self.old.eq(read.payload)]
                with m.If(read.valid):
                    m.d.sync += word.eq(read.payload)
                    with m.If(read.payload == self.expected):
                        m.next = "REQUEST"
                    with m.Else():
                        m.d.comb += self.done.eq(1)
                        m.next = "IDLE"
            with m.State("REQUEST"):
                m.d.comb += [request.valid.eq(1), request.payload.write.eq(1)]
                with m.If(request.ready):
                    m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += write.valid.eq(1)
                with m.If(write.ready):
                    m.d.comb += self.done.eq(1)
                    m.next = "IDLE"
        m.d.comb += self.lock.eq(~fsm.ongoing("IDLE"))
        return m
