"""Target time: the cycle counter, and when it waits, jumps or ends."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .parts.least import least
from .parts.sizes import check_count

__all__ = ["Timekeeper"]


class Timekeeper(wiring.Component):
    """Counts target cycles, requests the environment's attention, and skips quiescent time.

    After reset ``cycle`` is 0 and the environment is expected to serve every port once; from then
    on each edge adds 1. If ``skip_enable`` and ``quiescent`` hold, the edge instead adds the
    distance to the earliest deadline of a port (or to the limit), but at least 1. So a port acts on
    its deadline in exactly that cycle, as if the time in between had passed.

    ``attention`` flips at an edge at which a port begins to need its program, and when the limit is
    reached or something fatal happens: once for all ports of that edge. It is a register, so a
    callback on its change sees settled answers. Outside reset the environment gives no edge while
    ``stall`` is high, so a late answer changes no cycle.

    Parameters
    ----------
    ports : :class:`int`
        Host ports, 1 or more.

    Members
    -------
    skip_enable : ``In(1)``, limit : ``In(64)``
        Whether to skip; the cycle at which time ends for good, 0 for none. Both constant outside
        reset.
    quiescent : ``In(1)``
        Nothing changes in this cycle, or later before a port's deadline: every block is idle and
        every port rests or has stopped.
    distance : ``In(32)``, one a port
        Cycles from this one to the one in which the port acts; all ones if it does not on its own.
    asks : ``In(1)``, one a port
        The port needs its program from the next edge on.
    fatal : ``In(1)``
        Time ends for good with the next edge, as at the limit.
    needs : ``In(1)``, one a port
        The port needs its program: it waits and no answer was given.
    cycle : ``Out(64)``, now : ``Out(32)``
        The cycle counter, and its low half.
    following : ``Out(64)``
        Value of ``cycle`` after the next edge.
    attention : ``Out(1)``, stall : ``Out(1)``, expired : ``Out(1)``
        As above; ``expired`` once ``cycle`` has reached ``limit``, or ``fatal`` was high.

    Raises
    ------
    TypeError
        ``ports`` is not an integer.
    ValueError
        ``ports`` is less than 1.
    """

    def __init__(self, *, ports: int) -> None:
        check_count("ports", ports)
        self._ports = ports
        super().__init__({
            "skip_enable": In(1),
            "limit": In(64),
            "quiescent": In(1),
            "fatal": In(1),
            "distance": In(32).array(ports),
            "asks": In(1).array(ports),
            "needs": In(1).array(ports),
            "cycle": Out(64),
            "now": Out(32),
            "following": Out(64),
            "attention": Out(1),
            "stall": Out(1),
            "expired": Out(1),
        })

    @property
    def ports(self) -> int:
        """Host ports."""
        return self._ports

    def elaborate(self, platform: object) -> Module:
        m = Module()

        earliest = Signal(32)
        m.d.comb += earliest.eq(least(m, self.distance))
        left = Signal(64)
        m.d.comb += left.eq(self.limit - self.cycle)
        limited = Signal()
        m.d.comb += limited.eq((self.limit != 0) & (left < earliest))

        step = Signal(32)
        m.d.comb += step.eq(1)
        with m.If(self.skip_enable & self.quiescent):
            with m.If(limited):
                m.d.comb += step.eq(left)
            with m.Elif(earliest.any() & ((self.limit != 0) | ~earliest.all())):
                # Without a limit and without a deadline there is no target for a skip, so time
                # passes normally.
                m.d.comb += step.eq(earliest)

        following = self.following
        ends = Signal()
        m.d.comb += [
            following.eq(self.cycle + step),
            ends.eq(((self.limit != 0) & (following == self.limit)) | self.fatal),
            self.now.eq(self.cycle),
            self.stall.eq(Cat(self.needs).any() | self.expired),
        ]
        m.d.sync += self.cycle.eq(following)
        with m.If(Cat(self.asks).any() | ends):
            m.d.sync += self.attention.eq(~self.attention)
        with m.If(ends):
            m.d.sync += self.expired.eq(1)
        return m
