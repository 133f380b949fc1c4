"""Bulk transfers over sizes: T(n), o_s(n), o_r(n), g(n), bandwidth, r_inf, n_1/2, T0 and G."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....host.am.endpoint import AmEndpoint, buffer_of
from ....host.endpoint import Exchange
from ....host.port.node import Node
from ....layouts.description import Description
from ....layouts.trace import TICKS, Activity
from ...errors import UserError
from ...estimate.bulk import bandwidth, gap_per_byte
from ...estimate.compare import check
from ...estimate.fits import fit
from ...estimate.logp import Curve, Regimes, regimes, send_overhead
from ...results.document import cycles, number
from ...truth.spans import spans
from ..benchmark import Tell
from ..common import bulk_report
from ..common.bulk_report import BulkKind, BulkResults, BulkRow, BusyBound
from ..common.programs import close_to, open_to, programs, server, stamp
from ..common.reported import Reported
from ..common.transfers import (
    KINDS,
    TransferTruth,
    measure_transfers,
    sizes,
    transfer_truth,
    transfers,
    window_bytes,
)
from ..fields import Outcome, setting

__all__ = ["Bulk", "BulkParameters", "answer_gap"]

BUDGET = 128 << 10
"""Bytes of a stream, M * n; but at least LEAST and at most MOST transfers."""
LEAST, MOST = 2, 96
WARM = 1 << 16
"""Sizes up to this one are transferred once before they are timed, to warm the caches. Buffers of
larger transfers do not fit a cache."""


@dataclass(frozen=True)
class BulkParameters:
    """4 B to 1 MB, with 3 bytes less and more around each power of two for T(n)."""

    sizes: Sequence[int] = setting([4], "bytes of single transfers", unit="bytes")
    stream_sizes: Sequence[int] = setting([4], "bytes of transfers in a row", unit="bytes")
    stream_bytes: int = setting(BUDGET, "bytes of a stream, about", unit="bytes")
    kinds: Sequence[str] = setting(list(KINDS), "kinds of transfer")


class Bulk(Reported):
    """Bulk transfers over sizes."""

    Parameters = BulkParameters
    Results = BulkResults
    report = bulk_report

    def parameters(self, description: Description) -> BulkParameters:
        """Up to what a buffer holds."""
        most = buffer_of(description)
        return BulkParameters(sizes(most, around=3), sizes(most))

    async def measure(self, lab: Any, layer: str, parameters: BulkParameters, tell: Tell
                      ) -> dict[str, Any]:
        """Single transfers for T(n); streams for o_s(n) and g(n), and with D beyond the knee for
        o_r(n)."""
        if lacking := sorted({*parameters.stream_sizes} - {*parameters.sizes}):
            raise UserError(f"bench bulk: a stream is compared with single transfers of its size: "
                            f"{lacking[0]} is not among the sizes")
        found: dict[str, Any] = {}
        streams = [(kind, size) for kind in parameters.kinds if kind != "store"
                   for size in parameters.stream_sizes]
        steps = len(parameters.kinds) * 8 + len(streams)
        for index, kind in enumerate(parameters.kinds):
            tell(f"{kind}, one by one", 8 * index, steps)
            found[kind] = {"single": await _measure_single(lab, kind, parameters.sizes),
                           "streams": {}, "beyond": {}}
        reach = window_bytes(lab.description)
        for index, (kind, size) in enumerate(streams):
            tell(f"{kind}, streams of {size} bytes", 8 * len(parameters.kinds) + index, steps)
            found[kind]["streams"][size] = await measure_transfers(
                lab, kind, size, _count(size, parameters.stream_bytes))
            if size <= reach:
                single = found[kind]["single"]["ticks"][list(parameters.sizes).index(size)]
                found[kind]["beyond"][size] = await measure_transfers(
                    lab, kind, size, 6, -(-2 * single // TICKS), trace=False)
        return found

    def evaluate(self, raw: Any, description: Description, parameters: BulkParameters) -> Outcome:
        """All figures over sizes, for each kind."""
        results, truth, points, checks = {}, {}, {}, []
        limit = description.link.bytes_per_cycle
        for kind, one in raw.items():
            times = [(size, Fraction(ticks, TICKS)) for size, ticks in zip(
                parameters.sizes, one["single"]["ticks"], strict=True)]
            traced = {size: transfer_truth(stream, description)
                      for size, stream in one["streams"].items()}
            rows = [_row(stream, one["beyond"].get(size), traced[size], description)
                    for size, stream in one["streams"].items()]
            results[kind] = _kind(times, rows, description)
            truth[kind] = {"by_size": [_traced(size, found) for size, found in traced.items()]}
            points[kind] = {"T": [[size, number(time)] for size, time in times]}
            checks.append(_check_times(kind, one["single"], parameters.sizes))
            best = max(size / time for size, time in times)
            checks.append(check(f"{kind}: no more than the link carries", best <= limit,
                                f"{number(best)} of {number(limit)} bytes a cycle"))
        return Outcome(results=BulkResults(**results), truth=truth, points=points, checks=checks)


def _count(size: int, budget: int) -> int:
    return max(LEAST, min(MOST, budget // size))


async def _measure_single(lab: Any, kind: str, chosen: Sequence[int]
                          ) -> dict[str, Any]:
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

    run = await lab.run(programs(lab, {
        0: requester, 1: server(lambda node: AmEndpoint(node, Exchange()))}))
    return {"ticks": [stop[0] - start[0] for start, stop in run.results[0]],
            "between": [(start[0], stop[0]) for start, stop in run.results[0]],
            "marks": run.marks}


def _kind(times: Sequence[tuple[int, Fraction]], rows: Sequence[BulkRow],
          description: Description) -> BulkKind:
    """Figures of single transfers, by their sizes and ``times`` in cycles, and of those in a
    row."""
    found = bandwidth([size for size, _ in times], [time for _, time in times])
    return BulkKind(
        r_inf=number(found.r_inf), T0=number(found.T0),
        n_half=None if found.n_half is None else number(found.n_half),
        best=number(max(size / time for size, time in times)),
        residual=number(found.residual), G=_per_byte(rows, description), by_size=rows)


def _row(stream: Mapping[str, Any], beyond: Mapping[str, Any] | None, truth: TransferTruth,
         description: Description) -> BulkRow:
    """Figures of transfers in a row."""
    o_s = _send(stream, description) if beyond else None
    o_r = None if not beyond or o_s is None else _receive(beyond, o_s)
    g = answer_gap(stream["answered"])
    seen = (o_s is None or o_r is None or g > (o_s + o_r) * Fraction(102, 100)) and (
        truth.bound is None or truth.bound.block != "host")
    return BulkRow(
        size=stream["size"], o_s=None if o_s is None else cycles(o_s),
        o_r=None if o_r is None else cycles(o_r), g=cycles(g) if seen else None, g_visible=seen,
        rate=cycles(g), count=len(stream["issued"]),
        bound=None if truth.bound is None else BusyBound(truth.bound.block, truth.bound.busy))


def _send(stream: Mapping[str, Any], description: Description) -> Fraction:
    """o_s, in ticks, of only those issues whose packets all had room in the bulk window; the
    packets of others are sent later."""
    curve = Curve(0, tuple(stream["issued"]), tuple(stream["handled"]))
    packets = -(-stream["size"] // description.nic.mtu)
    room = window_bytes(description) // description.nic.mtu // packets
    return send_overhead(curve, Regimes(min(regimes(curve).send_only, max(1, room)), 0))


def _receive(beyond: Mapping[str, Any], o_s: Fraction) -> Fraction:
    """o_r, in ticks, of a stream with a delay beyond the knee."""
    steps = [beyond["issued"][index] - beyond["issued"][index - 1]
             for index in range(2, len(beyond["issued"]))]
    return Fraction(sum(steps), len(steps)) - beyond["delay"] * TICKS - o_s


def _traced(size: int, truth: TransferTruth) -> dict[str, Any]:
    """The truth of one size in the form of a result file."""
    return {"size": size, "o_s": cycles(truth.o_s),
            "g": None if truth.g is None else cycles(truth.g),
            "o_r": None if truth.o_r is None else cycles(truth.o_r)}


def answer_gap(answered: list[int]) -> Fraction:
    """The gap, in ticks: the slope of the times of the answers over their number, in the last two
    thirds of them. An asynchronous issue returns long before its data has left, so issue times show
    the gap only when the request window is full of transfers."""
    first = len(answered) // 3
    return fit(range(first, len(answered)), answered[first:]).slope


def _per_byte(rows: Sequence[BulkRow], description: Description) -> float | None:
    """G, cycles a byte, from the sizes of whole packets at which g was visible."""
    gaps = {row.size: Fraction(str(row.g)) for row in rows
            if row.g is not None and row.size >= description.nic.mtu // 4}
    if len(gaps) < 2:
        return None
    return number(gap_per_byte(list(gaps), list(gaps.values())).slope)


def _check_times(kind: str, single: Mapping[str, Any], chosen: Sequence[int]
                 ) -> dict[str, Any]:
    """Compare T(n) by the program's clock with the marks of the call and of its answer."""
    found = spans(single["marks"])
    begins = {span.begin for span in found if span.activity == Activity.BULK_SEND and not span.node}
    ends = {span.end for span in found if not span.node and span.activity != Activity.COMPUTE}
    wrong = [size for size, (start, stop) in zip(chosen, single["between"], strict=True)
             if start not in begins or stop not in ends]
    return check(f"{kind}: T(n) lies between the traced call and its traced answer", not wrong,
                 f"not for n = {wrong[0]}" if wrong else "to the tick")
