"""Compare-and-swap of a word whose line is in the CPU's cache."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..bus.burst import Burst
from ..parts.timing import Timing

__all__ = ["LEAST", "OwnedSwap"]

LEAST = 6
"""Fewest cycles of a compare-and-swap: 1 for the memory port to be free of the line's own read, 5
for the read and the write."""


class OwnedSwap(wiring.Component):
    """Reads a word of a line that the CPU owns and, if it is the expected one, writes another.

    ``valid`` requests a swap; it ends with the cycle in which ``done`` is high, and takes
    ``cpu.cas`` cycles, whether it writes or not. Until then the inputs hold. Word and memory port
    are its own from the read on, in the last four cycles: a beat each way, without latency, as the
    cache has the line. If a store of another CPU to the line ends between them, it begins again
    with the read. (That is so only where the store was to several lines, and ended later than it
    owned this one.) Reset: idle.

    Members
    -------
    valid : ``In(1)``, address : ``In(32)``, expected : ``In(64)``, replacement : ``In(64)``
        The swap.
    missed : ``In(1)``
        A store of another CPU to the line ends.
    done : ``Out(1)``, old : ``Out(64)``, writes : ``Out(1)``
        Its last cycle, the old word, and whether it wrote.
    memory : ``Out(Burst)``, lock : ``Out(1)``
        The memory controller.
    timing : ``In(Timing)``
        The timing registers.
    """

    valid: In(1)
    address: In(32)
    expected: In(64)
    replacement: In(64)
    missed: In(1)
    done: Out(1)
    old: Out(64)
    writes: Out(1)
    memory: Out(Burst())
    lock: Out(1)
    timing: In(Timing)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        word = Signal(64)
        left = Signal.like(self.timing.cpu_cas)
        missed = Signal()
        request, write, read = self.memory.request, self.memory.write, self.memory.read
        m.d.comb += [
            request.payload.address.eq(self.address),
            request.payload.beats.eq(1),
            write.payload.data.eq(self.replacement),
            write.payload.strobe.eq((~missed).replicate(8)),
            self.old.eq(word),
        ]

        def begin() -> None:
            m.d.comb += [self.lock.eq(1), request.valid.eq(1)]
            m.d.sync += missed.eq(0)
            m.next = "REQUEST"
            with m.If(request.ready):
                m.next = "READ"

        def note() -> None:
            m.d.comb += self.lock.eq(1)
            with m.If(self.missed):
                m.d.sync += missed.eq(1)

        with m.If(self.valid), m.FSM():
            with m.State("IDLE"):
                m.d.sync += left.eq(self.timing.cpu_cas - LEAST)
                m.next = "WAIT"
            with m.State("WAIT"):
                m.d.sync += left.eq(left - 1)
                with m.If(left == 0):
                    begin()
            with m.State("REQUEST"):
                begin()
            with m.State("READ"):
                note()
                m.d.comb += read.ready.eq(1)
                with m.If(read.valid):
                    m.d.sync += word.eq(read.payload)
                    m.next = "DIFFERS"
                    with m.If(read.payload == self.expected):
                        m.next = "CLAIM"
            with m.State("DIFFERS"):
                m.next = "LAST"
            with m.State("LAST"):
                m.d.comb += self.done.eq(1)
                m.next = "IDLE"
            with m.State("CLAIM"):
                note()
                m.d.comb += [request.valid.eq(1), request.payload.write.eq(1)]
                with m.If(request.ready):
                    m.next = "WRITE"
            with m.State("WRITE"):
                note()
                m.d.comb += write.valid.eq(1)
                with m.If(write.ready):
                    m.next = "REQUEST"
                    with m.If(~missed):
                        m.d.comb += [self.done.eq(1), self.writes.eq(1)]
                        m.next = "IDLE"
        return m
