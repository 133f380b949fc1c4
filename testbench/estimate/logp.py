"""LogP parameters from a signature, from measurements by a program's own clock alone.

All times are ticks (1/256 of a target cycle) as integers or exact fractions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .fits import Line, fit

__all__ = ["Curve", "Regimes", "LogP", "regimes", "gap", "lots", "send_overhead",
           "receive_overheads", "estimate"]

VISIBLE = Fraction(2, 100)
"""The gap is visible if it exceeds o_s + o_r by this fraction of itself."""
USUAL = 8
"""Issues whose median is the usual cost of an issue."""


@dataclass(frozen=True)
class Curve:
    """One run of the signature: M issues with ``delay`` ticks of computation after each.

    ``issued[i]`` is the time from the start to the end of issue i (its computation included),
    ``handled[i]`` how many replies had been handled by then.
    """

    delay: int
    issued: tuple[int, ...]
    handled: tuple[int, ...]

    def cost(self, count: int) -> Fraction:
        """Average cost of an issue over the first ``count``."""
        return Fraction(self.issued[count - 1], count)

    def step(self, index: int) -> int:
        """Cost of issue ``index`` alone."""
        return self.issued[index] - (self.issued[index - 1] if index else 0)


@dataclass(frozen=True)
class Regimes:
    """Issues 1 … ``send_only`` cost o_s; from issue ``steady`` on each costs g; transition between.

    ``steady`` is 0 when the run ended before a steady state.
    """

    send_only: int
    steady: int


def regimes(curve: Curve) -> Regimes:
    """The boundaries of the regimes of ``curve``.

    *Send only* ends before the first issue that handled a reply, or before two issues in a row that
    cost a quarter more than the cheapest before, or a twentieth less than the usual cost before (a
    capacity was reached, so issues wait, or the layer keeps the message). *Steady state* begins at
    the issue from which on the total stays within a quarter of a gap (or the line's own ripple) of
    the line through the second half.
    """
    count = len(curve.issued)
    send_only = 1
    before = [curve.step(0) - curve.delay]
    while send_only < count and not curve.handled[send_only]:
        steps = [curve.step(index) - curve.delay
                 for index in range(send_only, min(send_only + 2, count))]
        last = sorted(before[-USUAL:])
        if min(steps) * 4 > min(before) * 5 or (
                len(last) == USUAL and max(steps) * 20 < last[USUAL // 2] * 19):
            break
        before.append(steps[0])
        send_only += 1
    half = count // 2
    if count < 16:
        return Regimes(send_only, 0)
    line = fit(range(half + 1, count + 1), curve.issued[half:])
    band = max(line.slope / 4, line.residual * 5 / 4)
    steady = count
    while steady > 0 and abs(line.at(steady) - curve.issued[steady - 1]) <= band:
        steady -= 1
    quarter = (count - half) // 2
    early = fit(range(half + 1, half + quarter + 1), curve.issued[half:half + quarter])
    late = fit(range(count - quarter + 1, count + 1), curve.issued[count - quarter:])
    settled = abs(early.slope - late.slope) * 20 <= line.slope
    return Regimes(send_only, max(send_only, steady) + 1 if settled and steady + 1 < count else 0)


def gap(curve: Curve, where: Regimes | None = None) -> Line:
    """The slope of total issue time over M in steady state, with its residual.

    The fit uses at most the second half, without effects of the transition.
    """
    where = where or regimes(curve)
    count = len(curve.issued)
    first = max(where.steady, count // 2)
    first = min(first, count - 8) if count > 8 else 1
    return fit(range(first, count + 1), curve.issued[first - 1:])


def send_overhead(curve: Curve, where: Regimes) -> Fraction:
    """o_s: the average cost of a send-only issue at D = 0. It includes everything that the layer
    does in each request, also the check for messages at its end. Issues that cost a quarter more
    than the cheapest (a timer of the layer expired in them) are left out."""
    steps = [curve.step(index) - curve.delay for index in range(where.send_only)]
    chosen = [step for step in steps if step * 4 <= min(steps) * 5]
    return Fraction(sum(chosen), len(chosen))


def lots(handled: Sequence[int]) -> tuple[int, int] | None:
    """The issues in which the middle and the last lot of replies are handled, if they come in lots:
    in most issues of the second half none is. ``handled``: how many there were by each issue's
    end."""
    count = len(handled)
    found = [index for index in range(1, count - 1) if handled[index] > handled[index - 1]]
    late = sum(index >= count // 2 for index in found)
    if 4 * late >= count or len(found) < 2:
        return None
    return found[len(found) // 2 - 1], found[-1]


def receive_overheads(curves: Sequence[Curve], o_s: Fraction, beyond: Fraction
                      ) -> list[tuple[int, Fraction]]:
    """(D, o_r = g' - D - o_s) for each curve whose D is at least ``beyond`` ticks.

    Beyond the knee every issue handles one reply and costs the same, except for the few in which a
    timer of the layer expires. So g' is the median of the second half. If replies are handled in
    lots, o_r is what they add, each, to the issues from one lot to another.
    """
    found = []
    for curve in curves:
        if curve.delay >= beyond:
            count, between = len(curve.issued), lots(curve.handled)
            if between is not None:
                first, last = between
                more = (curve.issued[last] - curve.issued[first]
                        - (last - first) * (curve.delay + o_s))
                found.append((curve.delay, more / (curve.handled[last] - curve.handled[first])))
                continue
            steps = sorted(curve.step(index) for index in range(count // 2, count))
            found.append((curve.delay, Fraction(steps[len(steps) // 2]) - curve.delay - o_s))
    return found


@dataclass(frozen=True)
class LogP:
    """Estimates, in ticks. ``spread`` is the largest difference between the o_r of several D,
    ``knee`` the D from which on the sender is the bottleneck, ``visible`` whether g exceeds o_s +
    o_r."""

    o_s: Fraction
    o_r: Fraction
    g: Fraction
    L: Fraction
    rtt: Fraction
    idle: Fraction
    knee: Fraction
    spread: Fraction
    residual: Fraction
    visible: bool
    by_delay: tuple[tuple[int, Fraction], ...]
    regimes: Regimes


def estimate(curves: Sequence[Curve], rtt: Fraction, burst: Curve | None = None) -> LogP:
    """All parameters from the family of ``curves`` and the round trip. ``burst``: issues that do
    nothing but send, where the curves have too few of them.

    Raises
    ------
    ValueError
        There is no curve at D = 0, or none beyond the round trip.
    """
    base = next((curve for curve in curves if curve.delay == 0), None)
    if base is None:
        raise ValueError("the signature needs a curve at D = 0")
    where = regimes(base)
    line = gap(base, where)
    o_s = send_overhead(base, where) if burst is None else send_overhead(
        burst, Regimes(len(burst.issued), 0))
    # Beyond one round trip each reply is back before the next issue, so this is surely beyond the
    # knee.
    by_delay = receive_overheads(curves, o_s, rtt)
    if not by_delay:
        raise ValueError("the signature needs a curve with D beyond the round trip")
    values = [value for _, value in by_delay]
    o_r = sum(values, Fraction(0)) / len(values)
    idle = line.slope - o_s - o_r
    return LogP(o_s=o_s, o_r=o_r, g=line.slope, L=rtt / 2 - o_s - o_r, rtt=rtt, idle=idle,
                knee=max(idle, Fraction(0)), spread=max(values) - min(values),
                residual=line.residual, visible=idle > line.slope * VISIBLE,
                by_delay=tuple(by_delay), regimes=where)
