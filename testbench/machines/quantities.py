"""The quantities of which studies publish figures, and the benchmark that gives each.

A name is one of ``o_s``, ``rtt`` and so on, as :data:`QUANTITIES` has them. Values are in the unit
of the quantity: times in microseconds (of programs in seconds), rates in MB/s (10^6 bytes), sizes
in bytes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

from ...layouts.description import Description
from ..benches.am.bare import BareResults
from ..benches.am.overhead import OverheadResults
from ..benches.am.pipelined import PipelinedResults
from ..benches.am.rtt import RttResults
from ..benches.bandwidth import BandwidthResults
from ..benches.common.bulk_report import BulkKind, BulkResults, BulkRow
from ..benches.common.logp_results import LogpResults
from ..benches.common.transfers import sizes
from ..benches.fields import read
from ..benches.latency import LatencyResults
from ..benches.memory.results import MemoryResults
from ..defaults import LAYER as DEFAULT_LAYER
from ..errors import UserError, nearest
from ..estimate.bulk import bandwidth
from .programs import extrapolated, first, sort_runs

__all__ = ["QUANTITIES", "Quantity", "quantity"]

T = TypeVar("T")
Pull = Callable[[Mapping[str, Any]], Any]
"""From a benchmark's results to cycles, bytes a cycle, or bytes; None if the run did not show
it."""


@dataclass(frozen=True)
class Quantity:
    """A quantity: its name and unit, the benchmark or the program over Split-C that measures it
    with ``parameters`` in place of the usual ones, and where it is in the results."""

    name: str
    unit: str
    title: str
    bench: str
    pull: Pull
    parameters: Mapping[str, Any] = field(default_factory=dict)
    lean: Mapping[str, Any] = field(default_factory=dict)
    """On top of ``parameters``: what leaves out all that this quantity does not need."""
    brief: Mapping[str, Any] = field(default_factory=dict)
    """On top of ``parameters``: what takes least time, and gives the quantity to a few hundredths;
    ``lean`` if there is nothing of the kind."""
    layer: str = DEFAULT_LAYER
    fabric: Mapping[str, int] = field(default_factory=dict)
    """Knobs of the fabric that it is measured on, in place of the description's."""
    knobs: Mapping[str, Any] = field(default_factory=dict)
    """Other knobs in place of the description's, by their full names."""
    layout: str = ""
    """Of a program: the layout in which it runs (testbench.apps.layout)."""

    def value(self, results: Mapping[str, Any], description: Description) -> float | None:
        """The quantity in its unit, from the results of a run on ``description``."""
        found = self.pull(results)
        if found is None:
            return None
        clock = Fraction(description.nic.clock_mhz)
        if self.unit == "µs":
            return float(Fraction(str(found)) / clock)
        if self.unit == "s":
            return float(Fraction(str(found)) / clock / 10**6)
        return float(Fraction(str(found)) * clock) if self.unit == "MB/s" else float(found)


LARGE = 1 << 20
CHUNK = 8064
"""Bytes of a chunk of the SP-2's Active Messages: 36 packets of 224 bytes."""
BULK = {"kinds": ["store", "store_async"], "sizes": [*sizes(LARGE, 16), CHUNK],
        "stream_sizes": [CHUNK], "stream_bytes": 1 << 17}
PIPELINED = {"kinds": ["store_async"], "most": 256,
             "sizes": [64, 128, 192, 256, 320, 384, 512, 768, 1024, 4096, 16384, 65536, LARGE]}
LARGER = {"kinds": ["store_async"], "most": 1, "sizes": [2 * LARGE, 3 * LARGE, 4 * LARGE]}
STREAMS = {"kinds": ["store", "store_async"], "sizes": sizes(1 << 16, 8),
           "stream_sizes": sizes(1 << 14, 8)}
"""T(n), o_s(n) and g(n) as the study of network interfaces shows them: up to 64 KB and 16 KB."""
CUT = {"kinds": ["store_async"], "stream_sizes": [
    64, *(packets * 224 + beyond for packets in (1, 2, 3, 4) for beyond in (-64, 0, 4, 112)),
    *(packets * 224 for packets in (6, 9, 12, 18, 24, 36, 48, 60, 72))]}
"""Sizes around those of 1 to 4 packets of the SP-2, then of more, to two chunks."""
PROCESSOR = {**CUT, "sizes": CUT["stream_sizes"]}
OVER_SIZES = {"sizes": sizes(1 << 15)}
MPL_BULK = {"sizes": [1 << 14, 1 << 16]}
OVERHEAD = {"words": [1, 2, 3, 4], "waiting": [0, 1, 2, 4, 8, 12, 16, 18, 19, 20, 22]}

BEGINNING = {"issues": 128, "delays": ["0", "1", "3/2", "2"]}
"""Of the signature, the beginning at D = 0, more than any window holds, and each D beyond the round
trip: o_s, o_r and the round trip need no more."""

