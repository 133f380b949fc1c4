"""Bulk transfers over sizes: T(n), o_s(n), o_r(n), g(n), bandwidth, r_inf, n_1/2, T0 and G."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ....host.am.endpoint import AmEndpoint, buffer_of
from ....host.endpoint import Exchange
from ....host.port.node import Node
from ....layouts.description import Description
from ....layouts.trace import TICKS, Activity
from ...estimate.bulk import bandwidth, gap_per_byte
from ...estimate.compare import check
from ...estimate.fits import fit
from ...estimate.logp import Curve, Regimes, regimes, send_overhead
from ...results.document import cycles, number
from ...truth.spans import spans
from ..common.bulk_report import draw, headline, series, tables
from ..common.programs import close_to, open_to, programs, server, stamp
from ..common.transfers import (
    KINDS,
    measure_transfers,
    sizes,
    transfer_truth,
    transfers,
    window_bytes,
)

__all__ = ["answer_gap", "draw", "evaluate", "headline", "measure", "parameters", "series",
           "tables"]

BUDGET = 128 << 10
"""Bytes of a stream, M * n; but at least LEAST and at most MOST transfers."""
LEAST, MOST = 2, 96
WARM = 1 << 16
"""Sizes up to this one are transferred once before they are timed, to warm the caches. Buffers of
larger transfers do not fit a cache."""


def parameters(description: Description) -> dict[str, Any]:
    """4 B to 1 MB, with 3 bytes less and more around each power of two for T(n)."""
    most = buffer_of(description)
    return {"sizes": sizes(most, around=3), "stream_sizes": sizes(most), "stream_bytes": BUDGET,
            "kinds": list(KINDS)}


def _count(size: int) -> int:
    return max(LEAST, min(MOST, BUDGET // size))


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """Single transfers for T(n); streams for o_s(n) and g(n), and with D beyond the knee for
    o_r(n)."""
    found: dict[str, Any] = {}
    streams = [(kind, size) for kind in parameters["kinds"] if kind != "store"
               for size in parameters["stream_sizes"]]
    steps = len(parameters["kinds"]) * 8 + len(streams)
    for index, kind in enumerate(parameters["kinds"]):
        tell(f"{kind}, one by one", 8 * index, steps)
        found[kind] = {"single": await _measure_single(lab, kind, parameters["sizes"]),
                       "streams": {}, "beyond": {}}
    reach = window_bytes(lab.description)
    for index, (kind, size) in enumerate(streams):
        tell(f"{kind}, streams of {size} bytes", 8 * len(parameters["kinds"]) + index, steps)
        found[kind]["streams"][size] = await measure_transfers(lab, kind, size, _count(size))
        if size <= reach:
            single = found[kind]["single"]["ticks"][parameters["sizes"].index(size)]
            found[kind]["beyond"][size] = await measure_transfers(
                lab, kind, size, 6, -(-2 * single // TICKS), trace=False)
    return found


async def _measure_single(lab: Any, kind: str, chosen: list[int]) -> dict[str, Any]:
    async def requester(node: Node) -> Any:
        side = AmEndpoint(node, Exchange())
        await open_to(side, [1])
        times = []
        for size in chosen:
            issue = transfers(side, kind, 1, size)
            for left in reversed(range(2 if size <= WARM else 1)):
                wanted = side.replied + 1
                start = stamp(node)
                await issue(0)
                await side.wait(lambda wanted=wanted: side.replied >= wanted)
                stop = stamp(node)
                if not left:
                    times.append((start, stop))
        await close_to(side, [1])
        return times

    run = await lab.run(programs(lab.description.fabric.nodes, {
        0: requester, 1: server(lambda node: AmEndpoint(node, Exchange()))}))
    return {"ticks": [stop[0] - start[0] for start, stop in run.results[0]],
            "between": [(start[0], stop[0]) for start, stop in run.results[0]],
            "marks": run.marks}


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """All figures over sizes, for each kind."""
    results, truth, points, checks = {}, {}, {}, []
    for kind, one in raw.items():
        chosen = parameters["sizes"]
        times = [Fraction(ticks, TICKS) for ticks in one["single"]["ticks"]]
        found = bandwidth(chosen, times)
        rates = [Fraction(size) / time for size, time in zip(chosen, times, strict=True)]
        rows, traced = [], []
        for size, stream in one["streams"].items():
            row, row_truth = _row(stream, one["beyond"].get(size), description)
            rows.append({"size": size, **row})
            traced.append({"size": size, **row_truth})
        results[kind] = {
            "r_inf": number(found.r_inf), "T0": number(found.T0),
            "n_half": None if found.n_half is None else number(found.n_half),
            "best": number(max(rates)), "residual": number(found.residual),
            "G": _per_byte(rows, description), "by_size": rows}
        truth[kind] = {"by_size": traced}
        points[kind] = {"T": [[size, number(time)] for size, time in zip(chosen, times,
                                                                         strict=True)]}
        checks.append(_check_times(kind, one["single"], chosen))
        limit = description.link.bytes_per_cycle
        checks.append(check(f"{kind}: no more than the link carries", max(rates) <= limit,
                            f"{number(max(rates))} of {number(limit)} bytes a cycle"))
    return {"results": results, "truth": truth, "points": points, "checks": checks}


def _row(stream: Mapping[str, Any], beyond: Mapping[str, Any] | None, description: Description
         ) -> tuple[dict[str, Any], dict[str, Any]]:
    curve = Curve(0, tuple(stream["issued"]), tuple(stream["handled"]))
    truth = transfer_truth(stream, description)
    # Only issues whose packets all had room in the bulk window; the packets of others are sent
    # later.
    packets = -(-stream["size"] // description.nic.mtu)
    room = window_bytes(description) // description.nic.mtu // packets
    where = Regimes(min(regimes(curve).send_only, max(1, room)), 0)
    o_s = send_overhead(curve, where) if beyond else None
    o_r = None
    if beyond and o_s is not None:
        steps = [beyond["issued"][index] - beyond["issued"][index - 1]
                 for index in range(2, len(beyond["issued"]))]
        o_r = Fraction(sum(steps), len(steps)) - beyond["delay"] * TICKS - o_s
    g = answer_gap(stream["answered"])
    seen = True
    if o_s is not None and o_r is not None:
        seen = g > (o_s + o_r) * Fraction(102, 100)
    if truth["bound"] is not None and truth["bound"]["block"] == "host":
        seen = False
    row = {"o_s": None if o_s is None else cycles(o_s), "o_r": None if o_r is None else cycles(o_r),
           "g": cycles(g) if seen else None, "g_visible": seen, "rate": cycles(g),
           "count": len(stream["issued"]),
           "bound": None if truth["bound"] is None else {key: truth["bound"][key]
                                                         for key in ("block", "busy")}}
    traced = {"o_s": cycles(truth["o_s"]),
              "g": None if truth["g"] is None else cycles(truth["g"]),
              "o_r": cycles(truth["o_r"]) if "o_r" in truth else None}
    return row, traced


def answer_gap(answered: list[int]) -> Fraction:
    """The gap, in ticks: the slope of the times of the answers over their number, in the last two
    thirds of them. An asynchronous issue returns long before its data has left, so issue times show
    the gap only when the request window is full of transfers."""
    first = len(answered) // 3
    return fit(range(first, len(answered)), answered[first:]).slope


def _per_byte(rows: list[dict[str, Any]], description: Description) -> float | None:
    """G, cycles a byte, from the sizes of whole packets at which g was visible."""
    chosen = [row for row in rows if row["g"] is not None
              and row["size"] >= description.nic.mtu // 4]
    if len(chosen) < 2:
        return None
    return number(gap_per_byte([row["size"] for row in chosen],
                               [Fraction(str(row["g"])) for row in chosen]).slope)


def _check_times(kind: str, single: Mapping[str, Any], chosen: list[int]) -> dict[str, Any]:
    """Compare T(n) by the program's clock with the marks of the call and of its answer."""
    found = spans(single["marks"])
    begins = {span.begin for span in found if span.activity == Activity.BULK_SEND and not span.node}
    ends = {span.end for span in found if not span.node and span.activity != Activity.COMPUTE}
    wrong = [size for size, (start, stop) in zip(chosen, single["between"], strict=True)
             if start not in begins or stop not in ends]
    return check(f"{kind}: T(n) lies between the traced call and its traced answer", not wrong,
                 f"not for n = {wrong[0]}" if wrong else "to the tick")
