"""From the runs of the signature to o_s, o_r, g, L, the truth beside them, and the checks."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from fractions import Fraction
from typing import Any

from ...layouts.trace import TICKS, Activity
from ..bound import bound, shares
from ..breakdown import lives, mean_life
from ..estimate.compare import Row, check
from ..estimate.logp import Curve, LogP, estimate
from ..report.document import cycles
from ..truth.budget import Budget, budget, sends
from ..truth.exchange import Exchange, Legs, exchanges, mean_legs
from ..truth.spans import Span, spans
from ..truth.steady import departures, mean_own, true_gap, window

__all__ = ["evaluate", "bound_of"]

SENDER, RECEIVER = 0, 1


def evaluate(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Results, truth, points and checks of the signature."""
    curves = [Curve(run["delay"] * TICKS, tuple(run["issued"]), tuple(run["handled"]))
              for run in raw["curves"]]
    trips = raw["rtt"]["trips"]
    rtt = Fraction(sum(trips), len(trips))
    poll = Fraction(raw["polls"]["ticks"], raw["polls"]["count"])
    found = estimate(curves, rtt, poll)
    truth = _Truth(raw, found)
    rows = _rows(found, truth, rtt)
    return {
        "results": _results(found, truth, poll),
        "truth": truth.plain(),
        "comparison": [row.plain() for row in rows],
        "points": {"rtt": [cycles(trip) for trip in trips],
                   "poll": cycles(poll),
                   "curves": [{"delay": run["delay"],
                               "issued": [cycles(ticks) for ticks in run["issued"]],
                               "handled": list(run["handled"])} for run in raw["curves"]]},
        "breakdown": truth.breakdown(),
        "checks": _checks(rows, found, truth, trips),
    }


