"""Tables and plot of LogP on VIA."""

from collections.abc import Mapping
from typing import Any

from ...results.tables import amount, micro, percent, table
from ..common.bulk_report import size_text
from ..common.gap_bound import bound_line, busy_table
from ..common.headline import Headline, Series
from ..common.latencies import LEGS
from ..fields import read
from .logp_results import ViaLogpResults

__all__ = ["draw", "headline", "series", "tables"]


def tables(document: Mapping[str, Any]) -> list[Any]:
    """The parameters of the smallest message, then figures over size."""
    clock, truth = document["clock_mhz"], document["truth"]
    results = read(ViaLogpResults, document["results"])
    rows = []
    for row in document["comparison"]:
        bias = [f"{one['cycles']:+.2f} {one['name']}" for one in row["bias"]]
        rows.append((row["quantity"], amount(row["estimate"]), micro(row["estimate"], clock),
                     amount(row["truth"]), f"{row['difference']:+.2f}",
                     percent(row["difference"] / row["truth"] if row["truth"] else None),
                     "\n".join(bias) or "none"))
    main = table(f"LogP, VIA, messages of {size_text(results.size)}, target clock "
                 f"{amount(clock)} MHz", ["", "estimate", "µs", "truth", "diff.", "",
                                          "named bias (cycles)"], rows)
    main.columns[-1].justify = "left"
    main.columns[-1].no_wrap = False
    legs = truth[str(results.size)]["legs"]
    parts = [(title, amount(legs[name]), micro(legs[name], clock)) for name, title in LEGS.items()]
    total = sum(legs.values())
    parts.append(("sum", amount(total), micro(total, clock)))
    lines = []
    for size, one in results.by_size.items():
        true = truth[size]
        gap = amount(one.g, 1) if one.g_visible else f"≤ {amount(one.rate, 1)}"
        lines.append((size_text(int(size)), amount(one.o_s, 1), amount(true["o_s"], 1),
                      amount(one.o_r, 1), amount(true["o_r"], 1), gap, amount(one.L, 1),
                      amount(true["L"], 1), amount(one.half, 1),
                      f"{one.bound_by} {100 * one.busy:.0f} %"))
    calls = truth[str(results.size)]
    text = [bound_line(results.bound),
            f"o_s of a send to an empty queue, which links to nothing: "
            f"{amount(results.o_s_alone)} cycles; it is what o_r and L are found with",
            f"o_s grows by {amount(results.o_s_per_byte, 4)} cycles a byte",
            f"beside them, a message: VipPostRecv {amount(calls['post_receive'])} cycles, "
            f"VipSendDone that finds {amount(calls['send_complete'])}"]
    if results.interrupts:
        found = results.interrupts
        text.append(f"with an interrupt a message o_r is {amount(found.o_r)} cycles (counting "
                    f"loop: {found.alone} counts alone, {found.disturbed} while "
                    f"{found.messages} messages came; traced "
                    f"{amount(truth['interrupts']['o_r'])})")
    return [main, table("The truth: half a round trip leg by leg", ["leg", "cycles", "µs"], parts),
            table("Over size (cycles)", ["n", "o_s", "true", "o_r", "true", "g", "L", "true",
                                         "RTT/2", "g bound by"], lines,
                  caption="g with ≤: not visible, no more than the host's own cost"),
            busy_table(results.bound), *text]


def draw(document: Mapping[str, Any], figure: Any) -> None:
    """The signature, and the parameters over size."""
    from ...results.plots import INK, PALETTE, octaves, plain_log, ramp

    results = read(ViaLogpResults, document["results"])
    left, right = figure.subplots(1, 2)
    curves = sorted(document["points"]["curves"], key=lambda run: run["delay"])
    most = max(len(run["issued"]) for run in curves)
    low, high = results.o_s, 0.0
    for index, run in enumerate(curves):
        count = len(run["issued"])
        chosen = sorted({round(2 ** (k / 8)) for k in range(160) if 2 ** (k / 8) <= count}
                        | {count})
        cost = [run["issued"][m - 1] / m for m in chosen]
        left.plot(chosen, cost, color=ramp(index, len(curves)), label=f"D = {run['delay']}",
                  lw=1.5 if index else 2.4)
        low, high = min(low, *cost), max(high, *cost)
    plain_log(left, max(low, 0.1) / 1.5, high * 1.4)
    octaves(left, 1, most, "sends posted in a row, M", most=8)
    left.axhline(results.o_s, color=INK, lw=0.9, ls=(0, (5, 3)))
    left.annotate(f"o_s = {amount(results.o_s)}", (1, results.o_s), xytext=(4, -3),
                  textcoords="offset points", va="top", fontsize=8.5)
    left.set_ylabel("average cost of a send (cycles), D included")
    left.legend(loc="best")
    left.set_title(f"Signature, {size_text(results.size)}")
    sizes = list(results.by_size)
    values = []
    for colour, name in zip(PALETTE, ("o_s", "o_r", "g", "L", "half"), strict=False):
        found = [(int(size), value) for size in sizes
                 if (value := getattr(results.by_size[size], name)) and value > 0]
        if found:
            right.plot(*zip(*found, strict=True), color=colour, marker="o",
                       label="RTT/2" if name == "half" else name)
            values += [value for _, value in found]
    plain_log(right, min(values) / 1.5, max(values) * 1.5)
    octaves(right, int(sizes[0]), int(sizes[-1]), "bytes, n", sizes=True, most=8)
    right.legend(loc="upper left")
    right.set_title("Over message size (cycles)")


def headline(document: Mapping[str, Any]) -> list[Headline]:
    """The parameters at the smallest and the largest size."""
    results = read(ViaLogpResults, document["results"])
    sizes = list(results.by_size)
    found = []
    for size in dict.fromkeys((sizes[0], sizes[-1])):
        one = results.by_size[size]
        found += [Headline(f"{name}, {size_text(int(size))}", getattr(one, name))
                  for name in ("o_s", "o_r", "g", "L")]
        found.append(Headline(f"flight traced, {size_text(int(size))}",
                              document["truth"][size]["L"]))
    found.append(Headline("o_s(n) grows by", results.o_s_per_byte, "cycles/byte"))
    if results.interrupts:
        found.append(Headline("o_r with an interrupt", results.interrupts.o_r))
    return found


def series(document: Mapping[str, Any]) -> Series:
    """o_s over size."""
    found = read(ViaLogpResults, document["results"]).by_size
    return Series("bytes, n", "o_s (cycles)",
                  [(int(size), one.o_s) for size, one in found.items()], sizes=True)
