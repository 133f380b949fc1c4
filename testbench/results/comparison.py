"""Benchmarks on several NIC descriptions: one column, or one line, for each description."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from .axes import points_table
from .document import config_hash_of, plain
from .tables import amount, checks, console, micro, table

__all__ = ["build", "difference_table", "drawing", "figures_table", "show"]


def build(layer: str, sim: str, names: Sequence[str], differences: Mapping[str, Any],
          documents: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The document of a comparison: the whole document of every run, by benchmark and name."""
    runs = [[bench, name, one["config_hash"]] for bench, by_name in documents.items()
            for name, one in by_name.items()]
    return {"benchmark": f"compare-{'-'.join(documents)}", "layer": layer, "sim": sim,
            "config_hash": config_hash_of(runs), "descriptions": list(names),
            "differences": plain(differences), "documents": documents}


def difference_table(document: Mapping[str, Any]) -> Any:
    """The knobs that differ, one column for each description; a sentence if there are none."""
    found = document["differences"]
    if not found:
        return "the descriptions do not differ in any knob"
    return table("Where the descriptions differ", ["knob", *document["descriptions"]],
                 [(knob, *(_value(value) for value in values)) for knob, values in found.items()])


def figures_table(document: Mapping[str, Any], name: str, module: Any) -> Any:
    """A benchmark's headline figures, one column for each description, each with its ratio to the
    first."""
    by_name = document["documents"][name]
    figures = {nic: module.headline(one) for nic, one in by_name.items()}
    clocks = {nic: one["clock_mhz"] for nic, one in by_name.items()}
    first, *others = by_name
    columns = ["", "unit", first]
    for nic in others:
        columns += [nic, "×"]
    rows = []
    every: dict[str, str] = {}
    for found in figures.values():
        for figure in found:
            every.setdefault(figure.name, figure.unit)
    for title, unit in every.items():
        values = {nic: next((figure.value for figure in found if figure.name == title), None)
                  for nic, found in figures.items()}
        rows.append((title, unit, *_cells(values, first, amount)))
        if unit == "cycles" and len(set(clocks.values())) > 1:
            times = {nic: None if value is None else value / clocks[nic]
                     for nic, value in values.items()}
            rows.append(("", "µs", *_cells(times, first, lambda time: micro(time, 1))))
    return table(f"{name}, {document['layer']} (× {first})", columns, rows, left=2)


def _cells(values: Mapping[str, float | None], first: str,
           text: Callable[[float | None], str]) -> list[str]:
    cells = [text(values[first])]
    for nic, value in values.items():
        if nic != first:
            base = values[first]
            # A ratio to a value that shows as 0, or of a negative value, has no meaning.
            ratio = "-"
            if value is not None and base is not None and value >= 0 and base >= 0.005:
                ratio = f"{value / base:.2f}"
            cells += [text(value), ratio]
    return cells


def _value(value: Any) -> str:
    if value is None:  # the description has no such knob
        return "-"
    return amount(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else (
        str(value))


def show(document: Mapping[str, Any], modules: Mapping[str, Any]) -> None:
    """Print the knobs that differ, the figures, and the checks that failed."""
    out = console(pipe=140)
    out.print(difference_table(document))
    if "axes" in document:
        out.print(points_table(document))
    for name, module in modules.items():
        if "axes" not in document:
            out.print(figures_table(document, name, module))
        for nic, one in document["documents"][name].items():
            for line in [*one["notes"], *(line for line in checks(one["checks"])
                                          if not line.startswith("checks: all"))]:
                out.print(f"{name} on {nic}: {line}")


def drawing(bench: Any, module: Any) -> Callable[[Mapping[str, Any], Any], None]:
    """The function that draws ``bench`` of a comparison: one line for each description if the
    benchmark has a series, else its headline figures as bars."""
    def draw(document: Mapping[str, Any], figure: Any) -> None:
        documents = document["documents"][bench.name]
        if hasattr(module, "series"):
            _lines(figure, bench.name, document["layer"],
                   {nic: module.series(one) for nic, one in documents.items()})
        else:
            _bars(figure, bench.name, document["layer"],
                  {nic: module.headline(one) for nic, one in documents.items()})
    return draw


def _lines(figure: Any, name: str, layer: str, found: Mapping[str, Any]) -> None:
    from .plots import line, octaves, plain_log

    axes = figure.add_subplot()
    for index, (nic, one) in enumerate(found.items()):
        axes.plot([x for x, _ in one.points], [y for _, y in one.points], label=nic,
                  **line(index, len(found)))
    some = next(iter(found.values()))
    across = [x for one in found.values() for x, _ in one.points]
    values = [y for one in found.values() for _, y in one.points]
    if some.sizes or max(across) >= 16 * max(1, min(across)):
        octaves(axes, min(across), max(across), some.x, sizes=some.sizes)
    else:
        axes.set_xticks(sorted(set(across)))
        axes.set_xlabel(some.x)
    if some.log and min(values) > 0:
        plain_log(axes, min(values) / 1.5, max(values) * 1.5)
    else:
        axes.set_ylim(bottom=min(0, *values))
    axes.set_ylabel(some.y)
    axes.legend(loc="best", handlelength=4)
    axes.set_title(f"{name}, {layer}: {len(found)} NIC descriptions")


def _bars(figure: Any, name: str, layer: str, found: Mapping[str, Any]) -> None:
    from .plots import PALETTE

    axes = figure.add_subplot()
    titles = [one.name for one in next(iter(found.values())) if one.unit == "cycles"]
    width = Fraction(8, 10 * len(found))
    for index, (nic, figures) in enumerate(found.items()):
        values = {one.name: one.value for one in figures}
        places = [place + float(width) * (index - (len(found) - 1) / 2)
                  for place in range(len(titles))]
        axes.bar(places, [values.get(title) or 0 for title in titles], width=float(width) * 0.94,
                 color=PALETTE[index % len(PALETTE)], label=nic)
    axes.set_xticks(range(len(titles)), titles)
    axes.grid(axis="x", visible=False)
    axes.set_ylabel("cycles")
    axes.legend(loc="best")
    axes.set_title(f"{name}, {layer}: {len(found)} NIC descriptions")