class _Truth:
    """What the trace says, in ticks."""

    def __init__(self, raw: Mapping[str, Any], found: LogP) -> None:
        trips = spans(raw["rtt"]["marks"])
        self._trip_spans, self._trip_events = trips, raw["rtt"]["events"]
        self.pairs: list[Exchange] = [
            pair for pair in exchanges(trips, raw["rtt"]["events"])
            if pair.begin >= raw["rtt"]["begin"]]
        self.legs: Legs = mean_legs(self.pairs)
        base = next(run for run in raw["curves"] if run["delay"] == 0)
        marks = spans(base["marks"])
        stream = [span for span in sends(marks, SENDER) if span.begin >= base["begin"]]
        skip = len(sends(marks, SENDER)) - len(stream)
        self.o_s = Fraction(sum(span.own for span in stream), len(stream))
        times = departures(base["events"], SENDER, [span.number for span in stream])
        self.g = true_gap(times)
        self.bound = bound(shares(base["events"], marks, *window(times), SENDER, RECEIVER))
        self.o_r_request = mean_own(marks, Activity.REQUEST_HANDLE, RECEIVER)
        self.o_s_reply = mean_own(marks, Activity.REPLY_SEND, RECEIVER)
        self.o_r_steady = mean_own(marks, Activity.REPLY_HANDLE, SENDER, window(times))
        first_reply = min((span.begin for span in marks if span.node == SENDER
                           and span.activity == Activity.REPLY_HANDLE
                           and span.begin >= base["begin"]), default=stream[-1].begin)
        alone = sum(span.begin < first_reply for span in stream) - 1
        self.sending = budget(marks, SENDER, skip, skip + max(1, min(alone, len(stream) - 1)))
        self.poll = _spacing(spans(raw["polls"]["marks"]), raw["polls"])
        self.beyond: list[tuple[int, Budget]] = []
        overheads = []
        for run in raw["curves"]:
            if run["delay"] * TICKS < found.rtt or run["delay"] == 0:
                continue
            marks = spans(run["marks"])
            count = len(sends(marks, SENDER))
            self.beyond.append((run["delay"], budget(marks, SENDER, count // 2, count - 1)))
            last = sends(marks, SENDER)
            overheads.append(mean_own(marks, Activity.REPLY_HANDLE, SENDER,
                                      (last[count // 2].begin, last[-1].begin)))
        self.o_r = sum(overheads, Fraction(0)) / len(overheads)

    @property
    def flight(self) -> Fraction:
        """L: the mean of the flights there and back, until landed in host memory."""
        return Fraction(self.legs.flight_out + self.legs.flight_back) / 2

    def plain(self) -> dict[str, Any]:
        legs = {name: cycles(value) for name, value in asdict(self.legs).items()}
        return {"o_s": cycles(self.o_s), "o_r": cycles(self.o_r), "g": cycles(self.g),
                "L": cycles(self.flight), "rtt": cycles(self.legs.total), "legs": legs,
                "tail": cycles(Fraction(sum(pair.tail for pair in self.pairs), len(self.pairs))),
                "steady": {"o_r_request": cycles(self.o_r_request),
                           "o_s_reply": cycles(self.o_s_reply),
                           "o_r_reply": cycles(self.o_r_steady)}}

    def breakdown(self) -> dict[str, Any]:
        requests = [pair.request for pair in self.pairs]
        replies = [pair.reply for pair in self.pairs]
        return {title: mean_life(lives(self._trip_spans, self._trip_events, numbers))
                for title, numbers in (("a request", requests), ("a reply", replies))}


def _spacing(found: list[Span], polls: Mapping[str, Any]) -> Fraction:
    """Mean ticks from one traced empty poll's beginning to the next's."""
    times = [span.begin for span in found if span.activity == Activity.EMPTY_POLL
             and span.node == SENDER and polls["begin"] <= span.begin < polls["end"]]
    return Fraction(times[-1] - times[0], len(times) - 1) if len(times) > 1 else Fraction(0)


def _rows(found: LogP, truth: _Truth, rtt: Fraction) -> list[Row]:
    legs = truth.legs
    sending = truth.sending
    o_s_bias = [
        ("an issue's empty poll, less a poll alone", sending.of(Activity.EMPTY_POLL) - truth.poll),
        ("acknowledgements sent meanwhile", sending.of(Activity.CONTROL)),
        ("unmarked", sending.rest),
        ("the first sends cost other than the mean",
         sending.of(Activity.REQUEST_SEND) - truth.o_s),
    ]
    o_s_error = sum((size for _, size in o_s_bias), Fraction(0))
    each = [one for _, one in truth.beyond]

    def mean(values: list[Fraction]) -> Fraction:
        return sum(values, Fraction(0)) / len(values)

    o_r_bias = [
        ("empty polls", mean([one.of(Activity.EMPTY_POLL) for one in each])),
        ("acknowledgements", mean([one.of(Activity.CONTROL) for one in each])),
        ("waiting for the window", mean([one.of(Activity.WINDOW_WAIT) for one in each])),
        ("unmarked", mean([one.interval - delay * TICKS - sum(
            (ticks for activity, ticks in one.spent.items() if activity != Activity.COMPUTE),
            Fraction(0)) for delay, one in truth.beyond])),
        ("sends cost other than at D = 0",
         mean([one.of(Activity.REQUEST_SEND) for one in each]) - truth.o_s),
        ("error of o_s", -o_s_error),
    ]
    o_r_error = sum((size for _, size in o_r_bias), Fraction(0))
    latency_bias = [
        ("half of: o_s(reply) - o_s(request)", (legs.o_s_reply - legs.o_s_request) / 2),
        ("half of: o_r(request) - o_r(reply)", (legs.o_r_request - legs.o_r_reply) / 2),
        ("waiting for the poll to look", (legs.seen_out + legs.seen_back) / 2),
        ("half of: after the handler, until the program goes on", (rtt - legs.total) / 2),
        ("o_s and o_r here, less in the stream",
         legs.o_s_request - truth.o_s + legs.o_r_reply - truth.o_r),
        ("errors of o_s and o_r", -o_s_error - o_r_error),
    ]
    after = [("after the handler, until the program goes on", rtt - legs.total)]
    rows = [Row("o_s", found.o_s, truth.o_s, o_s_bias), Row("o_r", found.o_r, truth.o_r, o_r_bias),
            Row("g", found.g, truth.g), Row("L", found.L, truth.flight, latency_bias),
            Row("RTT", found.rtt, Fraction(legs.total), after)]
    return [Row(row.quantity, row.estimate / TICKS, row.truth / TICKS,
                [(name, size / TICKS) for name, size in row.bias]) for row in rows]


def bound_of(found: Any) -> dict[str, Any]:
    """A bound as it stands in a result file."""
    return {"block": found.block, "busy": found.busy,
            "shares": [asdict(share) for share in found.shares]}


def _results(found: LogP, truth: _Truth, poll: Fraction) -> dict[str, Any]:
    return {
        "o_s": cycles(found.o_s), "o_r": cycles(found.o_r), "g": cycles(found.g),
        "L": cycles(found.L), "rtt": cycles(found.rtt), "idle": cycles(found.idle),
        "knee": cycles(found.knee), "g_residual": cycles(found.residual),
        "g_visible": found.visible, "poll": cycles(poll),
        "o_r_by_delay": [{"delay": cycles(delay), "o_r": cycles(value)}
                         for delay, value in found.by_delay],
        "o_r_spread": cycles(found.spread),
        "regimes": {"send_only": found.regimes.send_only, "steady": found.regimes.steady},
        "bound": bound_of(truth.bound),
    }


def _checks(rows: list[Row], found: LogP, truth: _Truth, trips: list[int]) -> list[dict[str, Any]]:
    by_name = {row.quantity: row for row in rows}
    wrong = [(trip, pair.legs.total) for trip, pair in zip(trips, truth.pairs, strict=False)
             if trip != pair.legs.total]
    made = [
        check("RTT is the sum of its legs", len(trips) == len(truth.pairs) and not wrong,
              f"{len(truth.pairs)} traced round trips, {len(trips)} measured" if len(trips) != len(
                  truth.pairs) else f"{len(wrong)} of {len(trips)} differ, the first: measured "
              f"{cycles(wrong[0][0])}, legs {cycles(wrong[0][1])}" if wrong else "to the tick"),
        check("the legs are there and none is negative",
              all(getattr(truth.legs, leg.name) >= 0 for leg in fields(truth.legs)),
              ", ".join(leg.name for leg in fields(truth.legs)
                        if getattr(truth.legs, leg.name) < 0) or "all"),
        check("g >= o_s + o_r", found.idle >= -(found.g / 100),
              f"g {cycles(found.g)}, o_s + o_r {cycles(found.o_s + found.o_r)}"),
        check("a steady state is reached", found.regimes.steady > 0,
              f"from M = {found.regimes.steady} on" if found.regimes.steady else
              "the slope still changes at the largest M"),
        check("o_r agrees over D", found.spread <= max(found.o_r / 50, Fraction(TICKS, 8)),
              f"spread {cycles(found.spread)} cycles over {len(found.by_delay)} D"),
    ]
    for name in ("o_s", "g"):
        row = by_name[name]
        off = abs(row.estimate - row.truth)
        made.append(check(f"{name} within 2 % of the truth", off <= row.truth / 50,
                          f"off by {float(off):.3f} cycles of {float(row.truth):.3f}"))
    for name in ("o_r", "L"):
        row = by_name[name]
        made.append(check(f"{name} within 2 % of the truth plus its named bias", row.ok,
                          f"{float(row.left):.3f} cycles are left of {float(row.truth):.3f}"))
    return made
