"""The delay of an interrupt from the NIC's line to the CPU."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..parts.timing import Timing

__all__ = ["IrqDelay"]


class IrqDelay(wiring.Component):
    """Passes the NIC's interrupt line to the CPU with a delay.

    A line that rose at edge t (is high from cycle t on) can end an operation at edge t +
    ``nic.irq_latency``, at t + 1 for a latency of 0: ``seen`` is high from the cycle before that
    edge for as long as the line is. When the line falls, the CPU sees it at once, and a pending
    interrupt is dropped. Reset: the line was low.

    Members
    -------
    irq : ``In(1)``
        The line, a level.
    now : ``In(32)``, timing : ``In(Timing)``
        The cycle counter's low half, and the timing registers.
    seen : ``Out(1)``
        The CPU sees the interrupt: an operation that it ends, ends with this cycle.
    settled : ``Out(1)``
        The line does not change in this cycle.
    pending : ``Out(1)``, distance : ``Out(32)``
        An interrupt is on its way, and the cycles from this one to the one in which it is seen.
    """

    irq: In(1)
    now: In(32)
    timing: In(Timing)
    seen: Out(1)
    settled: Out(1)
    pending: Out(1)
    distance: Out(32)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        before = Signal()
        waiting = Signal()
        arrived = Signal()
        due = Signal(32)
        m.d.comb += [
            self.settled.eq(self.irq == before),
            self.pending.eq(self.irq & waiting),
            self.distance.eq(due - self.now),
        ]
        with m.If(self.irq):
            with m.If(before):
                m.d.comb += self.seen.eq(arrived | (waiting & (self.now == due)))
            with m.Elif(self.timing.nic_irq_latency <= 1):
                m.d.comb += self.seen.eq(1)
            with m.Else():
                m.d.sync += [waiting.eq(1), due.eq(self.now + self.timing.nic_irq_latency - 1)]
            with m.If(self.seen):
                m.d.sync += [arrived.eq(1), waiting.eq(0)]
            m.d.sync += before.eq(1)
        with m.Elif(before):
            m.d.sync += [before.eq(0), arrived.eq(0), waiting.eq(0)]
        return m
