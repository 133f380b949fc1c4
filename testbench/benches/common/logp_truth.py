"""The truth of the LogP parameters from the traces of the signature's runs, a method a
parameter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from ....layouts.doors import NicDesign
from ....layouts.trace import TICKS, Activity
from ...estimate.logp import lots
from ...truth.bound import Bound, bound, shares
from ...truth.breakdown import lives, mean_life, request_stages
from ...truth.budget import Budget, budget, ending_check, put_off, sends, usual
from ...truth.exchange import Exchange, Legs, crossings, exchanges, mean_legs
from ...truth.spans import Span, moves, polls_in, spans
from ...truth.steady import leaving, mean_own, true_gap, window

__all__ = ["LogpTruth", "TracedStream", "life_of", "traced_trips"]

SENDER, RECEIVER = 0, 1


def traced_trips(run: Mapping[str, Any], design: NicDesign) -> list[Exchange]:
    """The round trips of a run of trips, from its trace."""
    return [pair for pair in exchanges(spans(run["marks"]), run["events"], design)
            if run["begin"] <= pair.begin < run["end"]]


def life_of(run: Mapping[str, Any], pairs: Sequence[Exchange], design: NicDesign
            ) -> dict[str, Any]:
    """Mean life of the requests and of the replies of ``pairs``, by stage."""
    found, names = spans(run["marks"]), request_stages(design)
    return {title: mean_life(lives(found, run["events"], numbers, design), names)
            for title, numbers in (("a request", [pair.request for pair in pairs]),
                                   ("a reply", [pair.reply for pair in pairs]))}


@dataclass(frozen=True)
class TracedStream:
    """The run of one D as its trace has it. Times are ticks."""

    run: Mapping[str, Any]

    @cached_property
    def marks(self) -> list[Span]:
        """All activities of the run."""
        return spans(self.run["marks"])

    @cached_property
    def requests(self) -> list[Span]:
        """All requests of the sender, those that warm up too."""
        return sends(self.marks, SENDER)

    @cached_property
    def first(self) -> int:
        """The place of the stream's first request among them."""
        return next(index for index, span in enumerate(self.requests)
                    if span.begin >= self.run["begin"])

    @property
    def issues(self) -> int:
        """Requests of the stream."""
        return len(self.run["issued"])

    @cached_property
    def stream(self) -> list[Span]:
        """The requests of the stream."""
        return self.requests[self.first:self.first + self.issues]

    @cached_property
    def later(self) -> set[int]:
        """Numbers of the packets that the layer sent later than in their own call."""
        return put_off(self.marks, self.run["events"], SENDER)

    @cached_property
    def departures(self) -> list[int]:
        """The times at which the requests of the stream left."""
        return leaving(self.run["events"], SENDER, self.stream)

    @cached_property
    def alone(self) -> int:
        """The stream's issues that do nothing but send."""
        first = min((span.begin for span in self.marks if span.node == SENDER
                     and span.activity == Activity.REPLY_HANDLE
                     and span.begin >= self.run["begin"]), default=self.stream[-1].begin)
        return next((index for index, span in enumerate(self.stream)
                     if span.end > first or span.number in self.later), len(self.stream))

    def at_first(self) -> tuple[int, int]:
        """The places among all requests of the first issues: up to the last one before a reply,
        whose poll has already handled it, so that its send counts and its poll does not."""
        return self.first, self.first + min(max(self.alone - 1, 1), len(self.stream) - 1)

    def at_last(self) -> tuple[int, int]:
        """The places among all requests of the second half of the stream, or of the lots of it in
        which replies are handled."""
        if self.lots is not None:
            first, last = self.lots
            return self.first + first + 1, self.first + last + 1
        return self.first + self.issues // 2, self.first + self.issues - 1

    @cached_property
    def lots(self) -> tuple[int, int] | None:
        """The issues with the first and the last lot of replies, where they come in lots."""
        return lots(self.run["handled"])

    @property
    def issues_of_a_reply(self) -> Fraction:
        """Issues for each reply that is handled: 1, unless these come in lots."""
        if self.lots is None:
            return Fraction(1)
        first, last = self.lots
        handled = self.run["handled"]
        return Fraction(last - first, handled[last] - handled[first])

    def budget(self, first: int, last: int) -> Budget:
        """The CPU's time between two requests."""
        return budget(self.marks, SENDER, first, last)

    def usual(self, first: int, last: int, activity: Activity) -> Fraction:
        """The median of an activity in each issue between two requests."""
        return usual(self.marks, SENDER, first, last, activity)

    def o_r(self) -> Fraction:
        """The handling of a reply in the second half of the stream."""
        middle, last = self.at_last()
        return mean_own(self.marks, Activity.REPLY_HANDLE, SENDER,
                        (self.requests[middle].begin, self.requests[last].begin))


