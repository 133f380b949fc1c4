"""Watches a range of host memory for CPUs that take its lines for writing."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ...layouts.trace import Block, Kind
from ..parts.event import EventPort

__all__ = ["Watch"]


class Watch(wiring.Component):
    """Tells of each line of a range that a CPU takes: by an upgrade, or a read for ownership.

    Latency: none. Throughput: one a cycle. It has no state.

    Members
    -------
    base, bytes : In(32), In(32)
        The range, multiples of 32; it does not wrap. No bytes: nothing is watched.
    owns, owned : In(1), In(32)
        A CPU takes the line at ``owned`` (:class:`HostPort`).
    watched : Out(1)
        It is of the range.
    event : Out(EventPort)
        Block WATCH: BEGIN, with the line's address; no number.
    """

    event_source = Block.WATCH
    """Whose event :attr:`event` is."""

    base: In(32)
    bytes: In(32)
    owns: In(1)
    owned: In(32)
    watched: Out(1)
    event: Out(EventPort)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        with m.If(self.owns):
            m.d.comb += self.watched.eq((self.owned - self.base)[:32] < self.bytes)
        m.d.comb += [
            self.event.valid.eq(self.watched),
            self.event.kind.eq(Kind.BEGIN),
            self.event.arg.eq(self.owned),
        ]
        return m
