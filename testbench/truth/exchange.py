"""Each request with its reply: every leg there and back, from events and marks."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction

from ...layouts.doors import NicDesign
from ...layouts.doors.trace_block import numbered
from ...layouts.trace import TICKS, Activity, Event, Kind
from .messages import landing_blocks
from .spans import Span

__all__ = ["Legs", "Exchange", "crossings", "exchanges", "landings", "mean_legs"]


@dataclass(frozen=True)
class Legs:
    """One round trip, in ticks (or their means). They follow one another without a gap, so their
    sum is the time from the request's call to the end of its reply's handling.

    A flight is whole cycles, from the one in which the last store left to the one in which the
    message has landed in host memory. ``seen_out`` and ``seen_back`` are the phases of the CPUs:
    from the landing to the begin of the check that finds the message (negative when it landed after
    that check had begun), less the fraction of a cycle that the sender's clock was ahead.

    A message between CPUs of a node has no events. Its flight is from the end of its send, which
    is its last store, to the begin of the check that finds it; it is seen at once, or, if that
    check had begun before, its flight is 0.
    """

    o_s_request: int | Fraction
    flight_out: int | Fraction
    seen_out: int | Fraction
    o_r_request: int | Fraction
    o_s_reply: int | Fraction
    flight_back: int | Fraction
    seen_back: int | Fraction
    o_r_reply: int | Fraction

    @property
    def total(self) -> int | Fraction:
        return sum(getattr(self, leg.name) for leg in fields(self))


@dataclass(frozen=True)
class Exchange:
    """A request and its reply, by trace numbers. ``tail`` ticks of the request's handling came
    after the reply had left and are not on the path of the round trip. The poll that found the
    reply looked for others for ``after`` ticks more, before the program went on."""

    request: int
    reply: int
    begin: int
    end: int
    legs: Legs
    tail: int
    after: int = 0


def landings(events: Iterable[Event], design: NicDesign) -> dict[int, int]:
    """The tick at which each packet had arrived in host memory, by trace number."""
    return {event.number: event.cycle * TICKS for _, event in _arrivals(events, design)}


def crossings(events: Iterable[Event], design: NicDesign) -> dict[int, int]:
    """Ticks from each packet's first event to its arrival in memory, by trace number: the
    hardware's part of the flight, in whole cycles."""
    return {event.number: (event.cycle - first.cycle) * TICKS
            for first, event in _arrivals(events, design)}


def _arrivals(events: Iterable[Event], design: NicDesign) -> Iterator[tuple[Event, Event]]:
    """The first event of a packet, with each by which it may have arrived. A block of both sides
    has served it where it began, too: that is none."""
    first: dict[int, Event] = {}
    lands = landing_blocks(design)
    both = {number for number, block in numbered(design.trace).items() if block.side is None}
    for event in events:
        if not event.number:
            continue
        begun = first.setdefault(event.number, event)
        if event.kind == Kind.END and event.block in lands and not (
                event.block in both and event.node == begun.node):
            yield begun, event


def exchanges(found: Sequence[Span], events: Iterable[Event], design: NicDesign) -> list[Exchange]:
    """All complete request-reply pairs, in the order of their requests."""
    landed = landings(events, design)
    first: dict[tuple[int, int], Span] = {}
    for span in found:
        first.setdefault((span.activity, span.number), span)
    looks = {(span.node, span.cpu, span.begin): span.end - span.begin for span in found
             if span.activity == Activity.EMPTY_POLL}
    pairs = []
    for span in found:
        if span.activity != Activity.REQUEST_SEND:
            continue
        handle = first.get((Activity.REQUEST_HANDLE, span.number))
        answer = handle.find(Activity.REPLY_SEND) if handle else None
        finish = first.get((Activity.REPLY_HANDLE, answer.number)) if answer else None
        if handle is None or answer is None or finish is None:
            continue
        legs = Legs(span.end - span.begin, *_flight(span, handle, landed),
                    answer.begin - handle.begin, answer.end - answer.begin,
                    *_flight(answer, finish, landed), finish.end - finish.begin)
        after = looks.get((finish.node, finish.cpu, finish.end), 0)
        pairs.append(Exchange(span.number, answer.number, span.begin, finish.end, legs,
                              handle.end - answer.end, after))
    return pairs


def _flight(sent: Span, found: Span, landed: Mapping[int, int]) -> tuple[int, int]:
    """Flight and phase of the message of ``sent``, which ``found`` handles."""
    arrived = landed.get(sent.number)
    if arrived is None:
        between = found.begin - sent.end
        return max(between, 0), min(between, 0)
    left = sent.end - sent.end % TICKS
    return arrived - left, found.begin - arrived - (sent.end - left)


def mean_legs(pairs: Sequence[Exchange]) -> Legs:
    """The mean of each leg, exactly.

    Raises
    ------
    ValueError
        There are no pairs.
    """
    if not pairs:
        raise ValueError("the trace holds no complete round trip")
    sums: dict[str, int] = defaultdict(int)
    for pair in pairs:
        for leg in fields(pair.legs):
            sums[leg.name] += getattr(pair.legs, leg.name)
    return Legs(**{name: Fraction(value, len(pairs)) for name, value in sums.items()})
