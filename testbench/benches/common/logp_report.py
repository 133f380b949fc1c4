"""Tables and plot of the signature."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...results.tables import amount, micro, percent, table
from ..fields import read
from .gap_bound import bound_line, busy_table
from .headline import Headline, Series
from .logp_results import LogpResults, SignatureResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "draw", "headline", "series", "tables"]

FIGURES = ("o_s", "o_r", "g", "L", "RTT")
LEGS = {"o_s_request": "o_s(request)", "flight_out": "flight out",
        "seen_out": "  phase of clock, poll", "o_r_request": "o_r(request)",
        "o_s_reply": "o_s(reply)", "flight_back": "flight back",
        "seen_back": "  phase of clock, poll", "o_r_reply": "o_r(reply)"}


def tables(document: Mapping[str, Any]) -> list[Any]:
    """The tables for the terminal."""
    clock = document["clock_mhz"]
    results = read(LogpResults, document["results"])
    rows = []
    for row in document["comparison"]:
        bias = [f"{one['cycles']:+.2f} {one['name']}" for one in row["bias"]]
        rows.append((row["quantity"], amount(row["estimate"]), micro(row["estimate"], clock),
                     amount(row["defined"]), micro(row["defined"], clock),
                     percent(row["defined_difference"] / row["defined"] if row["defined"]
                             else None),
                     amount(row["truth"]), f"{row['difference']:+.2f}",
                     "\n".join(bias) or "none"))
    places = document.get("processes")
    where = (f"{document['config']['fabric']['nodes']} nodes" if places is None
             else "CPUs of a node" if places[0][0] == places[1][0] else "CPUs of two nodes")
    main = table(f"LogP, {document['layer']} on {where}, target clock {amount(clock)} MHz",
                 ["", "estimate", "µs", "truth", "µs", "", "alone", "diff.",
                  "named bias (cycles)"], rows)
    main.columns[-1].justify = "left"
    main.columns[-1].no_wrap = False
    legs = document["truth"]["legs"]
    lines = [(LEGS[name], amount(legs[name]), micro(legs[name], clock)) for name in LEGS]
    after = document["truth"].get("after", 0)
    if after:
        lines.append(("the rest of the poll", amount(after), micro(after, clock)))
    total = sum(legs.values()) + after
    lines.append(("sum", amount(total), micro(total, clock)))
    lines.append(("measured RTT", amount(results.rtt), micro(results.rtt, clock)))
    regimes = results.regimes
    steady = (f"steady state from M = {regimes.steady}" if regimes.steady
              else "no steady state")
    text = ["truth: by LogP's definition, o_r with the empty check behind each message; alone: the "
            "handling and the flight alone, with the reasons why the estimate differs",
            bound_line(results.bound),
            f"send only up to M = {regimes.send_only}, {steady}; g fitted with a residual of "
            f"{amount(results.g_residual)} cycles",
            f"o_r from {len(results.o_r_by_delay)} D beyond the knee, "
            f"{amount(results.o_r_spread)} cycles apart; idle {amount(results.idle)} cycles"]
    if not results.g_visible:
        text.append("g is no more than o_s + o_r: what the network could do is not visible")
    return [main, table("The truth: a round trip leg by leg", ["leg", "cycles", "µs"], lines),
            busy_table(results.bound), *text]


def draw(document: Mapping[str, Any], figure: "Figure") -> None:
    """The signature: average cost of an issue over M, one curve for each D."""
    from ...results.plots import INK, label_right, microseconds, octaves, plain_log, ramp

    results = read(SignatureResults, document["results"])
    curves = sorted(document["points"]["curves"], key=lambda run: run["delay"])
    axes: Axes = figure.add_subplot()
    most = max(len(run["issued"]) for run in curves)
    labels = []
    for index, run in enumerate(curves):
        count = len(run["issued"])
        chosen = sorted({round(2 ** (k / 12)) for k in range(12 * 20) if 2 ** (k / 12) <= count}
                        | {count})
        cost = [run["issued"][m - 1] / m for m in chosen]
        colour = ramp(index, len(curves))
        axes.plot(chosen, cost, color=colour, zorder=4 if run["delay"] == 0 else 3,
                  lw=2.4 if run["delay"] == 0 else 1.5)
        labels.append((cost[-1], f"D = {amount(run['delay'])}", colour))
    paid = results.o_s
    low = min(min(run["issued"][0] for run in curves), paid) / 1.5
    high = max(value for value, _, _ in labels) * 1.25
    plain_log(axes, low, high)
    axes.set_xlim(1, most)
    octaves(axes, 1, most, "requests issued in a row, M")
    regimes = results.regimes
    steady = regimes.steady or most
    for left, right, colour, label in [
            (1, regimes.send_only, "#dbe9f6", "send only"),
            (regimes.send_only, steady, "#fdf3dc", "transition"),
            (steady, most, "#e3f1e1", "steady state")]:
        if right <= left:
            continue
        axes.axvspan(left, right, color=colour, lw=0, zorder=0)
        if right / left > 1.7:
            axes.annotate(label, ((left * right) ** 0.5, 1), xycoords=("data", "axes fraction"),
                          xytext=(0, 3), textcoords="offset points", ha="center", va="bottom",
                          fontsize=8.5, color="#6a6a6a")
    for value, name, below in ((paid, f"o_s = {amount(paid)}", True),
                               (results.g, f"g = {amount(results.g)}, the slope in steady "
                                              "state", False)):
        axes.axhline(value, color=INK, lw=0.9, ls=(0, (5, 3)), zorder=2)
        axes.annotate(name, (1, value), xytext=(5, -3 if below else 3),
                      textcoords="offset points", va="top" if below else "bottom", fontsize=8.5,
                      color=INK, zorder=5, bbox={"fc": "white", "ec": "none", "alpha": 0.65,
                                                 "pad": 1.2})
    axes.set_ylabel("average cost of an issue (cycles), D included")
    label_right(axes, labels)
    microseconds(axes, document["clock_mhz"], 1.11)
    bound = results.bound.block
    axes.set_title(f"LogP signature: o_s {amount(results.o_s)}, o_r {amount(results.o_r)}, "
                   f"g {amount(results.g)}, L {amount(results.L)} cycles; g is bound by the "
                   f"{bound}", pad=22)


def headline(document: Mapping[str, Any]) -> list[Headline]:
    """The parameters; g only if it was visible."""
    results = read(SignatureResults, document["results"])
    values = (results.o_s, results.o_r, results.g if results.g_visible else None,
              results.L, results.rtt)
    return [Headline(*one) for one in zip(FIGURES, values, strict=True)]


def series(document: Mapping[str, Any]) -> Series:
    """The signature at D = 0."""
    issued = min(document["points"]["curves"], key=lambda run: run["delay"])["issued"]
    chosen = sorted({round(2 ** (k / 4)) for k in range(80) if 2 ** (k / 4) <= len(issued)})
    return Series("requests issued in a row, M", "average cost of an issue at D = 0 (cycles)",
                  [(count, issued[count - 1] / count) for count in chosen])
