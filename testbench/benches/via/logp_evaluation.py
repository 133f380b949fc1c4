"""From the runs of logp on VIA to o_s(n), o_r(n), g(n), L(n), the truth beside them, and checks."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....layouts.description import Description
from ....layouts.doors import NicDesign
from ....layouts.trace import TICKS, Activity
from ...estimate.compare import Row, check
from ...estimate.logp import Curve, Regimes, gap, regimes
from ...estimate.one_way import (
    counting_loop,
    few_sends,
    flight,
    growth,
    half_trip,
    receive_overhead,
)
from ...results.document import cycles, number
from ...truth.bound import bound, shares
from ...truth.breakdown import via_life
from ...truth.messages import Trip, mean_half, posted, trips
from ...truth.spans import Span, spans
from ...truth.steady import departures, true_gap, window
from ..common.bulk_report import size_text
from ..common.logp_evaluation import bound_of

__all__ = ["evaluate"]

SENDER, RECEIVER = 0, 1
FEW = 4
"""Sends at the beginning of a stream whose mean cost is o_s."""


@dataclass(frozen=True)
class _Size:
    """Estimates and truth at one message size, in ticks. ``there``: in the delayed ping-pong every
    message had arrived at the first check; otherwise o_r and L are unknown."""

    o_s: Fraction
    alone: Fraction
    """o_s of a send to an empty queue, which has no descriptor to link to."""
    o_r: Fraction
    g: Fraction
    L: Fraction
    half: Fraction
    regimes: Regimes
    truth: dict[str, Fraction | None]
    bias: dict[str, list[tuple[str, Fraction]]]
    legs: dict[str, Fraction]
    bound: Any
    visible: bool
    there: bool
    takes_cpu: bool
    """Whether the message, without an engine and longer than a window, does not arrive while the
    CPU computes."""
    exact: bool

    def rows(self) -> list[Row]:
        """Estimate and truth side by side, in cycles."""
        made = []
        for name in ("o_s", "o_r", "g", "L") if self.there else ("o_s", "g"):
            truth = self.truth[name]
            if truth is not None:
                made.append(Row(name, getattr(self, name) / TICKS, truth / TICKS,
                                [(what, size / TICKS) for what, size in self.bias.get(name, [])]))
        return made


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """All figures by size, the signature at the smallest size, and o_r from the counting loop."""
    found = {size: _size(run, size, description) for size, run in raw["sizes"].items()}
    rows = {size: one.rows() for size, one in found.items()}
    least = min(found)
    sending = (growth(list(found), [one.o_s for one in found.values()]).slope / TICKS
               if len(found) > 1 else None)
    results = {
        **_plain(found[least]), "size": least,
        "by_size": {str(size): _plain(one) for size, one in found.items()},
        "o_s_per_byte": None if sending is None else number(sending),
        "bound": bound_of(found[least].bound),
        "regimes": {"send_only": found[least].regimes.send_only,
                    "steady": found[least].regimes.steady},
    }
    truth: dict[str, Any] = {str(size): {
        **{name: None if value is None else cycles(value) for name, value in one.truth.items()},
        "legs": {name: cycles(value) for name, value in one.legs.items()}}
        for size, one in found.items()}
    checks = _checks(found, rows)
    if raw.get("counting"):
        results["interrupts"], truth["interrupts"], more = _counting(raw["counting"])
        checks.append(more)
    return {
        "results": results, "truth": truth,
        "comparison": [row.plain() for row in rows[least]],
        "points": {"curves": [{"delay": run["delay"],
                               "issued": [cycles(ticks) for ticks in run["issued"]],
                               "handled": list(run["handled"])} for run in raw["curves"]],
                   "trips": {str(size): [cycles(trip) for trip in run["trips"]["trips"]]
                             for size, run in raw["sizes"].items()}},
        "breakdown": {size_text(size): via_life(
            _pairs(run["trips"], description.design), run["trips"]["events"], description.design)
                      for size, run in raw["sizes"].items()},
        "checks": checks,
    }


def _plain(one: _Size) -> dict[str, Any]:
    return {"o_s": cycles(one.o_s), "o_s_alone": cycles(one.alone),
            "o_r": cycles(one.o_r) if one.there else None,
            "L": cycles(one.L) if one.there else None,
            "g": cycles(one.g) if one.visible else None, "rate": cycles(one.g),
            "g_visible": one.visible, "half": cycles(one.half),
            "bound_by": one.bound.block, "busy": number(one.bound.busy)}


def _mean(values: list[int]) -> Fraction:
    return Fraction(sum(values), len(values)) if values else Fraction(0)


def _size(run: Mapping[str, Any], size: int, description: Description) -> _Size:
    stream, plain, delayed = run["stream"], run["trips"], run["delayed"]
    curve = Curve(stream["delay"] * TICKS, tuple(stream["issued"]), tuple(stream["handled"]))
    where = regimes(curve)
    line = gap(curve, where)
    packets = max(1, -(-size // description.nic.mtu))
    # Few: no more than fit the connection's window, at every design point.
    few = max(1, min(FEW, description.via.window // packets, where.send_only))
    o_s = few_sends(curve.issued, curve.delay, few)
    half = half_trip(plain["trips"]).mean
    delay = delayed["delay"] * TICKS
    alone = Fraction(curve.step(0) - curve.delay)
    o_r = receive_overhead(delayed["trips"], delay, alone)

    marks = spans(stream["marks"])
    sent = posted(marks, SENDER, stream["begin"])[:len(stream["issued"])]
    pairs, late = (_pairs(run, description.design) for run in (plain, delayed))
    legs = mean_half(pairs)
    times = departures(stream["events"], SENDER, {span.number for span in sent})
    between = window(times) if len(times) >= 4 else (sent[len(sent) // 2].begin, sent[-1].end)
    found = bound(shares(stream["events"], marks, *between, SENDER, RECEIVER,
                         description.design))
    takes_cpu = description.via.design == "kernel" and packets > description.via.window
    true_o_s = _mean([span.own for span in sent[:few]])
    true_o_r = _mean([pair.back.o_r for pair in late])
    sends_late = _mean([pair.out.o_s for pair in late])
    uncovered = receive_overhead(delayed["trips"], delay, Fraction(0)) - sends_late - true_o_r
    bias = {
        "o_s": [("interrupts at the end of the call", _behind(marks, sent[:few]))],
        "o_r": [("sends cost other than the stream's first", sends_late - alone),
                ("what no mark covers, and checks that find nothing", uncovered)],
        "L": [("phase of the CPU's clock and of the poll", legs.seen),
              ("between finding a message and echoing it; interrupts", legs.turn),
              ("o_s and o_r here, less as estimated", legs.o_s - alone + legs.o_r - o_r)],
    }
    return _Size(
        o_s=o_s, alone=alone, o_r=o_r, g=line.slope, L=flight(half, alone, o_r), half=half,
        regimes=where,
        truth={"o_s": true_o_s, "o_r": true_o_r, "L": legs.flight, "half": legs.total,
               "g": true_gap(times) * packets if len(times) >= 4 else None,
               "post_receive": _own(marks, Activity.POST_RECEIVE, RECEIVER),
               "send_complete": _own(marks, Activity.SEND_COMPLETE, SENDER)},
        bias=bias,
        legs={"o_s": legs.o_s, "flight": legs.flight, "seen": legs.seen, "o_r": legs.o_r,
              "turn": legs.turn},
        bound=found, visible=found.block != "host" and line.slope > o_s * Fraction(102, 100),
        there=not takes_cpu and not _empty(delayed), takes_cpu=takes_cpu,
        exact=[pair.total for pair in pairs] == list(plain["trips"]))


def _behind(found: list[Span], sent: list[Span]) -> Fraction:
    """Mean ticks between the end of a send's call and the next step of the program."""
    going_on = sorted(span.begin for span in found
                      if span.node == SENDER and span.activity == Activity.COMPUTE)
    return _mean([going_on[bisect_left(going_on, span.end)] - span.end for span in sent
                  if going_on and going_on[-1] >= span.end])


