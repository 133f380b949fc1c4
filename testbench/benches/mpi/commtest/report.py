"""Tables and plot."""

from collections.abc import Iterable, Mapping
from typing import Any

from ....results.tables import amount, micro, table
from ...common.bulk_report import size_text
from ...common.headline import Headline, Series
from .exchange import COLD, MODES
from .grid import BASE, PLACEMENTS, TWO, WITHIN, Cell, cells_of
from .protocols import SWAP, by_name
from .results import CommtestParameters, CommtestResults, Row

__all__ = ["draw", "headline", "series", "tables"]

KINDS = {"u": "unordered", "o": "ordered"}


def tables(document: Mapping[str, Any], results: CommtestResults, parameters: CommtestParameters
           ) -> list[Any]:
    """The protocols; the model in each cell with enough messages; the others beside the base;
    which protocol is fastest where; which are dominated."""
    points = document["points"]
    shown: list[Any] = [_protocols()]
    cells = list(cells_of(parameters.cells))
    shown += [_model(results, cell, document["clock_mhz"]) for cell, _ in cells
              if any(row.a is not None for row in _rows(results, cell).values())]
    shown += [_beside(points, [cell for cell, _ in cells])]
    shown += [_fastest(results, points, cells)]
    shown += _worse(results)
    shown += [f"{mode}: {text}." for mode, text in MODES.items()]
    shown.append("+: receives are posted one message ahead.")
    shown.append("No exchange warms up: the NIC's translation caches know what Init's messages and "
                 "the first messages need, and no page of the buffers before.")
    if parameters.cpus > 1:
        shown.append("Within a node: through its memory. Between nodes of two ranks: they share "
                     "their node's NIC.")
    if not parameters.whole:
        shown.append("This is a part of the grid; --full has the operations, placements, modes, "
                     "preposted variants and volumes in all combinations, 1 to 1024 messages.")
    return shown


def _rows(results: CommtestResults, cell: Cell) -> Mapping[str, Row]:
    found = results.cells[cell.name]
    return {one.name: found[one.name] for one in cell.protocols}


def _protocols() -> Any:
    rows = [(one.name, one.title) for one in BASE.protocols]
    return table("Protocols (r: the receive, s: the send; tell, hear: handshake)",
                 ["", "each message"], rows, left=2)


def _model(results: CommtestResults, cell: Cell, clock: float) -> Any:
    """T = a messages + b bytes."""
    rows = []
    for name, row in _rows(results, cell).items():
        errors = row.errors
        texts = [f"{100 * errors[which].most:.0f} / {100 * errors[which].mean:.0f} %"
                 if which in errors else "-" for which in ("all", "eager", "longer")]
        rows.append((name, amount(row.a, 1), amount(row.b, 3), micro(row.latency, clock),
                     amount(row.swap * clock, 1), amount(row.one_way * clock, 1), *texts))
    within = results.eager_within if cell.placement == WITHIN else None
    eager = size_text(results.eager if within is None else within)
    return table(f"{cell.name}: T = a · messages + b · bytes", [
        "", "a", "b", "latency µs", "swap MB/s", "one way", "error", "eager", "longer"], rows,
        caption="a: cycles a message, b: cycles a byte; error: most / mean, of all messages, of "
                f"those up to {eager}, which go eagerly, and of longer ones. one way: u busy, "
                "o idle")


def _beside(points: Mapping[str, Any], cells: Iterable[Cell]) -> Any:
    """Times of cells that differ from the base in one thing, over the base's."""
    base = points[BASE.name]
    columns: dict[str, Cell] = {}
    for cell in cells:
        if cell != BASE and cell.volume == BASE.volume:
            changed = [value for value, plain, field in zip(cell, BASE, Cell._fields, strict=True)
                       if value != plain and field != "preposted"]
            columns[", ".join([*map(str, changed), *["+"] * cell.preposted])] = cell
    common = sorted(set(base["u0"]).intersection(
        *(points[cell.name]["u2+" if cell.preposted else "u0"] for cell in columns.values())),
        key=int)
    count = common[-1]
    rows = []
    for one in BASE.protocols:
        row = [one.name, amount(base[one.name][count]["slowest"])]
        for cell in columns.values():
            found = points[cell.name].get(f"{one.name}+" if cell.preposted else one.name)
            row.append("-" if found is None else
                       f"{found[count]['slowest'] / base[one.name][count]['slowest']:.3f}")
        rows.append(row)
    return table(f"{count} messages of {size_text(BASE.bytes // int(count))}: {BASE.name} (cycles),"
                 " and the others over that", ["", "T", *columns], rows)


