"""Watches a range of host memory for lines that a CPU takes for writing."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ...layouts.trace import Block, Kind
from ..parts.event import EventPort

__all__ = ["LineTaken", "Watch"]

LineTaken = wiring.Signature({
    "valid": Out(1),
    "address": Out(32),
})
"""In a cycle with ``valid`` a CPU takes the line at ``address`` for writing (:class:`HostPort`)."""


class Watch(wiring.Component):
    """Reports each line of a range that a CPU takes, by an upgrade or a read for ownership.

    Latency: none. Throughput: one a cycle. It has no state.

    Members
    -------
    base, bytes : In(32), In(32)
        The range, multiples of 32; it does not wrap. No bytes: nothing is watched.
    taken : In(LineTaken)
        Lines that CPUs take.
    watched : Out(LineTaken)
        Those of the range. The address is there without ``valid``, too.
    event : Out(EventPort)
        Block WATCH: BEGIN, with the line's address; no number.
    """

    event_source = Block.WATCH
    """The block of :attr:`event`."""

    base: In(32)
    bytes: In(32)
    taken: In(LineTaken)
    watched: Out(LineTaken)
    event: Out(EventPort)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        with m.If(self.taken.valid):
            m.d.comb += self.watched.valid.eq((self.taken.address - self.base)[:32] < self.bytes)
        m.d.comb += [
            self.watched.address.eq(self.taken.address),
            self.event.valid.eq(self.watched.valid),
            self.event.kind.eq(Kind.BEGIN),
            self.event.arg.eq(self.taken.address),
        ]
        return m