def _pairs(run: Mapping[str, Any], design: NicDesign) -> list[Trip]:
    return trips(spans(run["marks"]), run["events"], run["begin"], run["end"], design,
                 run.get("stops"))


def _own(found: list[Span], activity: Activity, node: int) -> Fraction:
    """Mean ticks of a call, without nested spans."""
    return _mean([span.own for span in found if span.node == node and span.activity == activity])


def _empty(run: Mapping[str, Any]) -> int:
    """Empty checks of the client in the timed part."""
    return sum(span.activity == Activity.EMPTY_CHECK and span.node == SENDER
               and run["begin"] <= span.begin < run["end"] for span in spans(run["marks"]))


def _counting(raw: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """o_r with interrupts. The truth is the time in which the loop did not compute, less the same
    time of the loop alone."""
    alone, disturbed = raw["alone"], raw["disturbed"]
    messages = disturbed["messages"]
    o_r = counting_loop(alone["count"], disturbed["count"], messages, alone["ticks"])
    truth = Fraction(_lost(disturbed) - _lost(alone), messages)
    count = Fraction(alone["ticks"], alone["count"])
    # A loop ends at a whole count, so there is a rounding of one count at each end.
    return ({"o_r": cycles(o_r), "messages": messages, "alone": alone["count"],
             "disturbed": disturbed["count"], "per_count": cycles(count)},
            {"o_r": cycles(truth)},
            check("o_r of the counting loop is the time that the loop lost",
                  abs(o_r - truth) <= max(truth / 50, 2 * count / messages),
                  f"{cycles(o_r)} estimated, {cycles(truth)} traced"))


def _lost(run: Mapping[str, Any]) -> int:
    """Ticks of a counting loop in which it did not count."""
    return run["ticks"] - sum(span.end - span.begin for span in spans(run["marks"])
                              if span.node == RECEIVER and span.activity == Activity.COMPUTE
                              and run["begin"] <= span.begin < run["end"])


def _checks(found: Mapping[int, _Size], rows: Mapping[int, list[Row]]) -> list[dict[str, Any]]:
    inexact = [size for size, one in found.items() if not one.exact]
    waited = [size for size, one in found.items() if not one.there and not one.takes_cpu]
    unsteady = [size for size, one in found.items() if not one.regimes.steady]
    made = [
        check("half the round trip is the sum of its legs", not inexact,
              f"not at {inexact} bytes" if inexact else "to the tick"),
        check("a delay beyond L: each message is there when it is looked for", not waited,
              f"not at {waited} bytes" if waited else "each is"),
        check("a steady state is reached", not unsteady,
              f"not at {unsteady} bytes" if unsteady else "at every size"),
    ]
    for name, rest in (("o_s", True), ("g", False), ("o_r", True), ("L", True)):
        each = [(size, row) for size, by_size in rows.items() for row in by_size
                if row.quantity == name]
        off = [(size, row.left if rest else row.estimate - row.truth, row.truth)
               for size, row in each]
        limits = {size: max(abs(truth) / 50, Fraction(1, 8)) for size, _, truth in off}
        wrong = [one for one in off if abs(one[1]) > limits[one[0]]]
        worst = max(off, key=lambda one: abs(one[1]) / limits[one[0]], default=None)
        said = "no figures" if worst is None else (
            f"off by {float(worst[1]):.3f} cycles of {float(worst[2]):.3f} at {worst[0]} bytes")
        made.append(check(f"{name} within 2 % of the truth"
                          + (" plus its named bias" if rest else ""), not wrong, said))
    return made
