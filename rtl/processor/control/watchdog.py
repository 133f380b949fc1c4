"""The watchdog: detects firmware that runs for too long without a read of ``wait``."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["LIMIT_BITS", "Watchdog"]

LIMIT_BITS = 24
"""Bits of processor.watchdog, in cycles."""


class Watchdog(wiring.Component):
    """Counts the cycles in which the processor is awake, from 0 after each kick.

    ``expired`` is high in the ``limit``-th cycle in a row with ``awake`` and without ``kick``, and
    until either changes. A cycle with ``awake`` low, or with ``kick``, sets the count to 0. Reset:
    the count is 0.

    Members
    -------
    awake : ``In(1)``
        The processor runs: not in reset, not asleep, not crashed.
    kick : ``In(1)``
        A read of ``wait``, or a write to ``watchdog``.
    limit : ``In(24)``
        processor.watchdog, in cycles; 0: never.
    expired : ``Out(1)``
        The firmware counts as crashed.
    """

    awake: In(1)
    kick: In(1)
    limit: In(LIMIT_BITS)
    expired: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        count = Signal(LIMIT_BITS)
        with m.If(self.awake & ~self.kick):
            m.d.comb += self.expired.eq((self.limit != 0) & (count >= self.limit - 1))
            with m.If(~count.all()):
                m.d.sync += count.eq(count + 1)
        with m.Elif(count != 0):
            m.d.sync += count.eq(0)
        return m
