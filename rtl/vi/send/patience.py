"""Tells how long a peer that does not answer is waited for."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ...parts.timing import Timing

__all__ = ["LONGEST_DOUBLED", "Patience"]

LONGEST_DOUBLED = 1 << 17
"""Time-outs in a row double up to this many cycles."""
MOST_DOUBLINGS = 6


class Patience(wiring.Component):
    """Doubles each time-out in a row, up to LONGEST_DOUBLED cycles or the time-out itself,
    whichever is more, and says when it is the last. Combinational.

    Members
    -------
    timing : In(Timing)
        ``via.retry_timeout``: a time-out; ``via.retries``: this many in a row break a connection.
    retries : In(8)
        Time-outs, and probes, since the peer last answered.
    extension : Out(32)
        Cycles until the next time-out, if this one is not the last.
    last : Out(1)
        A time-out now is the last one.
    silent : Out(1)
        All probes were in vain.
    """

    timing: In(Timing)
    retries: In(8)
    extension: Out(32)
    last: Out(1)
    silent: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        timeout, most = self.timing.via_retry_timeout, self.timing.via_retries
        doubled = Signal(32)
        m.d.comb += [
            doubled.eq((timeout << 1) << Mux(self.retries > MOST_DOUBLINGS, MOST_DOUBLINGS,
                                             self.retries[:3])),
            self.extension.eq(Mux(doubled < LONGEST_DOUBLED, doubled,
                                  Mux(timeout < LONGEST_DOUBLED, LONGEST_DOUBLED, timeout))),
            self.last.eq(self.retries + 1 >= most),
            self.silent.eq(self.retries >= most),
        ]
        return m
