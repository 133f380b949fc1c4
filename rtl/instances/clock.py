"""The cycle counter of an instance."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["CycleCounter"]


class CycleCounter(wiring.Component):
    """The cycle of an instance that gets clock edges only while it is active.

    Latency: ``cycle`` is the value of ``following`` at the last edge. Reset: 0.

    Members
    -------
    following : ``In(64)``
        The cycle that the next edge begins.
    cycle : ``Out(64)``
        The cycle that the instance is in.
    """

    following: In(64)
    cycle: Out(64)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.sync += self.cycle.eq(self.following)
        return m
