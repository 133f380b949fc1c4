"""Bulk transfers: results, tables and plot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ...results.tables import amount, micro, table
from ..fields import figure, read
from .headline import Headline, Series

__all__ = ["BulkKind", "BulkResults", "BulkRow", "BusyBound", "draw", "headline", "kinds_of",
           "series", "size_text", "tables"]


@dataclass(frozen=True)
class BusyBound:
    """The block that bounds the gap, without the others."""

    block: str = figure("", "its name")
    busy: float = figure("", "the share, 0 to 1, of the time in which it served")


@dataclass(frozen=True)
class BulkRow:
    """Transfers of one size in a row; None: not seen at this size."""

    size: int = figure("bytes", "of a transfer")
    o_s: float | None = figure("cycles", "send overhead")
    o_r: float | None = figure("cycles", "receive overhead")
    g: float | None = figure("cycles", "gap, where it is visible")
    g_visible: bool = figure("", "the gap is more than the host's own cost")
    rate: float = figure("cycles", "between answers, the host's own cost or the gap")
    count: int = figure("", "transfers")
    bound: BusyBound | None = figure("", "what bounds the gap")


@dataclass(frozen=True)
class BulkKind:
    """Figures of one kind of transfer."""

    r_inf: float = figure("bytes/cycle", "of transfers without end: the slope")
    T0: float = figure("cycles", "intercept: of a transfer of no bytes")
    n_half: float | None = figure("bytes", "size at half of r_inf; None: the line has none")
    best: float = figure("bytes/cycle", "the most of any size")
    residual: float = figure("", "of the fit, relative")
    G: float | None = figure("cycles/byte", "gap a byte; None: visible at too few sizes")
    by_size: Sequence[BulkRow] = figure("", "transfers in a row, by size")


@dataclass(frozen=True)
class BulkResults:
    """Figures of each kind of transfer that was measured."""

    store: BulkKind | None = figure("", "blocking stores", optional=True)
    store_async: BulkKind | None = figure("", "asynchronous stores", optional=True)
    get: BulkKind | None = figure("", "gets", optional=True)


def kinds_of(document: Mapping[str, Any]) -> list[tuple[str, BulkKind]]:
    """The kinds that were measured, in the order of :class:`BulkResults`: a file that is read has
    them in that of letters."""
    results = read(BulkResults, document["results"])
    return [(kind.name, found) for kind in fields(results)
            if (found := getattr(results, kind.name)) is not None]


def size_text(size: int) -> str:
    """Bytes as text, with K and M for powers of two."""
    for unit, scale in ((" MB", 1 << 20), (" KB", 1 << 10)):
        if size >= scale and size % scale == 0:
            return f"{size // scale}{unit}"
    return f"{size} B"


def tables(document: Mapping[str, Any]) -> list[Any]:
    """Times of single transfers, then streams of each kind; powers of two only."""
    clock, kinds = document["clock_mhz"], kinds_of(document)
    times = {kind: dict(document["points"][kind]["T"]) for kind, _ in kinds}
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
    for kind, one in kinds:
        if not one.by_size:
            continue
        rows = []
        for row in one.by_size:
            gap = amount(row.g) if row.g_visible else f"not visible (≤ {row.rate:.1f})"
            bound = f"{row.bound.block} {100 * row.bound.busy:.0f} %" if row.bound else "-"
            rows.append((size_text(row.size), str(row.count), amount(row.o_s), amount(row.o_r), gap,
                         bound))
        shown.append(table(f"{kind} in a row (cycles a transfer)",
                           ["n", "M", "o_s(n)", "o_r(n)", "g(n)", "bound by"], rows))
    rows = []
    for kind, one in kinds:
        per_byte = "-" if one.G is None else amount(one.G, 4)
        half = "-" if one.n_half is None else amount(one.n_half, 0)
        rows.append((kind, amount(one.r_inf, 4), amount(one.r_inf * clock, 1), half,
                     amount(one.T0, 1), per_byte))
    shown.append(table("Bandwidth", ["", "r_inf (bytes/cycle)", "MB/s", "n_1/2 (bytes)",
                                     "T0 (cycles)", "G (cycles/byte)"], rows,
                       caption="T0 mixes overhead, latency and protocol"))
    return shown


def draw(document: Mapping[str, Any], figure: Any) -> None:
    """Time over size, and bandwidth over size."""
    from ...results.plots import PALETTE, octaves, plain_log

    clock = document["clock_mhz"]
    left, right = figure.subplots(1, 2)
    low, high = 1e18, 0.0
    sizes: list[int] = []
    for colour, (kind, result) in zip(PALETTE, kinds_of(document), strict=False):
        line = document["points"][kind]["T"]
        sizes = [size for size, _ in line]
        times = [time for _, time in line]
        left.plot(sizes, times, color=colour, label=f"T(n), {kind}")
        rates = [size / time * clock for size, time in line]
        right.plot(sizes, rates, color=colour, label=kind)
        if result.n_half:
            right.plot([result.n_half], [result.r_inf * clock / 2], color=colour, marker="D",
                       ms=5, ls="none")
        gaps = {row.size: row.g for row in result.by_size if row.g is not None}
        if gaps:
            left.plot(list(gaps), list(gaps.values()), color=colour, ls=(0, (4, 2)), lw=1,
                      label=f"g(n), {kind}")
            low = min(low, *gaps.values())
        low, high = min(low, min(times)), max(high, max(times))
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
    for kind, one in kinds_of(document):
        found += [Headline(f"r_inf, {kind}", one.r_inf, "bytes/cycle"),
                  Headline(f"n_1/2, {kind}", one.n_half, "bytes"),
                  Headline(f"G, {kind}", one.G, "cycles/byte")]
    return found


def series(document: Mapping[str, Any]) -> Series:
    """T(n) of stores."""
    kind, _ = kinds_of(document)[0]
    line = document["points"][kind]["T"]
    return Series("bytes, n", f"T(n), {kind} (cycles)", [tuple(point) for point in line],
                  sizes=True, log=True)
