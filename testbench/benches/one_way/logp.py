"""LogP of GM, Fast Messages, MPL and TCP: o_s from few sends, o_r from a ping-pong with a delay
longer than the round trip, g from a stream, L from the rest of half a round trip."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....layouts.description import Description
from ....layouts.trace import TICKS
from ...estimate.compare import check
from ...estimate.one_way import few_sends, flight, half_trip, receive_overhead
from ...results.document import cycles
from ...results.tables import amount, micro, table
from ...truth.bound import bound, shares
from ...truth.spans import spans
from ...truth.steady import true_gap
from ..benchmark import Benchmark, Tell
from ..common.gap_bound import GapBound, bound_line, bound_of, busy_table
from ..common.headline import Headline, Series
from ..fields import Outcome, figure, setting
from .exchange import measure_stream, measure_trips

__all__ = ["OneWayLogp", "OneWayLogpParameters", "OneWayLogpResults"]

BEYOND = Fraction(5, 4)
"""Delay of the second ping-pong, in round trips of the first. Every echo has arrived by then."""
NAMES = {"o_s": "o_s", "o_r": "o_r", "g": "g", "L": "L", "rtt": "RTT"}
FIGURES = tuple(NAMES.values())


@dataclass(frozen=True)
class OneWayLogpParameters:
    """Two ping-pongs and a stream."""

    size: int = setting(4, "bytes of a message", unit="bytes")
    messages: int = setting(128, "messages of the stream")
    few: int = setting(4, "first messages of it from which o_s is")
    trips: int = setting(16, "round trips that count")
    warm: int = setting(4, "round trips before them")


@dataclass(frozen=True)
class OneWayLogpResults:
    """The parameters of LogP, and what bounds the gap."""

    o_s: float = figure("cycles", "send overhead")
    o_r: float = figure("cycles", "receive overhead")
    g: float = figure("cycles", "gap: the time between messages of a long stream")
    L: float = figure("cycles", "latency: half a round trip without the overheads")
    rtt: float = figure("cycles", "round trip")
    bound: GapBound = figure("", "the block that bounds the gap, and the busy shares")

    @property
    def rate(self) -> float:
        """The gap."""
        return self.g


class OneWayLogp(Benchmark):
    """LogP over any layer whose messages go one way."""

    Parameters = OneWayLogpParameters
    Results = OneWayLogpResults
    FIGURES = FIGURES

    def parameters(self, description: Description) -> OneWayLogpParameters:
        """Messages of 4 bytes; a stream of 128; o_s from the first 4."""
        return OneWayLogpParameters()

    async def measure(self, lab: Any, layer: str, parameters: OneWayLogpParameters, tell: Tell
                      ) -> dict[str, Any]:
        """Two ping-pongs and a stream."""
        size, trips, warm = parameters.size, parameters.trips, parameters.warm
        tell("round trips", 0, 3)
        plain = await measure_trips(lab, size, trips, warm, layer=layer)
        delay = int(BEYOND * max(plain["trips"]) / TICKS) + 1
        tell(f"D = {delay}", 1, 3)
        delayed = await measure_trips(lab, size, trips, warm, layer=layer, delay=delay)
        tell("stream", 2, 3)
        stream = await measure_stream(lab, size, parameters.messages, layer=layer, trace=True)
        return {"trips": plain["trips"], "delayed": delayed["trips"], "delay": delay,
                "stream": stream}

    def evaluate(self, raw: Any, description: Description, parameters: OneWayLogpParameters
                 ) -> Outcome:
        """The parameters, and what bounds the gap."""
        issued = raw["stream"]["issued"]
        half = half_trip(raw["trips"]).mean
        o_s = few_sends(issued, 0, parameters.few)
        o_r = receive_overhead(raw["delayed"], raw["delay"] * TICKS, o_s)
        gap = true_gap(issued)
        begin = raw["stream"]["begin"]
        found = bound(shares(raw["stream"]["events"], spans(raw["stream"]["marks"]),
                             begin + issued[len(issued) // 2], begin + issued[-1], 0, 1,
                             description.design))
        L = flight(half, o_s, o_r)
        return Outcome(
            results=OneWayLogpResults(o_s=cycles(o_s), o_r=cycles(o_r), g=cycles(gap), L=cycles(L),
                            rtt=cycles(2 * half), bound=bound_of(found)),
            points={"trips": [cycles(trip) for trip in raw["trips"]],
                    "issued": [cycles(time) for time in issued]},
            checks=[check("g >= o_s", 1000 * gap >= 999 * o_s,
                          f"g {cycles(gap)}, o_s {cycles(o_s)}"),
                    check("L is positive", L > 0, f"{cycles(L)} cycles")])

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """The parameters, the busy shares and the bound."""
        results, clock = self.results(document), document["clock_mhz"]
        size = document["parameters"]["size"]
        return [table(f"LogP, {document['layer']}, messages of {size} bytes", ["", "cycles", "µs"],
                      [(title, amount(getattr(results, name)),
                        micro(getattr(results, name), clock)) for name, title in NAMES.items()]),
                busy_table(results.bound), bound_line(results.bound)]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """The average cost of a send over the number of sends in a row, between o_s and g."""
        from ...results.plots import INK, line, microseconds, octaves, plain_log

        results, issued = self.results(document), document["points"]["issued"]
        axes = figure.add_subplot()
        axes.plot(range(1, len(issued) + 1),
                  [time / count for count, time in enumerate(issued, 1)], **line(0, 1))
        for name in ("o_s", "g"):
            value = getattr(results, name)
            axes.axhline(value, color=INK, lw=0.9, ls=(0, (5, 3)))
            axes.annotate(f"{name} = {amount(value)}", (1, value), xytext=(5, 3),
                          textcoords="offset points", fontsize=8.5, color=INK)
        plain_log(axes, min(results.o_s, issued[0]) / 1.5, 1.5 * max(results.g, issued[0]))
        octaves(axes, 1, len(issued), "messages sent in a row, M")
        axes.set_ylabel("average cost of a send (cycles)")
        microseconds(axes, document["clock_mhz"])
        axes.set_title(f"LogP of {document['layer']}: o_s {amount(results.o_s)}, o_r "
                       f"{amount(results.o_r)}, g {amount(results.g)}, L {amount(results.L)} "
                       "cycles")

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """The parameters."""
        results = self.results(document)
        return [Headline(title, getattr(results, name)) for name, title in NAMES.items()]

    def series(self, document: Mapping[str, Any]) -> Series:
        """The average cost of a send over the number of sends in a row."""
        issued = document["points"]["issued"]
        return Series("messages sent in a row, M", "average cost of a send (cycles)",
                      [(count, issued[count - 1] / count) for count in range(1, len(issued) + 1)])
