"""Predicts by LogGP when each rank of a pattern of messages ends."""

from collections import deque
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

__all__ = ["LogGP", "Step", "ends"]


class LogGP(NamedTuple):
    """Parameters in cycles, of messages of ``least`` bytes; ``per_byte``: G, cycles for each byte
    more. Messages above ``eager`` bytes are asked for first, by a message each way, and have a G of
    their own, ``per_byte_long``."""

    o_s: Fraction
    o_r: Fraction
    g: Fraction
    L: Fraction  # noqa: N815 (LogGP's name)
    per_byte: Fraction
    per_byte_long: Fraction
    least: int
    eager: int

    def asked(self, size: int) -> Fraction:
        """Cycles until the receiver's answer is there, 0 if it is not asked."""
        return 2 * (self.o_s + self.L + self.o_r) if size > self.eager else Fraction(0)

    def pushed(self, size: int) -> Fraction:
        """Cycles in which the bytes go, beyond those of the least message."""
        return max(size - self.least, 0) * (self.per_byte_long if size > self.eager
                                            else self.per_byte)


class Step(NamedTuple):
    """A rank's step: it sends to ``to``, and then waits for a message from ``source``; or only one
    of them."""

    to: int | None = None
    source: int | None = None


def ends(patterns: Sequence[Sequence[Step]], parameters: LogGP, size: int) -> list[Fraction]:
    """Tells when each rank has done its steps, all of which begin at 0; every message has ``size``
    bytes.

    Raises
    ------
    ValueError
        Ranks wait for messages that nobody sends.
    """
    o_s, o_r, gap, latency = parameters[:4]
    asked, pushed = parameters.asked(size), parameters.pushed(size)
    ranks = range(len(patterns))
    clock, free = [Fraction(0)] * len(patterns), [Fraction(0)] * len(patterns)
    arrivals: dict[tuple[int, int], deque[Fraction]] = {}
    waits = [deque(steps) for steps in patterns]
    sent: list[Fraction | None] = [None] * len(patterns)
    """When the send of a rank's first step is over, if it has begun."""
    while any(waits):
        moved = False
        for rank in ranks:
            while waits[rank]:
                step = waits[rank][0]
                if sent[rank] is None:
                    moved = True
                    sent[rank] = clock[rank]
                    if step.to is not None:
                        begin = max(clock[rank], free[rank])
                        free[rank] = begin + max(gap, pushed) + asked
                        arrivals.setdefault((rank, step.to), deque()).append(
                            begin + asked + o_s + latency + pushed)
                        clock[rank] = begin + o_s
                        # A short message is in a buffer; a long one's data must have left.
                        sent[rank] = begin + o_s + (asked + pushed if asked else 0)
                if step.source is not None:
                    coming = arrivals.get((step.source, rank))
                    if not coming:
                        break
                    clock[rank] = max(clock[rank], coming.popleft()) + o_r
                clock[rank] = max(clock[rank], sent[rank] or Fraction(0))
                sent[rank] = None
                waits[rank].popleft()
                moved = True
        if not moved:
            raise ValueError("ranks wait for messages that nobody sends: "
                             + ", ".join(str(rank) for rank in ranks if waits[rank]))
    return clock