@dataclass(frozen=True)
class LogpTruth:
    """The parameters from the trace, in ticks.

    Attributes
    ----------
    trips
        The run of round trips.
    curves
        The streams, one for each D; one has D = 0.
    design
        The design of the NICs.
    burst
        Requests that do nothing but send, if they were measured apart.
    """

    trips: Mapping[str, Any]
    curves: Sequence[TracedStream]
    design: NicDesign
    burst: TracedStream | None = None

    @classmethod
    def of(cls, raw: Mapping[str, Any], design: NicDesign) -> "LogpTruth":
        """The truth of what a signature measured."""
        return cls(raw["rtt"], [TracedStream(run) for run in raw["curves"]], design,
                   TracedStream(raw["burst"]) if "burst" in raw else None)

    @cached_property
    def pairs(self) -> list[Exchange]:
        """The round trips."""
        return traced_trips(self.trips, self.design)

    @cached_property
    def legs(self) -> Legs:
        """Mean legs of a round trip."""
        return mean_legs(self.pairs)

    @property
    def rtt(self) -> Fraction:
        """A round trip."""
        return self.legs.total + self.after

    @cached_property
    def after(self) -> Fraction:
        """The rest of a poll behind the reply's handling, before the program goes on."""
        return Fraction(sum(pair.after for pair in self.pairs), len(self.pairs))

    @cached_property
    def base(self) -> TracedStream:
        """The stream at D = 0."""
        return next(one for one in self.curves if one.run["delay"] == 0)

    @cached_property
    def beyond(self) -> list[TracedStream]:
        """The streams whose D is no less than a round trip."""
        return [one for one in self.curves if one.run["delay"] * TICKS >= self.rtt]

    @property
    def sends(self) -> TracedStream:
        """The stream of whose requests o_s is."""
        return self.burst or self.base

    @cached_property
    def send(self) -> Fraction:
        """The call of a request, of those that leave at once."""
        at_once = [span.own for span in self.sends.stream if span.number not in self.sends.later]
        return Fraction(sum(at_once), len(at_once))

    @cached_property
    def check(self) -> Fraction:
        """The check that ends a request, of only those issues that do nothing but send, as in the
        estimate. Later it may cost more, because it reads a slot that is not in the cache."""
        sends = self.sends
        return ending_check(sends.marks, SENDER,
                            {span.number for span in sends.stream[:max(sends.alone, 1)]})

    @property
    def check_behind(self) -> Fraction:
        """The same if it is behind the send, off a round trip's path; 0 where a request looks
        before it sends."""
        return Fraction(0) if polls_in(self.base.marks, SENDER) else self.check

    @property
    def o_s(self) -> Fraction:
        """o_s: a request with the check that ends it."""
        return self.send + self.check

    @cached_property
    def o_r(self) -> Fraction:
        """o_r: the handling of a reply, at D beyond the round trip."""
        found = [one.o_r() for one in self.beyond]
        return sum(found, Fraction(0)) / len(found)

    @cached_property
    def behind(self) -> Fraction:
        """The empty check behind each message, which reads the next slot; that slot is not in the
        cache. Where requests look before they send, the usual one, or, of replies in lots, the mean
        of all."""
        if self.burst is not None and all(one.lots is None for one in self.beyond):
            return self.usual_late(Activity.EMPTY_POLL) - self.check
        found = [(one.of(Activity.EMPTY_POLL) - self.check) * stream.issues_of_a_reply
                 for one, stream in zip(self.late_budgets, self.beyond, strict=True)]
        return sum(found, Fraction(0)) / len(found)

    @cached_property
    def g(self) -> Fraction:
        """g: the time between requests that leave, in steady state at D = 0."""
        return true_gap(self.base.departures)

    @cached_property
    def L(self) -> Fraction:
        """L: the mean of the flights there and back, until the message is in host memory."""
        return Fraction(self.legs.flight_out + self.legs.flight_back) / 2

    @property
    def o_r_defined(self) -> Fraction:
        """o_r as LogP defines it, the time in which the CPU does nothing else: with the check."""
        return self.o_r + self.behind

    @property
    def L_defined(self) -> Fraction:
        """L as LogP defines it: half of a round trip without o_s and that o_r."""
        return self.rtt / 2 - self.o_s - self.o_r_defined

    @cached_property
    def bound(self) -> Bound:
        """The block that bounds g."""
        base = self.base
        return bound(shares(base.run["events"], base.marks, *window(base.departures), SENDER,
                            RECEIVER, self.design, moves(base.run["marks"])))

    @cached_property
    def first_send(self) -> Fraction:
        """The call of one of the first requests."""
        return self.sends.usual(*self.sends.at_first(), Activity.REQUEST_SEND)

    @cached_property
    def sending(self) -> Budget:
        """The CPU's time in the first issues at D = 0."""
        return self.sends.budget(*self.sends.at_first())

    @cached_property
    def late_budgets(self) -> list[Budget]:
        """The CPU's time in each of the streams beyond the round trip."""
        return [one.budget(*one.at_last()) for one in self.beyond]

    def late_sends(self) -> Fraction:
        """Time that sends of those streams take beyond o_s, for each reply."""
        found = [(one.usual(*one.at_last(), Activity.REQUEST_SEND) - self.send)
                 * one.issues_of_a_reply for one in self.beyond]
        return sum(found, Fraction(0)) / len(found)

    def usual_late(self, activity: Activity) -> Fraction:
        """The usual time of an activity in an issue, mean over the streams beyond the round
        trip."""
        found = [one.usual(*one.at_last(), activity) for one in self.beyond]
        return sum(found, Fraction(0)) / len(found)

    def o_r_request(self) -> Fraction:
        """The handling of a request."""
        return mean_own(self.base.marks, Activity.REQUEST_HANDLE, RECEIVER)

    def o_s_reply(self) -> Fraction:
        """The call of a reply."""
        return mean_own(self.base.marks, Activity.REPLY_SEND, RECEIVER)

    def o_r_steady(self) -> Fraction:
        """The handling of a reply in steady state."""
        return mean_own(self.base.marks, Activity.REPLY_HANDLE, SENDER,
                        window(self.base.departures))

    def hardware(self) -> dict[str, Fraction]:
        """The time from a packet's first beat on the bus until it is in memory: mean, there and
        back."""
        wire = crossings(self.trips["events"], self.design)
        return {name: Fraction(sum(times), len(times)) for name, times in (
            ("out", [wire[pair.request] for pair in self.pairs if pair.request in wire]),
            ("back", [wire[pair.reply] for pair in self.pairs if pair.reply in wire])) if times}

    def tail(self) -> Fraction:
        """The time that a request's handling takes after its reply has left."""
        return Fraction(sum(pair.tail for pair in self.pairs), len(self.pairs))