FIRST = {"issues": 24, "delays": ["0", "1"]}
"""Of the signature, its first issues: enough for o_s and the round trip."""
FEW = {"issues": 64, "delays": ["0", "1", "3/2", "2"]}
"""Of the signature, what o_r needs."""
STEADY = {"issues": 192, "delays": ["0", "1"]}
"""Of the signature, what g needs: at D = 0 more than two windows."""
WITHIN = {"issues": 64, "delays": ["0", "79/100", "1"]}
"""Of the signature, what the cost at D within the round trip needs."""


def _of(kind: type[T], get: Callable[[T], float | Fraction | None]) -> Pull:
    """Returns what ``get`` gives of results of class ``kind``."""
    return lambda results: get(read(kind, results))


def _trip(words: int) -> Pull:
    return _of(RttResults, lambda found: found.words[str(words)].rtt)


def _half(size: int) -> Pull:
    return _of(LatencyResults, lambda found: found.half["latency"][str(size)])


def _logp(get: Callable[[LogpResults], float | None]) -> Pull:
    return _of(LogpResults, get)


def _cost_within(found: LogpResults) -> float | None:
    """What an issue costs at the largest D within the round trip."""
    within = [one for one in found.cost_by_delay or () if one.delay < found.rtt]
    return max(within, key=lambda one: one.delay).cost if within else None


def _call(kind: str, words: int) -> Pull:
    """A request or a reply, by ``kind``."""
    return _of(OverheadResults, lambda found: (
        found.request if kind == "request" else found.reply)[str(words)])


def _half_size(found: PipelinedResults) -> Fraction | None:
    """n_1/2 of requests of a fixed total: the size at half of the rate of very large requests."""
    rates = {int(size): Fraction(str(rate))
             for size, rate in found.bandwidth["store_async"].items()}
    return bandwidth(list(rates), [size / rate for size, rate in rates.items()]).n_half


def _store(get: Callable[[BulkKind], float | None]) -> Pull:
    """Of blocking stores."""
    return _of(BulkResults, lambda found: None if found.store is None else get(found.store))


def _row(size: int, get: Callable[[BulkRow], float | Fraction | None]) -> Pull:
    """Of asynchronous stores of ``size`` bytes in a row."""
    def of_size(found: BulkResults) -> float | Fraction | None:
        if found.store_async is None:
            return None
        return get(next(row for row in found.store_async.by_size if row.size == size))
    return _of(BulkResults, of_size)


def _issue(size: int) -> Pull:
    """o_s(n) of ``size`` bytes: the time of a call that leaves all of them to the NIC."""
    return _row(size, lambda row: row.o_s)


def _gap(size: int) -> Pull:
    return _row(size, lambda row: row.g)


def _issued(size: int) -> Pull:
    """Bytes a cycle at which the CPU passes ``size`` bytes to the NIC."""
    return _row(size, lambda row: None if row.o_s is None
                else Fraction(size) / Fraction(str(row.o_s)))


def _round_trip(found: LatencyResults) -> float:
    """Twice the latency of the only size."""
    [half] = found.half["latency"].values()
    return 2 * half


def _pipelined(size: int) -> Pull:
    return _of(PipelinedResults, lambda found: found.bandwidth["store_async"][str(size)])


