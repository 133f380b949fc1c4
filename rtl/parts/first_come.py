"""Arbitration by age: first come, first served."""

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .sizes import check_count

__all__ = ["FirstCome"]


class FirstCome(wiring.Component):
    """Grants one of ``count`` requesters: of those that are able to go, the one that has requested
    longest.

    Latency: none, ``grant`` follows ``requests`` and ``able`` combinationally. Throughput: a grant
    a cycle. Of requests that begin in the same cycle the lowest is first. A requester that is not
    able to go is passed over, and keeps its place. So whoever wants what another one wants gets it
    before that one has it twice. The user raises ``advance`` in a cycle in which the grant is used;
    a requester keeps requesting until then. Reset: nobody has requested.

    Parameters
    ----------
    count : :class:`int`
        Number of requesters, 1 or more.

    Members
    -------
    requests : ``In(count)``
        One bit a requester.
    able : ``In(count)``
        Those that may be granted in this cycle.
    advance : ``In(1)``
        The grant is used in this cycle. Without a grant it does nothing.
    grant : ``Out(count)``
        One-hot; zero if nobody that requests is able to go.

    Raises
    ------
    TypeError
        ``count`` is not an integer.
    ValueError
        ``count`` is less than 1.
    """

    def __init__(self, *, count: int) -> None:
        check_count("count", count)
        self._count = count
        self._waiting = Signal(count)
        """Those that requested in the last cycle, and were not granted."""
        self._before = [Signal(count, name=f"before_{number}") for number in range(count)]
        """Of each that waits, those that have waited longer."""
        super().__init__({"requests": In(count), "able": In(count), "advance": In(1),
                          "grant": Out(count)})

    @property
    def count(self) -> int:
        """Number of requesters."""
        return self._count

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ready = Signal(self._count)
        left = Signal(self._count)
        m.d.comb += [
            ready.eq(self.requests & self.able),
            left.eq(self.requests & ~Value.cast(self.grant & self.advance.replicate(self._count))),
        ]
        m.d.sync += self._waiting.eq(left)
        for number, before in enumerate(self._before):
            earlier = Signal(self._count, name=f"earlier_{number}")
            with m.If(self._waiting[number]):
                m.d.comb += earlier.eq(before)
            with m.Else():
                lower = Cat(self.requests[:number], (self.requests & self._waiting)[number:])
                m.d.comb += earlier.eq(lower)
            m.d.comb += self.grant[number].eq(ready[number] & ~(earlier & ready).any())
            m.d.sync += before.eq(earlier & left)
        return m
