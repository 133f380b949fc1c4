"""Round-robin arbitration."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from .sizes import check_count

__all__ = ["RoundRobin"]


class RoundRobin(wiring.Component):
    """Grants one of ``count`` requesters, each in its turn.

    Latency: none, ``grant`` follows ``requests`` combinationally. Throughput: a grant a cycle. The
    grant goes to the first requester at or after the turn, upwards and around. In a cycle with
    ``advance`` the turn moves past the granted requester; otherwise it stays. The user of the
    arbiter raises ``advance`` when a grant is used, and must itself hold the winner if the winner
    must not change before that. A requester that keeps requesting is granted after at most ``count
    - 1`` grants (cycles with ``advance``) to others. After reset, requester 0 is first.

    Parameters
    ----------
    count : :class:`int`
        Number of requesters, 1 or more.

    Members
    -------
    requests : ``In(count)``
        One bit a requester.
    advance : ``In(1)``
        The grant is used in this cycle. Without a request it does nothing.
    grant : ``Out(count)``
        One-hot; zero if nobody requests.
    index : ``Out(ceil_log2(count))``
        Number of the granted requester; zero if nobody requests.

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
        # Requesters at or after the turn; a thermometer code, so that no shifter is needed.
        self._turn = Signal(count)
        super().__init__({
            "requests": In(count),
            "advance": In(1),
            "grant": Out(count),
            "index": Out(ceil_log2(count)),
        })

    @property
    def count(self) -> int:
        return self._count

    def elaborate(self, platform) -> Module:
        m = Module()
        count = self._count

        ahead = Signal(count)
        pick = Signal(count)
        # The requesters after the granted one. An adder would also work, but becomes a carry
        # chain in synthesis: 48 LUTs of an ECP5 for 8 requesters instead of 30.
        after = Signal(count)
        m.d.comb += [
            ahead.eq(self.requests & self._turn),
            pick.eq(Mux(ahead.any(), ahead, self.requests)),
            after.eq(_above(pick)),
            self.grant.eq(pick & ~after),
        ]
        for bit in range(len(self.index)):
            members = sum(1 << k for k in range(count) if k >> bit & 1)
            m.d.comb += self.index[bit].eq((self.grant & members).any())

        with m.If(self.advance & self.requests.any()):
            m.d.sync += self._turn.eq(after)

        return m


def _above(bits: Signal) -> Value:
    """The places above the lowest bit that is set."""
    count = len(bits)
    above, reach = (bits << 1)[:count], 1
    while reach < count - 1:
        above = (above | above << reach)[:count]
        reach *= 2
    return above
