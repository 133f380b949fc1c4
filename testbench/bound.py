"""Which block bounds the gap: busy shares over the steady state, from the trace."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..layouts.trace import TICKS, Activity, Block, Event, Kind
from .truth.spans import Span

__all__ = ["Share", "Bound", "shares", "bound", "SATURATED", "NAMES"]

SATURATED = Fraction(90, 100)
"""A block busy for less than this bounds nothing: the round trip through the window does."""
TIE = Fraction(3, 100)

NAMES = ("host", "send bus", "send DMA", "link", "switch port", "receive DMA", "receive bus",
         "receiver")
"""Along the way of a message. A block held up by the next one counts as busy too, so among the
busiest the one furthest down the way is the bound."""

_IDLE = {Activity.WINDOW_WAIT, Activity.COMPUTE}


@dataclass(frozen=True)
class Share:
    """``busy`` is the share of the interval, 0 to 1, in which ``block`` of ``node`` served."""

    block: str
    node: int
    busy: Fraction


@dataclass(frozen=True)
class Bound:
    """The block that bounds g, or "window" when none is busy throughout."""

    block: str
    busy: Fraction
    shares: tuple[Share, ...]


def _union(intervals: Iterable[tuple[int, int]], start: int, stop: int) -> int:
    total, reached = 0, start
    for begin, end in sorted(intervals):
        begin, end = max(begin, reached), min(end, stop)
        if end > begin:
            total += end - begin
            reached = end
    return total


def _services(events: Iterable[Event]) -> dict[tuple[int, int, int], list[tuple[int, int]]]:
    """Intervals between BEGIN and END of the same message, by (block, node, port)."""
    open_: dict[tuple[int, int, int, int], int] = {}
    found: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    for cycle, node, block, kind, number, arg in events:
        port = arg if block == Block.SWITCH else 0
        key = (block, node, port, number)
        if kind == Kind.BEGIN:
            open_.setdefault(key, cycle)
        elif kind == Kind.END:
            begin = open_.pop(key, None)
            if begin is not None:
                found.setdefault((block, node, port), []).append((begin * TICKS, cycle * TICKS))
    return found


def shares(events: Sequence[Event], found: Sequence[Span], start: int, stop: int, sender: int,
           receiver: int) -> list[Share]:
    """Busy shares of the blocks on the way from ``sender`` to ``receiver``, ``start`` to ``stop``
    ticks. Of several switch ports the busiest counts."""
    length = stop - start
    services = _services(events)
    busy = {key: Fraction(_union(value, start, stop), length) for key, value in services.items()}

    def cpu(node: int) -> Fraction:
        mine = [span for span in found if span.node == node]
        # The check that ends each request is work; waiting, a spin finds nothing for longer.
        checks = max((span.own for span in mine if span.activity == Activity.EMPTY_POLL
                      and span.number), default=-1)
        waiting = {id(inner) for span in mine if span.activity == Activity.WINDOW_WAIT
                   for inner in span.inner}
        own: list[tuple[int, int]] = []
        for span in mine:
            if span.activity in _IDLE or span.end <= start:
                continue
            if span.activity == Activity.EMPTY_POLL and (span.own > checks or id(span) in waiting):
                continue
            at = span.begin
            for inner in span.inner:  # what is nested speaks for itself
                own.append((at, inner.begin))
                at = inner.end
            own.append((at, span.end))
        return Fraction(_union(own, start, stop), length)

    def of(block: Block, node: int) -> Fraction:
        return busy.get((block, node, 0), Fraction(0))

    switch = max(((value, key[1]) for key, value in busy.items() if key[0] == Block.SWITCH),
                 default=(Fraction(0), 0))
    return [Share("host", sender, cpu(sender)),
            Share("send bus", sender, of(Block.BUS, sender)),
            Share("send DMA", sender, of(Block.SEND_DMA, sender)),
            Share("link", sender, of(Block.SEND_LINK, sender)),
            Share("switch port", switch[1], switch[0]),
            Share("receive DMA", receiver, of(Block.RECEIVE_DMA, receiver)),
            Share("receive bus", receiver, of(Block.BUS, receiver)),
            Share("receiver", receiver, cpu(receiver))]


def bound(found: Sequence[Share]) -> Bound:
    """The bound among ``found``, which must be in the order of the way."""
    most = max(share.busy for share in found)
    if most < SATURATED:
        return Bound("window", most, tuple(found))
    last = [share for share in found if share.busy >= most - TIE][-1]
    return Bound(last.block, last.busy, tuple(found))
