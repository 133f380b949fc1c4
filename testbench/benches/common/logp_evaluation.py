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
from ..fields import Outcome
from .gap_bound import bound_of
from .logp_results import LogpResults, signature_figures
from .logp_truth import LogpTruth, life_of

__all__ = ["evaluate", "plain_truth", "signature_points", "trips_and_curves"]

BEHIND = "the empty check behind a message: the next slot, not in the cache"
INSTEAD = "a poll that finds a message is in o_r, in place of the empty one of o_s"


def evaluate(raw: Mapping[str, Any], design: NicDesign) -> Outcome:
    """Results, truth, points and checks of the signature of NICs of ``design``."""
    trips, curves = trips_and_curves(raw)
    burst = _curve(raw["burst"]) if "burst" in raw else None
    found = estimate(curves, Fraction(sum(trips), len(trips)), burst)
    truth = LogpTruth.of(raw, design)
    rows = _rows(found, truth)
    return Outcome(
        results=LogpResults(
            **signature_figures(found, curves), knee=cycles(found.knee),
            o_r_spread=cycles(found.spread), bound=bound_of(truth.bound),
            g_visible=found.visible and truth.bound.block != "host"),
        truth=plain_truth(truth), comparison=[row.plain() for row in rows],
        points=signature_points(raw), breakdown=life_of(raw["rtt"], truth.pairs, design),
        checks=[_check_legs(truth, trips), *_check_signature(rows, found, truth),
                *_check_truth(rows, truth)])


def trips_and_curves(raw: Mapping[str, Any]) -> tuple[list[int], list[Curve]]:
    """Ticks of each round trip, and the curves of the signature."""
    return raw["rtt"]["trips"], [_curve(run) for run in raw["curves"]]


def _curve(run: Mapping[str, Any]) -> Curve:
    return Curve(run["delay"] * TICKS, tuple(run["issued"]), tuple(run["handled"]))


