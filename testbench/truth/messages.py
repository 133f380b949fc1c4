"""One-way messages and their echoes, from events and marks: the legs of half a round trip."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction

from ...layouts.doors import NicDesign
from ...layouts.doors.trace_block import SENDING, numbered
from ...layouts.trace import TICKS, Activity, Event, Kind
from .spans import Span

__all__ = ["Half", "Trip", "Way", "landing_blocks", "mean_half", "posted", "trips"]


def landing_blocks(design: NicDesign) -> frozenset[int]:
    """The numbers of the blocks of ``design`` with whose last END at its receiver a message is in
    host memory."""
    return frozenset(number for number, block in numbered(design.trace).items()
                     if block.lands and block.side != SENDING)


@dataclass(frozen=True)
class Way:
    """A message one way, in ticks. The legs follow one another without a gap.

    ``flight``: from the cycle in which the doorbell left the CPU to the one in which the receive
    descriptor's status (without an engine: the last packet) had landed in host memory. ``seen``:
    from the landing to the begin of the call that finds it (an interrupt, if there is one, and the
    phase of the poll), less the fraction of a cycle that the sender's clock was ahead; it may be
    negative.
    """

    number: int
    begin: int
    o_s: int
    flight: int
    seen: int
    o_r: int

    @property
    def end(self) -> int:
        return self.begin + self.o_s + self.flight + self.seen + self.o_r


@dataclass(frozen=True)
class Trip:
    """A message out, and its echo. ``turn``: ticks between finding the message and sending the
    echo. ``after``: ticks between finding the echo and the program's next step (interrupts, if
    any)."""

    out: Way
    back: Way
    after: int = 0

    @property
    def turn(self) -> int:
        return self.back.begin - self.out.end

    @property
    def total(self) -> int:
        return self.back.end + self.after - self.out.begin


@dataclass(frozen=True)
class Half:
    """Half a round trip by leg, means over both ways; ``turn`` is half of the trip's ``turn`` and
    ``after``."""

    o_s: Fraction
    flight: Fraction
    seen: Fraction
    o_r: Fraction
    turn: Fraction

    @property
    def total(self) -> Fraction:
        return sum((getattr(self, leg.name) for leg in fields(self)), Fraction(0))


def posted(found: Sequence[Span], node: int, since: int = 0) -> list[Span]:
    """The sends that ``node`` posted from tick ``since`` on, in order."""
    return [span for span in found if span.activity == Activity.POST_SEND and span.node == node
            and span.begin >= since]


def trips(found: Sequence[Span], events: Iterable[Event], begin: int, end: int, design: NicDesign,
          stops: Sequence[int] | None = None, client: int = 0, server: int = 1) -> list[Trip]:
    """The round trips that ``client`` began from tick ``begin`` to ``end``: ``server`` finds the
    message of each send, and its next send is the echo. If several calls in a row find one message
    (a completion queue's, then the work queue's), the first begins o_r and the last ends it. If a
    call waited for its message since before it was sent, o_r begins when the message has arrived.
    ``stops``: when the client went on after each trip."""
    landed: dict[tuple[int, int], list[int]] = {}
    lands = landing_blocks(design)
    for event in events:
        if event.number and event.kind == Kind.END and event.block in lands:
            landed.setdefault((event.node, event.number), []).append(event.cycle * TICKS)
    out = [span for span in posted(found, client, begin) if span.begin < end]
    answers = posted(found, server, begin)
    taken = {node: [span for span in found if span.node == node and span.end >= begin
                    and span.activity == Activity.RECEIVE_COMPLETE] for node in (client, server)}
    made = []
    for index, (sent, answer) in enumerate(zip(out, answers, strict=False)):
        following = out[index + 1].begin if index + 1 < len(out) else end
        there = [span for span in taken[server] if sent.begin < span.end <= answer.begin]
        here = [span for span in taken[client] if answer.begin < span.end <= following]
        if there and here:
            back = _way(answer, here, landed)
            after = stops[index] - back.end if stops is not None and index < len(stops) else 0
            made.append(Trip(_way(sent, there, landed), back, after))
    return made


def _way(sent: Span, calls: Sequence[Span], landed: dict[tuple[int, int], list[int]]) -> Way:
    first, last = calls[0], calls[-1]
    times = [tick for number in {sent.number, *(span.number for span in calls)} if number
             for tick in landed.get((first.node, number), []) if sent.begin <= tick <= last.end]
    left = sent.end - sent.end % TICKS
    begin = first.begin
    # Without an event, the call that finds the message is the first sign of it.
    arrived = max(times, default=begin if begin >= sent.end else last.end)
    if begin < sent.end:
        begin = min(max(arrived, left), last.end)
    return Way(sent.number, sent.begin, sent.end - sent.begin, arrived - left,
               begin - arrived - (sent.end - left), last.end - begin)


def mean_half(pairs: Sequence[Trip]) -> Half:
    """The mean of each leg, exactly.

    Raises
    ------
    ValueError
        ``trips`` is empty.
    """
    if not pairs:
        raise ValueError("the trace holds no complete round trip")
    ways = [way for pair in pairs for way in (pair.out, pair.back)]

    def mean(name: str) -> Fraction:
        return Fraction(sum(getattr(way, name) for way in ways), len(ways))

    return Half(mean("o_s"), mean("flight"), mean("seen"), mean("o_r"),
                Fraction(sum(pair.turn + pair.after for pair in pairs), 2 * len(pairs)))
