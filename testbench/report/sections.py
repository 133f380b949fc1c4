"""Makes the sections of a result file's page: configuration, figures, tables, the life of a
message, checks."""

import csv
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...layouts.doors import DoorError
from ..descriptions import load
from ..errors import UserError
from ..results import comparison, plots, tables
from ..results import document as files
from ..wording import counted
from .cells import Cells, cells, plain
from .figures import interactive
from .first_messages import first_messages

__all__ = ["Plot", "Section", "section"]


@dataclass(frozen=True)
class Plot:
    """A plot: a figure of plotly, or a picture of content that plotly cannot show."""

    title: str
    figure: dict[str, Any] | None = None
    svg: str = ""


@dataclass
class Section:
    """One result: its title, a line about it, and what it shows, in this order."""

    title: str
    about: str
    differences: Cells | str
    plots: list[Plot] = field(default_factory=list)
    tables: list[Cells | str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    held: int = 0
    """Checks that hold."""
    config: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


def section(path: Path) -> Section:
    """The section of a file: a result, a table of a sweep (CSV), or a time line.

    Raises
    ------
    UserError
        The file cannot be read, or is none of these.
    """
    if not path.is_file():
        raise UserError(f"{path}: there is no such file")
    if path.suffix == ".pftrace":
        return Section(path.stem, "the first messages of the time line's first run", "",
                       [Plot("First messages", first_messages(path))])
    if path.suffix == ".csv":
        return _sweep(path)
    document = files.read(path, other=", no sweep's table (.csv) and no time line (.pftrace)")
    name = document["benchmark"]
    found = Section(f"{name} over {document['layer']}",
                    f"{path.name} · {document['sim']} · configuration "
                    f"{document['config_hash'][:10]}", _differences(document),
                    notes=[plain(note) for note in document.get("notes", ())],
                    config=document.get("config", {}), versions=document.get("versions", {}))
    checks = document.get("checks", [])
    found.failed = [f"{one['check']}: {one['detail']}" for one in checks if not one["ok"]]
    found.held = len(checks) - len(found.failed)
    try:
        _fill(found, document)
    except DoorError as error:  # the results say no more than its name
        found.notes.append(f"drawn without its plots and tables: {error}")
        found.tables.append(_plainly(document))
    except LookupError as error:
        raise UserError(f"{path}: has no {error}, as a result of {name} has: it is damaged, or of "
                        "another version of nicbed") from None
    return found


def _differences(document: Mapping[str, Any]) -> Cells | str:
    """The knobs that are not the default NIC's."""
    if "differences" in document:
        found = comparison.difference_table(document)
        return found if isinstance(found, str) else cells(found)
    if "config" not in document:
        return ""
    default = load.load(load.DEFAULT).model_dump(mode="json")
    rows = [[f"{part}.{knob}", _short(default.get(part, {}).get(knob)), _short(value)]
            for part, knobs in document["config"].items() if isinstance(knobs, Mapping)
            for knob, value in knobs.items() if value != default.get(part, {}).get(knob)]
    if not rows:
        return "all knobs as in the default NIC"
    return Cells("Knobs that differ from the default NIC", ["knob", "default", "here"],
                 [False, True, True], rows)


def _short(value: Any) -> str:
    return "-" if value is None else value if isinstance(value, str) else json.dumps(value)


def _fill(found: Section, document: Mapping[str, Any]) -> None:
    from ..apps import APPS
    from ..benches import BENCHES

    name = document["benchmark"]
    if "documents" in document:
        _compare(found, document)
    elif name in BENCHES.names():
        module = BENCHES.get(name).module(document["layer"])
        if hasattr(module, "draw"):
            found.plots.append(_plot(name, module.draw, document))
        found.tables += _tables(module.tables(document))
        _life(found, document)
    elif name in APPS:
        report = APPS[name].report
        found.plots.append(_plot(name, report.draw, document))
        found.tables += _tables(report.tables(document))
    else:
        found.tables.append(_plainly(document))


def _plainly(document: Mapping[str, Any]) -> str:
    return json.dumps(document.get("results"), indent=1, ensure_ascii=False)


def _compare(found: Section, document: Mapping[str, Any]) -> None:
    from ..benches import BENCHES

    if "axes" in document:
        from ..results.axes import draw, points_table

        found.plots.append(_plot("points of the design", draw, document))
        found.tables.append(cells(points_table(document)))
    for name, by_nic in document["documents"].items():
        bench = BENCHES.get(name)
        module = bench.module(document["layer"])
        if "axes" not in document:
            found.plots.append(_plot(name, comparison.drawing(bench, module), document))
            found.tables.append(cells(comparison.figures_table(document, name, module)))
        for nic, one in by_nic.items():
            found.notes += [f"{name} on {nic}: {plain(note)}" for note in one["notes"]]
            failed = [check for check in one["checks"] if not check["ok"]]
            found.failed += [f"{name} on {nic}: {check['check']}: {check['detail']}"
                             for check in failed]
            found.held += len(one["checks"]) - len(failed)


def _plot(title: str, draw: Callable[..., None], document: Mapping[str, Any]) -> Plot:
    figure = interactive(plots.drawn(draw, document))
    if figure is not None:
        return Plot(title, figure)
    svg = plots.render(draw, document)[".svg"].decode()
    return Plot(title, svg=svg[svg.index("<svg"):])


def _tables(shown: list[Any]) -> list[Cells | str]:
    return [plain(one) if isinstance(one, str) else cells(one) for one in shown]


def _life(found: Section, document: Mapping[str, Any]) -> None:
    """The life of a message by stage: a bar for each kind of message, and the stages' table."""
    lives = document.get("breakdown") or {}
    if not lives:
        return
    stages = list(dict.fromkeys(stage["stage"] for life in lives.values() for stage in life))
    data = []
    for index, stage in enumerate(stages):
        here = {kind: one["cycles"] for kind, life in lives.items() for one in life
                if one["stage"] == stage}
        data.append({"type": "bar", "orientation": "h", "name": stage, "y": list(here),
                     "x": list(here.values()), "showlegend": True,
                     "hovertemplate": "%{y}<br>" + stage + ": %{x} cycles<extra></extra>",
                     "marker": {"color": plots.ramp(index, len(stages))}})
    layout = {"barmode": "relative", "height": 170 + 42 * len(lives),
              "margin": {"t": 24, "r": 24, "b": 56, "l": 170},
              "xaxis": {"title": {"text": "cycles"}, "zeroline": False},
              "yaxis": {"autorange": "reversed"}, "legend": {"orientation": "h", "y": -0.3}}
    found.plots.append(Plot("Mean life of a message by stage", {"data": data, "layout": layout}))
    for kind, life in lives.items():
        found.tables.append(cells(tables.stages(life, document["clock_mhz"],
                                                f"Mean life of {kind}")))


def _sweep(path: Path) -> Section:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            head, *rows = csv.reader(file)
    except (OSError, UnicodeDecodeError, ValueError, csv.Error):
        raise UserError(f"{path}: is no table: a sweep writes one as CSV") from None
    figures = [all(_is_figure(row[at]) for row in rows if at < len(row)) for at in range(len(head))]
    return Section(path.stem, f"{path.name} · {counted(len(rows), 'point')}", "",
                   tables=[Cells("Points", head, figures, rows)])


def _is_figure(text: str) -> bool:
    try:
        float(text or 0)
    except ValueError:
        return False
    return True