def signature_points(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The points of a signature."""
    return {"rtt": [cycles(trip) for trip in raw["rtt"]["trips"]],
            "curves": [{"delay": run["delay"],
                        "issued": [cycles(ticks) for ticks in run["issued"]],
                        "handled": list(run["handled"])} for run in raw["curves"]]}


def plain_truth(truth: LogpTruth) -> dict[str, Any]:
    """The truth in the form of a result file."""
    return {"o_s": cycles(truth.o_s), "o_r": cycles(truth.o_r), "g": cycles(truth.g),
            "L": cycles(truth.L), "rtt": cycles(truth.rtt),
            "legs": {name: cycles(value) for name, value in asdict(truth.legs).items()},
            "logp": {"o_s": cycles(truth.o_s), "o_r": cycles(truth.o_r_defined),
                     "g": cycles(truth.g), "L": cycles(truth.L_defined)},
            "o_s_check": cycles(truth.check),
            **({"after": cycles(truth.after)} if truth.after else {}),
            "hardware": {name: cycles(value) for name, value in truth.hardware().items()},
            "tail": cycles(truth.tail()),
            "steady": {"o_r_request": cycles(truth.o_r_request()),
                       "o_s_reply": cycles(truth.o_s_reply()),
                       "o_r_reply": cycles(truth.o_r_steady())}}


def _rows(found: LogP, truth: LogpTruth) -> list[Row]:
    """Each parameter beside its truth, in cycles."""
    receive = _receive_bias(found, truth)
    return [_row("o_s", found.o_s, truth.o_s, truth.o_s, _send_bias(truth)),
            _row("o_r", found.o_r, truth.o_r, truth.o_r_defined, receive),
            _row("g", found.g, truth.g, truth.g),
            _row("L", found.L, truth.L, truth.L_defined, _flight_bias(
                found, truth, sum((size for _, size in receive), Fraction(0)))),
            _row("RTT", found.rtt, truth.rtt, truth.rtt)]


def _row(name: str, estimated: Fraction, true: Fraction, defined: Fraction,
         bias: Sequence[tuple[str, Fraction]] = ()) -> Row:
    """A row, from ticks."""
    return Row(name, estimated / TICKS, true / TICKS,
               [(reason, size / TICKS) for reason, size in bias], defined / TICKS)


def _send_bias(truth: LogpTruth) -> list[tuple[str, Fraction]]:
    return [("the first sends cost other than the mean", truth.first_send - truth.send),
            ("what no mark covers", truth.sending.rest)]


def _receive_bias(found: LogP, truth: LogpTruth) -> list[tuple[str, Fraction]]:
    each = truth.late_budgets
    uncovered = [one.rest + one.of(Activity.COMPUTE) - stream.run["delay"] * TICKS
                 for one, stream in zip(each, truth.beyond, strict=True)]
    return [
        ("waiting for the window", _mean([one.of(Activity.WINDOW_WAIT) for one in each])),
        ("acknowledgements, where most issues send one", truth.usual_late(Activity.CONTROL)),
        ("what no mark covers", _mean(uncovered)),
        (BEHIND if truth.check_behind else INSTEAD, truth.behind),
        ("sends cost other than at D = 0", truth.late_sends()),
        ("error of o_s", (truth.o_s - found.o_s) * _mean(
            [one.issues_of_a_reply for one in truth.beyond])),
    ]


def _flight_bias(found: LogP, truth: LogpTruth, o_r_error: Fraction
                 ) -> list[tuple[str, Fraction]]:
    legs = truth.legs
    return [
        ("half of: o_s(reply) - o_s(request)", Fraction(legs.o_s_reply - legs.o_s_request) / 2),
        ("half of: o_r(request) - o_r(reply)", Fraction(legs.o_r_request - legs.o_r_reply) / 2),
        ("phase of the CPU's clock and of the poll", Fraction(legs.seen_out + legs.seen_back) / 2),
        ("the check that ends a request: in o_s, off the path", -truth.check_behind),
        ("o_s and o_r here, less in the stream", legs.o_s_request + truth.check_behind - truth.o_s
         + legs.o_r_reply - truth.o_r),
        ("half of the rest of a poll, behind the message", truth.after / 2),
        ("errors of o_s and o_r", truth.o_s - found.o_s - o_r_error),
    ]


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def _check_legs(truth: LogpTruth, trips: Sequence[int]) -> dict[str, Any]:
    """Check that each measured round trip is the sum of its traced legs."""
    legs = [pair.legs.total + pair.after for pair in truth.pairs]
    differ = [(trip, total) for trip, total in zip(trips, legs, strict=False) if trip != total]
    if len(trips) != len(legs):
        said = f"{len(legs)} traced round trips, {len(trips)} measured"
    elif differ:
        said = (f"{len(differ)} of {len(trips)} differ, the first: measured "
                f"{cycles(differ[0][0])}, legs {cycles(differ[0][1])}")
    else:
        said = "to the tick"
    return check("RTT is the sum of its legs", len(trips) == len(legs) and not differ, said)


def _check_signature(rows: Sequence[Row], found: LogP, truth: LogpTruth) -> list[dict[str, Any]]:
    """Checks of the estimates among one another."""
    negative = [leg.name for leg in fields(truth.legs) if getattr(truth.legs, leg.name) < 0
                and not leg.name.startswith("seen")]
    steady = found.regimes.steady
    received = next(row for row in rows if row.quantity == "o_r")
    # From lot to lot a poll more or less comes in.
    share = 20 if any(one.lots for one in truth.beyond) else 50
    bias = max(Fraction(0), TICKS * sum((size for _, size in received.bias), Fraction(0)))
    return [
        check("no leg is negative", not negative, ", ".join(negative) or "none"),
        # The bias in o_r is not needed in steady state. Replies handled in a row cost a little
        # less than single ones, so 2 % are allowed.
        check("g >= o_s + o_r", found.idle + bias >= -found.g / 50,
              f"g {cycles(found.g)}, o_s + o_r {cycles(found.o_s + found.o_r)}, of which bias "
              f"{cycles(bias)}"),
        check("a steady state is reached", steady > 0, f"from M = {steady} on" if steady else
              "the slope still changes at the largest M"),
        check("o_r agrees over D", found.spread <= max(found.o_r / share, Fraction(TICKS, 8)),
              f"spread {cycles(found.spread)} cycles over {len(found.by_delay)} D"),
    ]


def _check_truth(rows: Sequence[Row], truth: LogpTruth) -> list[dict[str, Any]]:
    """Checks of the estimates against the truth."""
    by_name = {row.quantity: row for row in rows}
    made = []
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
    other = sum((size for name, size in by_name["o_r"].bias if name not in (BEHIND, INSTEAD)),
                Fraction(0))
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
