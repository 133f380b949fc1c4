"""From the runs of the signature to o_s, o_r, g, L, the truth beside them, and the checks."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from fractions import Fraction
from typing import Any

from ....layouts.doors import NicDesign
from ....layouts.trace import TICKS, Activity
from ...estimate.compare import Row, check
from ...estimate.logp import Curve, LogP, estimate
from ...results.document import cycles
from ...truth.bound import bound, shares
from ...truth.breakdown import lives, mean_life, request_stages
from ...truth.budget import Budget, budget, ending_check, put_off, sends, usual
from ...truth.exchange import Exchange, Legs, crossings, exchanges, mean_legs
from ...truth.spans import moves, spans
from ...truth.steady import departures, mean_own, true_gap, window

__all__ = ["bound_of", "costs_by_delay", "evaluate", "life_of", "traced_trips"]

SENDER, RECEIVER = 0, 1
BEHIND = "the empty check behind a message: the next slot, not in the cache"


def evaluate(raw: Mapping[str, Any], design: NicDesign) -> dict[str, Any]:
    """Results, truth, points and checks of the signature of NICs of ``design``."""
    curves = [Curve(run["delay"] * TICKS, tuple(run["issued"]), tuple(run["handled"]))
              for run in raw["curves"]]
    trips = raw["rtt"]["trips"]
    rtt = Fraction(sum(trips), len(trips))
    found = estimate(curves, rtt)
    truth = _Truth(raw, design)
    rows = _rows(found, truth, rtt)
    return {
        "results": {**_results(found, truth), "cost_by_delay": costs_by_delay(curves)},
        "truth": truth.plain(),
        "comparison": [row.plain() for row in rows],
        "points": {"rtt": [cycles(trip) for trip in trips],
                   "curves": [{"delay": run["delay"],
                               "issued": [cycles(ticks) for ticks in run["issued"]],
                               "handled": list(run["handled"])} for run in raw["curves"]]},
        "breakdown": life_of(raw["rtt"], truth.pairs, design),
        "checks": _checks(rows, found, truth, trips),
    }


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


class _Truth:
    """The truth from the trace, in ticks."""

    def __init__(self, raw: Mapping[str, Any], design: NicDesign) -> None:
        self.pairs = traced_trips(raw["rtt"], design)
        self.legs: Legs = mean_legs(self.pairs)
        self.wire = crossings(raw["rtt"]["events"], design)
        base = next(run for run in raw["curves"] if run["delay"] == 0)
        marks = spans(base["marks"])
        everything = sends(marks, SENDER)
        stream = [span for span in everything if span.begin >= base["begin"]]
        stream = stream[:len(base["issued"])]
        skip = everything.index(stream[0])
        later = put_off(marks, base["events"], SENDER)
        at_once = [span for span in stream if span.number not in later]
        self.send = Fraction(sum(span.own for span in at_once), len(at_once))
        times = departures(base["events"], SENDER, [span.number for span in stream])
        self.g = true_gap(times)
        self.bound = bound(shares(base["events"], marks, *window(times), SENDER, RECEIVER,
                                  design, moves(base["marks"])))
        self.o_r_request = mean_own(marks, Activity.REQUEST_HANDLE, RECEIVER)
        self.o_s_reply = mean_own(marks, Activity.REPLY_SEND, RECEIVER)
        self.o_r_steady = mean_own(marks, Activity.REPLY_HANDLE, SENDER, window(times))
        first = min((span.begin for span in marks if span.node == SENDER
                     and span.activity == Activity.REPLY_HANDLE and span.begin >= base["begin"]),
                    default=stream[-1].begin)
        alone = next((index for index, span in enumerate(stream)
                      if span.end > first or span.number in later), len(stream))
        # Only over issues that do nothing but send, as in the estimate. Later the check may cost
        # more, because it reads a slot that is not in the cache.
        sending = {span.number for span in stream[:max(alone, 1)]}
        self.check = ending_check(marks, SENDER, sending)
        self.o_s = self.send + self.check
        # The last issue before a reply has already handled it: its send counts, its poll does
        # not.
        last = skip + min(max(alone - 1, 1), len(stream) - 1)
        self.sending = budget(marks, SENDER, skip, last)
        self.first_send = usual(marks, SENDER, skip, last, Activity.REQUEST_SEND)
        self.beyond: list[tuple[int, Budget]] = []
        self.control: list[Fraction] = []
        self.usual_send: list[Fraction] = []
        overheads = []
        for run in raw["curves"]:
            if run["delay"] * TICKS < self.legs.total:
                continue
            marks = spans(run["marks"])
            issued = sends(marks, SENDER)
            first_one = next(index for index, span in enumerate(issued)
                             if span.begin >= run["begin"])
            middle = first_one + len(run["issued"]) // 2
            last = first_one + len(run["issued"]) - 1
            self.beyond.append((run["delay"], budget(marks, SENDER, middle, last)))
            self.control.append(usual(marks, SENDER, middle, last, Activity.CONTROL))
            self.usual_send.append(usual(marks, SENDER, middle, last, Activity.REQUEST_SEND))
            overheads.append(mean_own(marks, Activity.REPLY_HANDLE, SENDER,
                                      (issued[middle].begin, issued[last].begin)))
        self.o_r = sum(overheads, Fraction(0)) / len(overheads)
        self.behind = sum((one.of(Activity.EMPTY_POLL) for _, one in self.beyond),
                          Fraction(0)) / len(self.beyond) - self.check
        """The empty check behind each message, which reads the next slot; that slot is not in the
        cache."""

    @property
    def o_r_defined(self) -> Fraction:
        """o_r as LogP defines it, the time in which the CPU does nothing else: with the check."""
        return self.o_r + self.behind

    @property
    def flight_defined(self) -> Fraction:
        """L as LogP defines it: half of a round trip without o_s and that o_r."""
        return Fraction(self.legs.total) / 2 - self.o_s - self.o_r_defined

    @property
    def flight(self) -> Fraction:
        """L: the mean of the flights there and back, until the message is in host memory."""
        return Fraction(self.legs.flight_out + self.legs.flight_back) / 2

    def hardware(self) -> dict[str, Any]:
        """Cycles from a packet's first beat on the bus until it is in memory: mean, there and
        back."""
        return {name: cycles(Fraction(sum(times), len(times))) for name, times in (
            ("out", [self.wire[pair.request] for pair in self.pairs if pair.request in self.wire]),
            ("back", [self.wire[pair.reply] for pair in self.pairs if pair.reply in self.wire]))
            if times}

    def plain(self) -> dict[str, Any]:
        legs = {name: cycles(value) for name, value in asdict(self.legs).items()}
        return {"o_s": cycles(self.o_s), "o_r": cycles(self.o_r), "g": cycles(self.g),
                "L": cycles(self.flight), "rtt": cycles(self.legs.total), "legs": legs,
                "logp": {"o_s": cycles(self.o_s), "o_r": cycles(self.o_r_defined),
                         "g": cycles(self.g), "L": cycles(self.flight_defined)},
                "o_s_check": cycles(self.check), "hardware": self.hardware(),
                "tail": cycles(Fraction(sum(pair.tail for pair in self.pairs), len(self.pairs))),
                "steady": {"o_r_request": cycles(self.o_r_request),
                           "o_s_reply": cycles(self.o_s_reply),
                           "o_r_reply": cycles(self.o_r_steady)}}


def _rows(found: LogP, truth: _Truth, rtt: Fraction) -> list[Row]:
    legs = truth.legs
    o_s_bias = [
        ("the first sends cost other than the mean", truth.first_send - truth.send),
        ("what no mark covers", truth.sending.rest),
    ]
    o_s_error = found.o_s - truth.o_s
    each = [one for _, one in truth.beyond]

    def mean(values: list[Fraction]) -> Fraction:
        return sum(values, Fraction(0)) / len(values)

    o_r_bias = [
        ("waiting for the window", mean([one.of(Activity.WINDOW_WAIT) for one in each])),
        ("acknowledgements, where most issues send one", mean(truth.control)),
        ("what no mark covers", mean([one.rest + one.of(Activity.COMPUTE) - delay * TICKS
                                      for delay, one in truth.beyond])),
        (BEHIND, truth.behind),
        ("sends cost other than at D = 0", mean(truth.usual_send) - truth.send),
        ("error of o_s", -o_s_error),
    ]
    o_r_error = sum((size for _, size in o_r_bias), Fraction(0))
    latency_bias = [
        ("half of: o_s(reply) - o_s(request)", (legs.o_s_reply - legs.o_s_request) / 2),
        ("half of: o_r(request) - o_r(reply)", (legs.o_r_request - legs.o_r_reply) / 2),
        ("phase of the CPU's clock and of the poll", (legs.seen_out + legs.seen_back) / 2),
        ("the check that ends a request: in o_s, off the path", -truth.check),
        ("o_s and o_r here, less in the stream", legs.o_s_request + truth.check - truth.o_s
         + legs.o_r_reply - truth.o_r),
        ("errors of o_s and o_r", -o_s_error - o_r_error),
    ]
    rtt_true = Fraction(legs.total)
    rows = [Row("o_s", found.o_s, truth.o_s, o_s_bias, truth.o_s),
            Row("o_r", found.o_r, truth.o_r, o_r_bias, truth.o_r_defined),
            Row("g", found.g, truth.g, defined=truth.g),
            Row("L", found.L, truth.flight, latency_bias, truth.flight_defined),
            Row("RTT", found.rtt, rtt_true, defined=rtt_true)]
    return [Row(row.quantity, row.estimate / TICKS, row.truth / TICKS,
                [(name, size / TICKS) for name, size in row.bias],
                None if row.defined is None else row.defined / TICKS) for row in rows]


def bound_of(found: Any) -> dict[str, Any]:
    """A bound in the form of a result file."""
    return {"block": found.block, "busy": found.busy,
            "shares": [asdict(share) for share in found.shares]}


def costs_by_delay(curves: Sequence[Curve]) -> list[dict[str, Any]]:
    """Returns what an issue costs at each D, D included: the mean over the second half of its
    run."""
    found = []
    for curve in curves:
        half = len(curve.issued) // 2
        taken = Fraction(curve.issued[-1] - curve.issued[half - 1], len(curve.issued) - half)
        found.append({"delay": cycles(Fraction(curve.delay)), "cost": cycles(taken)})
    return found


def _results(found: LogP, truth: _Truth) -> dict[str, Any]:
    return {
        "o_s": cycles(found.o_s), "o_r": cycles(found.o_r), "g": cycles(found.g),
        "L": cycles(found.L), "rtt": cycles(found.rtt), "idle": cycles(found.idle),
        "knee": cycles(found.knee), "g_residual": cycles(found.residual),
        "g_visible": found.visible and truth.bound.block != "host",
        "o_r_by_delay": [{"delay": cycles(delay), "o_r": cycles(value)}
                         for delay, value in found.by_delay],
        "o_r_spread": cycles(found.spread),
        "regimes": {"send_only": found.regimes.send_only, "steady": found.regimes.steady},
        "bound": bound_of(truth.bound),
    }


def _checks(rows: list[Row], found: LogP, truth: _Truth, trips: list[int]) -> list[dict[str, Any]]:
    by_name = {row.quantity: row for row in rows}
    legs = [pair.legs.total for pair in truth.pairs]
    differ = [(trip, total) for trip, total in zip(trips, legs, strict=False) if trip != total]
    if len(trips) != len(legs):
        said = f"{len(legs)} traced round trips, {len(trips)} measured"
    elif differ:
        said = (f"{len(differ)} of {len(trips)} differ, the first: measured "
                f"{cycles(differ[0][0])}, legs {cycles(differ[0][1])}")
    else:
        said = "to the tick"
    negative = [leg.name for leg in fields(truth.legs) if getattr(truth.legs, leg.name) < 0
                and not leg.name.startswith("seen")]
    steady = found.regimes.steady
    bias = max(Fraction(0), TICKS * sum((size for _, size in by_name["o_r"].bias), Fraction(0)))
    made = [
        check("RTT is the sum of its legs", len(trips) == len(legs) and not differ, said),
        check("no leg is negative", not negative, ", ".join(negative) or "none"),
        # The bias in o_r is not needed in steady state. Replies handled in a row cost a little
        # less than single ones, so 2 % are allowed.
        check("g >= o_s + o_r", found.idle + bias >= -found.g / 50,
              f"g {cycles(found.g)}, o_s + o_r {cycles(found.o_s + found.o_r)}, of which bias "
              f"{cycles(bias)}"),
        check("a steady state is reached", steady > 0, f"from M = {steady} on" if steady else
              "the slope still changes at the largest M"),
        check("o_r agrees over D", found.spread <= max(found.o_r / 50, Fraction(TICKS, 8)),
              f"spread {cycles(found.spread)} cycles over {len(found.by_delay)} D"),
    ]
    # o_s is measured on sends to an idle NIC. If sends in steady state have another cost, the
    # mean over all sends is not the truth of this o_s. Time that no mark covers is an error.
    first = (truth.first_send + truth.check) / TICKS
    for what, estimated, true in (
            ("o_s within 2 % of the truth of the first sends", by_name["o_s"].estimate, first),
            ("g within 2 % of the truth", by_name["g"].estimate, by_name["g"].truth)):
        off = abs(estimated - true)
        made.append(check(what, off <= true / 50,
                          f"off by {float(off):.3f} cycles of {float(true):.3f}"))
    # LogP's definition does not include waiting for the window and acknowledgements: they stay
    # bias.
    behind = truth.behind / TICKS
    other = sum((size for name, size in by_name["o_r"].bias if name != BEHIND), Fraction(0))
    for name, bias in (("o_r", other), ("L", -other - sum(
            (size for _, size in by_name["o_s"].bias), Fraction(0)))):
        row = by_name[name]
        assert row.defined is not None
        off = abs(row.estimate - row.defined - bias)
        made.append(check(f"{name} within 2 % of LogP's definition plus its other bias",
                          off <= max(abs(row.defined) / 50, behind / 50, Fraction(1, 64)),
                          f"off by {float(off):.3f} cycles of {float(row.defined):.3f}"))
    for name in ("o_r", "L"):
        row = by_name[name]
        made.append(check(f"{name} within 2 % of the truth plus its named bias", row.ok,
                          f"{float(row.left):.3f} cycles are left of {float(row.truth):.3f}"))
    return made
