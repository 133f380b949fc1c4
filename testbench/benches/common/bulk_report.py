"""Tables and plot of bulk transfers."""

from collections.abc import Mapping
from typing import Any

from ...results.tables import amount, micro, table
from .headline import Headline, Series

__all__ = ["draw", "headline", "series", "size_text", "tables"]


def size_text(size: int) -> str:
    """Bytes as text, with K and M for powers of two."""
    for unit, scale in ((" MB", 1 << 20), (" KB", 1 << 10)):
        if size >= scale and size % scale == 0:
            return f"{size // scale}{unit}"
    return f"{size} B"


def tables(document: Mapping[str, Any]) -> list[Any]:
    """Times of single transfers, then streams of each kind; powers of two only."""
    clock = document["clock_mhz"]
    results, points = document["results"], document["points"]
    times = {kind: dict(one["T"]) for kind, one in points.items()}
    powers = [size for size in next(iter(times.values())) if size & size - 1 == 0]
    rows = []
    for size in powers:
        row = [size_text(size)]
        for found in times.values():
            row += [amount(found[size], 1), micro(found[size], clock),
                    amount(size / found[size] * clock, 1)]
        rows.append(row)
    columns = ["n"]
    for kind in times:
        columns += [kind, "µs", "MB/s"]
    shown: list[Any] = [table("T(n), from the call to its answer (cycles)", columns, rows)]
    for kind, one in results.items():
        if not one["by_size"]:
            continue
        rows = []
        for row in one["by_size"]:
            gap = amount(row["g"]) if row["g_visible"] else f"not visible (≤ {row['rate']:.1f})"
            bound = row["bound"]
            rows.append((size_text(row["size"]), str(row["count"]), amount(row["o_s"]),
                         amount(row["o_r"]), gap,
                         f"{bound['block']} {100 * bound['busy']:.0f} %" if bound else "-"))
        shown.append(table(f"{kind} in a row (cycles a transfer)",
                           ["n", "M", "o_s(n)", "o_r(n)", "g(n)", "bound by"], rows))
    rows = []
    for kind, one in results.items():
        per_byte = "-" if one["G"] is None else amount(one["G"], 4)
        half = "-" if one["n_half"] is None else amount(one["n_half"], 0)
        rows.append((kind, amount(one["r_inf"], 4), amount(one["r_inf"] * clock, 1), half,
                     amount(one["T0"], 1), per_byte))
    shown.append(table("Bandwidth", ["", "r_inf (bytes/cycle)", "MB/s", "n_1/2 (bytes)",
                                     "T0 (cycles)", "G (cycles/byte)"], rows,
                       caption="T0 mixes overhead, latency and protocol"))
    return shown


def draw(document: Mapping[str, Any], figure: Any) -> None:
    """Time over size, and bandwidth over size."""
    from ...results.plots import PALETTE, octaves, plain_log

    clock = document["clock_mhz"]
    left, right = figure.subplots(1, 2)
    low, high, best = 1e18, 0.0, 0.0
    sizes: list[int] = []
    for colour, (kind, one) in zip(PALETTE, document["points"].items(), strict=False):
        sizes = [size for size, _ in one["T"]]
        times = [time for _, time in one["T"]]
        left.plot(sizes, times, color=colour, label=f"T(n), {kind}")
        rates = [size / time * clock for size, time in one["T"]]
        right.plot(sizes, rates, color=colour, label=kind)
        result = document["results"][kind]
        if result["n_half"]:
            right.plot([result["n_half"]], [result["r_inf"] * clock / 2], color=colour, marker="D",
                       ms=5, ls="none")
        rows = [row for row in result["by_size"] if row["g"] is not None]
        if rows:
            left.plot([row["size"] for row in rows], [row["g"] for row in rows], color=colour,
                      ls=(0, (4, 2)), lw=1, label=f"g(n), {kind}")
            low = min(low, min(row["g"] for row in rows))
        low, high = min(low, min(times)), max(high, max(times))
        best = max(best, result["r_inf"] * clock)
    plain_log(left, low / 1.5, high * 1.5)
    span = (document["points"]["store"]["T"][0][0] if "store" in document["points"]
            else sizes[0], max(sizes))
    for axes in (left, right):
        octaves(axes, *span, "bytes, n", sizes=True, most=8)
    left.set_ylabel("cycles")
    left.set_title("Time of a transfer")
    left.legend(loc="upper left")
    wire = document["config"]["link"]["bytes_per_cycle"]
    numerator, _, denominator = str(wire).partition("/")
    rate = int(numerator) / int(denominator or 1) * clock
    right.axhline(rate, color=PALETTE[6], ls=(0, (5, 3)), lw=1)
    right.annotate(f"link: {amount(rate, 1)}", (span[0], rate), xytext=(2, 3),
                   textcoords="offset points", fontsize=8.5, color=PALETTE[6])
    right.set_ylim(0, rate * 1.1)
    right.set_ylabel("MB/s (n / T)")
    right.set_title("Bandwidth; ◆ n$_{1/2}$")
    right.legend(loc="center left")


def headline(document: Mapping[str, Any]) -> list[Headline]:
    """r_inf, n_1/2 and G of each kind."""
    found = []
    for kind, one in document["results"].items():
        found += [Headline(f"r_inf, {kind}", one["r_inf"], "bytes/cycle"),
                  Headline(f"n_1/2, {kind}", one["n_half"], "bytes"),
                  Headline(f"G, {kind}", one["G"], "cycles/byte")]
    return found


def series(document: Mapping[str, Any]) -> Series:
    """T(n) of stores."""
    kind, one = next(iter(document["points"].items()))
    return Series("bytes, n", f"T(n), {kind} (cycles)", [tuple(point) for point in one["T"]],
                  sizes=True, log=True)