_ALL = [
    Quantity("o_s", "µs", "o_s", "logp", _logp(lambda found: found.o_s),
             lean={**BEGINNING, "delays": ["0", "1"]}, brief=FIRST),
    Quantity("o_r", "µs", "o_r", "logp", _logp(lambda found: found.o_r), lean=BEGINNING,
             brief=FEW),
    Quantity("o_s+o_r", "µs", "o_s + o_r", "logp", _logp(lambda found: found.o_s + found.o_r),
             lean=BEGINNING, brief=FEW),
    # The cost of an issue in steady state also where the host bounds it.
    Quantity("g", "µs", "g", "logp", _logp(lambda found: found.g), brief=STEADY),
    # 16 µs are 79/100 of the Paragon's round trip, which takes 20.1.
    Quantity("cost at D = 16 µs", "µs", "cost of an issue at D = 16 µs", "logp",
             _logp(_cost_within),
             {"delays": ["0", "1/8", "1/4", "1/2", "79/100", "1", "3/2", "2"]},
             brief=WITHIN),
    Quantity("L", "µs", "L", "logp", _logp(lambda found: found.L)),
    Quantity("rtt", "µs", "round trip", "logp", _logp(lambda found: found.rtt),
             lean={**BEGINNING, "delays": ["0", "1"]}, brief=FIRST),
    Quantity("rtt farthest", "µs", "round trip, farthest of 16 nodes", "rtt",
             _trip(1), {"words": [1], "peer": 15},
             fabric={"nodes": 16, "columns": 4}),
    *(Quantity(f"rtt_{words}", "µs", f"round trip, {4 * words} B", "rtt",
               _trip(words), lean={"words": [words]})
      for words in (1, 2, 3, 4)),
    Quantity("bare rtt", "µs", "bare round trip", "bare",
             _of(BareResults, lambda found: found.bare.rtt)),
    *(Quantity(f"am_{kind}_{words}", "µs", f"am_{kind}_{words}", "overhead",
               _call(kind, words), OVERHEAD, {"words": [words], "waiting": [0, 1]})
      for kind in ("request", "reply") for words in (1, 2, 3, 4)),
    Quantity("am_poll", "µs", "am_poll, empty", "overhead",
             _of(OverheadResults, lambda found: found.poll), OVERHEAD,
             {"words": [1], "waiting": [0, 1]}),
    Quantity("copy", "MB/s", "the CPU's copies", "memory",
             _of(MemoryResults, lambda found: found.copy["1"])),
    Quantity("r_inf", "MB/s", "r_inf of stores", "bulk", _store(lambda found: found.r_inf), BULK,
             {"kinds": ["store"], "sizes": [1 << 15, 1 << 17]}),
    Quantity("n_half", "B", "n_1/2 of blocking stores", "bulk",
             _store(lambda found: found.n_half), BULK),
    Quantity("o_s chunk", "µs", "sending a chunk", "bulk", _issue(CHUNK), BULK),
    Quantity("async 1 MB", "MB/s", "asynchronous store of 1 MB", "pipelined", _pipelined(LARGE),
             PIPELINED),
    *(Quantity(f"async {size >> 20} MB", "MB/s", f"asynchronous store of {size >> 20} MB",
               "pipelined", _pipelined(size), LARGER) for size in LARGER["sizes"]),
    Quantity("async n_half", "B", "n_1/2 of asynchronous stores", "pipelined",
             _of(PipelinedResults, _half_size), PIPELINED),
    Quantity("bulk r_inf", "MB/s", "r_inf of stores, to 64 KB", "bulk",
             _store(lambda found: found.r_inf), STREAMS),
    Quantity("bulk T0", "µs", "T0 of stores, to 64 KB", "bulk", _store(lambda found: found.T0),
             STREAMS),
    Quantity("bulk n_half", "B", "n_1/2 of stores, to 64 KB", "bulk",
             _store(lambda found: found.n_half), STREAMS),
    *(Quantity(f"bulk {name} {size}", "µs", f"{name} of stores of {size} B", "bulk", pull(size),
               STREAMS) for name, pull in (("o_s", _issue), ("g", _gap)) for size in (8, 2048)),
    *(Quantity(f"processor {size}", "MB/s", f"processor bandwidth, {size} B", "bulk",
               _issued(size), PROCESSOR) for size in (224, 228, CHUNK)),
    *(Quantity(f"latency {size}", "µs", f"latency of {size} B", "latency",
               _half(size), OVER_SIZES) for size in (4, 1024)),
    *(Quantity(f"MPL latency {size}", "µs", f"MPL latency of {size} B", "latency",
               _half(size), OVER_SIZES, layer="mpl") for size in (4, 1024)),
    Quantity("bandwidth 1024", "MB/s", "bandwidth of 1024 B", "bandwidth",
             _of(BandwidthResults, lambda found: found.bandwidth["1024"]), OVER_SIZES),
    Quantity("MPL bandwidth 1024", "MB/s", "MPL bandwidth of 1024 B", "bandwidth",
             _of(BandwidthResults, lambda found: found.bandwidth["1024"]), OVER_SIZES, layer="mpl"),
    Quantity("MPL rtt", "µs", "MPL round trip, 0 B", "latency",
             _of(LatencyResults, _round_trip), {"sizes": [0]}, layer="mpl"),
    Quantity("MPL r_inf", "MB/s", "MPL bandwidth", "bandwidth",
             _of(BandwidthResults, lambda found: found.r_inf), MPL_BULK, layer="mpl"),
    *(Quantity(f"mm {block}", "s", f"mm {block}", "mm", first,
               {"runs": [{"blocks": blocks, "block": block}]})
      for blocks, block in ((4, 128), (16, 16))),
    *(Quantity(f"{name}, {size} messages", "s", f"{name}, {size} messages", program, extrapolated,
               sort_runs(variant))
      for name, program in (("smpsort", "sample-sort"), ("rdxsort", "radix-sort"))
      for size, variant in (("small", "sm"), ("large", "lg"))),
]
QUANTITIES = {one.name: one for one in _ALL}


def quantity(name: str, where: str) -> Quantity:
    """The quantity called ``name``; ``where`` is what names it, for the error.

    Raises
    ------
    UserError
        There is none.
    """
    if name not in QUANTITIES:
        raise UserError(f"{where}: no quantity is called {name}"
                        f"{nearest(name, list(QUANTITIES))}")
    return QUANTITIES[name]