def _fastest(results: CommtestResults, every: Mapping[str, Any],
             cells: Iterable[tuple[Cell, list[int]]]) -> Any:
    """One row for each cell and number of messages."""
    rows = []
    for cell, counts in cells:
        points = every[cell.name]
        for count in counts:
            row = [cell.name, size_text(cell.bytes // count)]
            for kind in KINDS:
                ranking = results.fastest[cell.name][str(count)].get(kind)
                if ranking is None:
                    row += ["-", "", ""]
                    continue
                first, second = (points[name][str(count)]["slowest"] for name in ranking[:2])
                row += [ranking[0], amount(first, 0),
                        f"{ranking[1]} {100 * (second / first - 1):+.1f} %"]
            rows.append(row)
    return table("Which protocol is fastest where (cycles)",
                 ["cell", "message", "u", "T", "next", "o", "T", "next"], rows)


def _worse(results: CommtestResults) -> list[str]:
    found = results.dominated
    lines = []
    for kind, title in KINDS.items():
        texts = [f"{name} by {better}" for name, better in found.items() if name[0] == kind]
        lines.append(f"dominated, {title} (nowhere faster, somewhere slower): "
                     + (", ".join(texts) or "none"))
    return lines


def _by_size(document: Mapping[str, Any], parameters: CommtestParameters, name: str
             ) -> dict[int, float]:
    """Bytes a cycle of a swap over message size, from the cells of the base's kind; of several
    volumes the largest."""
    found = {}
    alike = [(cell, counts) for cell, counts in cells_of(parameters.cells)
             if cell._replace(volume=BASE.volume) == BASE]
    for cell, counts in sorted(alike, key=lambda one: one[0].volume):
        for count in counts:
            time = document["points"][cell.name][name][str(count)]["slowest"]
            found[cell.bytes // count] = 2 * cell.bytes / time
    return dict(sorted(found.items()))


def draw(document: Mapping[str, Any], parameters: CommtestParameters, figure: Any) -> None:
    """Swap bandwidth over message size, a panel for each kind of protocols."""
    from ....results.plots import line, octaves

    panels = figure.subplots(1, 2, sharey=True)
    most = 0.0
    for axes, (kind, title) in zip(panels, KINDS.items(), strict=True):
        chosen = [one for one in BASE.protocols if one.name.startswith(kind)]
        for index, one in enumerate(chosen):
            found = {size: rate * document["clock_mhz"]
                     for size, rate in _by_size(document, parameters, one.name).items()}
            most = max(most, *found.values())
            axes.plot(list(found), list(found.values()), label=f"{one.name} {one.title}",
                      **line(index, len(chosen)))
            octaves(axes, min(found), max(found), "bytes a message", sizes=True, most=7)
        axes.legend(loc="upper left", fontsize=6)
        axes.set_title(title)
    panels[0].set_ylim(0, most * 1.5)
    panels[0].set_ylabel("swap bandwidth (MB/s)")
    (first, second), size, *_ = PLACEMENTS[TWO]
    figure.suptitle(f"{SWAP} of ranks {first} and {second} of {size}, cache mode {COLD}")


def headline(document: Mapping[str, Any], results: CommtestResults, parameters: CommtestParameters
             ) -> list[Headline]:
    """Of the fastest protocol of each kind: latency, and swap bandwidth."""
    rows = results.cells[BASE.name]
    found = []
    for kind, title in KINDS.items():
        some = {name: row for name, row in rows.items() if name.startswith(kind)}
        latency = min((row.latency, name) for name, row in some.items()
                      if row.latency is not None)
        swap = max(rate for name in some
                   for rate in _by_size(document, parameters, name).values())
        found += [Headline(f"latency, {title}", latency[0]),
                  Headline(f"swap bandwidth, {title}", swap, "bytes/cycle")]
    return found


def series(document: Mapping[str, Any], parameters: CommtestParameters) -> Series:
    """Swap bandwidth of Irecv, Isend, Wait over message size."""
    points = _by_size(document, parameters, "u3")
    return Series("bytes a message", f"swap bandwidth, {by_name('u3').title} (bytes/cycle)",
                  list(points.items()), sizes=True)
