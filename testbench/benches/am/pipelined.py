"""A fixed total moved as requests of 64 B to 1 MB: asynchronous and pipelined, or blocking."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ....host.am.endpoint import buffer_of
from ....layouts.description import Description
from ....layouts.trace import TICKS
from ...estimate.compare import check
from ...results.document import cycles, number
from ...results.tables import amount, micro, table
from ..common.bulk_report import size_text
from ..common.headline import Headline, Series
from ..common.transfers import KINDS, measure_transfers, sizes

__all__ = ["draw", "evaluate", "headline", "measure", "parameters", "series", "tables"]


def parameters(description: Description) -> dict[str, Any]:
    """1 MB in requests of each power of four, in no more than 1,024 requests."""
    total = buffer_of(description)
    return {"total": total, "kinds": list(KINDS),
            "sizes": [size for size in sizes(total, 64) if size.bit_length() % 2],
            "most": 1024}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """One run for each kind and size."""
    steps = [(kind, size) for kind in parameters["kinds"] for size in parameters["sizes"]]
    found: dict[str, Any] = {kind: {} for kind in parameters["kinds"]}
    for index, (kind, size) in enumerate(steps):
        tell(f"{kind}, requests of {size} bytes", index, len(steps))
        count = min(max(parameters["total"] // size, 1), parameters["most"])
        run = await measure_transfers(lab, kind, size, count, trace=False)
        found[kind][size] = {"done": run["done"], "count": len(run["issued"])}
    return found


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """Bytes a cycle by kind and request size."""
    results = {kind: {str(size): number(Fraction(size * run["count"] * TICKS, run["done"]))
                      for size, run in one.items()} for kind, one in raw.items()}
    best = max(value for one in results.values() for value in one.values())
    limit = description.link.bytes_per_cycle
    return {"results": {"bandwidth": results, "unit": "bytes a cycle"}, "truth": {},
            "points": {kind: {str(size): {"requests": run["count"], "cycles": cycles(run["done"])}
                              for size, run in one.items()} for kind, one in raw.items()},
            "checks": [check("no more than the link carries", best <= limit,
                             f"{number(best)} of {number(limit)} bytes a cycle")]}


def tables(document: Mapping[str, Any]) -> list[Any]:
    """One row for each request size."""
    found, clock = document["results"]["bandwidth"], document["clock_mhz"]
    rows = []
    for size in next(iter(found.values())):
        row = [size_text(int(size))]
        for kind, one in found.items():
            row += [amount(one[size], 3), amount(one[size] * clock, 1),
                    micro(document["points"][kind][size]["cycles"], clock)]
        rows.append(row)
    columns = ["request"]
    for kind in found:
        columns += [kind, "MB/s", "µs"]
    parameters = document["parameters"]
    return [table(f"{size_text(parameters['total'])} in at most {parameters['most']} requests "
                  "(bytes a cycle, from the first call to the last answer)", columns, rows)]


def draw(document: Mapping[str, Any], figure: Any) -> None:
    """Bandwidth over request size."""
    from ...results.plots import PALETTE, octaves

    found, clock = document["results"]["bandwidth"], document["clock_mhz"]
    axes = figure.add_subplot()
    for colour, (kind, one) in zip(PALETTE, found.items(), strict=False):
        axes.plot([int(size) for size in one], [value * clock for value in one.values()],
                  color=colour, marker="o", label=kind + (", blocking" if kind == "store" else ""))
    sizes_ = [int(size) for size in next(iter(found.values()))]
    octaves(axes, min(sizes_), max(sizes_), "bytes a request", sizes=True)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("MB/s")
    axes.legend(loc="lower right")
    axes.set_title(f"{size_text(document['parameters']['total'])} in requests")


def headline(document: Mapping[str, Any]) -> list[Headline]:
    """The best bandwidth of each kind."""
    return [Headline(f"{kind}, best", max(one.values()), "bytes/cycle")
            for kind, one in document["results"]["bandwidth"].items()]


def series(document: Mapping[str, Any]) -> Series:
    """Bandwidth of asynchronous stores over request size."""
    found = document["results"]["bandwidth"]["store_async"]
    return Series("bytes a request", "store_async (bytes/cycle)",
                  [(int(size), value) for size, value in found.items()], sizes=True)
