"""The truth of the LogP parameters of VIA at one size from the traces, a method a parameter."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from ....layouts.description import Description
from ....layouts.doors import NicDesign
from ....layouts.trace import Activity
from ...truth.bound import Bound, bound, shares
from ...truth.messages import Half, Trip, mean_half, posted, trips
from ...truth.spans import Span, spans
from ...truth.steady import departures, true_gap, window

__all__ = ["RECEIVER", "SizeTruth"]

SENDER, RECEIVER = 0, 1


def _traced_trips(run: Mapping[str, Any], design: NicDesign) -> list[Trip]:
    """The round trips of a run, from its trace."""
    return trips(spans(run["marks"]), run["events"], run["begin"], run["end"], design,
                 run.get("stops"))


@dataclass(frozen=True)
class SizeTruth:
    """The parameters, in ticks.

    Attributes
    ----------
    trips, delayed, stream
        Runs, as of :class:`~.size_estimates.SizeEstimates`.
    packets
        Packets of a message.
    few
        The first sends of the stream, whose cost is o_s.
    """

    description: Description
    trips: Mapping[str, Any]
    delayed: Mapping[str, Any]
    stream: Mapping[str, Any]
    packets: int
    few: int

    @cached_property
    def marks(self) -> list[Span]:
        """The activities of the stream."""
        return spans(self.stream["marks"])

    @cached_property
    def sent(self) -> list[Span]:
        """The sends of the stream."""
        return posted(self.marks, SENDER, self.stream["begin"])[:len(self.stream["issued"])]

    @cached_property
    def pairs(self) -> list[Trip]:
        """The plain round trips."""
        return _traced_trips(self.trips, self.description.design)

    @cached_property
    def late(self) -> list[Trip]:
        """The round trips with a delay."""
        return _traced_trips(self.delayed, self.description.design)

    @cached_property
    def legs(self) -> Half:
        """Mean legs of half a round trip."""
        return mean_half(self.pairs)

    @cached_property
    def departures(self) -> list[int]:
        """The times at which the packets of the stream left."""
        return departures(self.stream["events"], SENDER, {span.number for span in self.sent})

    @property
    def o_s(self) -> Fraction:
        """o_s: the first sends."""
        return _mean([span.own for span in self.sent[:self.few]])

    @property
    def o_r(self) -> Fraction:
        """o_r: the call that finds a message which is there."""
        return _mean([pair.back.o_r for pair in self.late])

    @property
    def g(self) -> Fraction | None:
        """g: the time between messages that leave; None: of too few packets."""
        return true_gap(self.departures) * self.packets if len(self.departures) >= 4 else None

    @property
    def L(self) -> Fraction:
        """L: the flight of a message until it has landed."""
        return self.legs.flight

    @property
    def half(self) -> Fraction:
        """Half a round trip."""
        return self.legs.total

    @cached_property
    def bound(self) -> Bound:
        """The block that bounds g."""
        between = (window(self.departures) if len(self.departures) >= 4
                   else (self.sent[len(self.sent) // 2].begin, self.sent[-1].end))
        return bound(shares(self.stream["events"], self.marks, *between, SENDER, RECEIVER,
                            self.description.design))

    @property
    def sends_late(self) -> Fraction:
        """The sends of the round trips with a delay."""
        return _mean([pair.out.o_s for pair in self.late])

    def own(self, activity: Activity, node: int) -> Fraction:
        """Mean of a call in the stream, without nested spans."""
        return _mean([span.own for span in self.marks
                      if span.node == node and span.activity == activity])

    def post_receive(self) -> Fraction:
        """The posting of a receive."""
        return self.own(Activity.POST_RECEIVE, RECEIVER)

    def send_complete(self) -> Fraction:
        """The call that finds a send finished."""
        return self.own(Activity.SEND_COMPLETE, SENDER)

    def behind(self) -> Fraction:
        """The mean time between the end of a first send's call and the next step of the program."""
        going_on = sorted(span.begin for span in self.marks
                          if span.node == SENDER and span.activity == Activity.COMPUTE)
        return _mean([going_on[bisect_left(going_on, span.end)] - span.end
                      for span in self.sent[:self.few] if going_on and going_on[-1] >= span.end])

    @property
    def takes_cpu(self) -> bool:
        """The message, without an engine and longer than a window, does not arrive while the CPU
        computes."""
        via = self.description.via
        return via.design == "kernel" and self.packets > via.window

    @cached_property
    def there(self) -> bool:
        """In the delayed round trips every message had arrived at the first check; otherwise o_r
        and L are unknown."""
        return not self.takes_cpu and not any(
            span.activity == Activity.EMPTY_CHECK and span.node == SENDER
            and self.delayed["begin"] <= span.begin < self.delayed["end"]
            for span in spans(self.delayed["marks"]))

    @property
    def exact(self) -> bool:
        """Each plain round trip is the sum of its legs."""
        return [pair.total for pair in self.pairs] == list(self.trips["trips"])


def _mean(values: Sequence[int]) -> Fraction:
    return Fraction(sum(values), len(values)) if values else Fraction(0)
