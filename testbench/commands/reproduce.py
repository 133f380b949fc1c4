"""``nicbed reproduce``: published tables, measured on the machines' descriptions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..machines import studies
from ..machines.page import NAME, cells, differences, image, markdown, predictions
from ..machines.reproduction import Measured, measured, rows_of, summary
from ..machines.studies import Study
from .measure import Plots, check_places
from .output import MODE, Mode, finish, progress_bar

__all__ = ["reproduced", "run_reproduce"]

Found = list[tuple[Study, list[Measured]]]


def run_reproduce(wanted: str | None, everything: bool, *, out: Path, long: bool = False) -> None:
    """Measure the tables of ``wanted``, or ``everything``, with those that take ``long``; print,
    draw and store them."""
    if everything and wanted is not None:
        raise UserError(f"reproduce {wanted} --all: give one of them")
    if wanted is None and not everything:
        if MODE.get() is not Mode.NORMAL:
            raise UserError("reproduce needs a study, such as assessment, or --all")
        _list()
        return
    tables = studies.chosen(wanted, long=long)
    check_places(out)
    plots = Plots()
    found = reproduced(tables)

    from ..machines import plots as drawings
    from ..results import document as files

    stem = "reproduce-" + ("all" if everything else _named(wanted or "", tables))
    for _, several in found:
        for one in several:
            for name in one.table.plots:
                if one.outcomes:
                    plots.save(lambda document, figure, one=one, name=name:
                               drawings.DRAWINGS[name](one, figure), {},
                               out / f"{image(one, name)}.json")
    rows = [row for _, several in found for row in rows_of(several)]
    if any(row.error is not None and row.figure.use == "test" for row in rows):
        plots.save(lambda document, figure: drawings.errors(rows, figure), {},
                   out / f"{stem}-errors.json")
        plots.save(lambda document, figure: drawings.against(found, figure), {},
                   out / f"{stem}-published.json")
    text = files.text(_document(found))
    path = out / f"{stem}.json"
    files.save(path, text.encode())
    if everything:
        files.save(out / NAME, markdown(found).encode())
    finish(text, lambda: _show(found), path)


def reproduced(tables: Sequence[tuple[Study, Sequence[studies.Table]]]) -> Found:
    """Measure ``tables``, with progress by table."""
    found: Found = []
    for study, several in tables:
        done = []
        for table in several:
            with progress_bar(table.path) as tell:
                done.append(measured(table, tell))
        found.append((study, done))
    return found


def _named(wanted: str, tables: Sequence[tuple[Study, Sequence[studies.Table]]]) -> str:
    """The part of files' names that says which study they are of, without its folder."""
    [(study, several)] = tables
    table = wanted.rpartition("/")[2]
    return f"{study.name}-{table}" if [one.name for one in several] == [table] else study.name


def _document(found: Found) -> dict[str, Any]:
    from ..results.document import plain, versions

    summaries = {}
    for study, tables in found:
        whole = summary(study, rows_of(tables))
        summaries[study.name] = None if whole is None else {
            "count": whole.count, "median": whole.median, "worst": whole.worst, "name": whole.name}
    return plain({"reproduce": {one.table.path: one.plain() for _, tables in found
                                for one in tables},
                  "summary": summaries, "versions": versions("verilator")})


def _list() -> None:
    from ..results.tables import console, table

    rows = [(one.path, one.title, ", ".join(one.machines))
            for name in studies.names() for one in studies.study(name).tables]
    console().print(table("Published tables", ["STUDY/TABLE", "shows", "machines"], rows, left=3))


def _show(found: Found) -> None:
    from ..results.tables import console, table

    out = console()
    for study, tables in found:
        for one in tables:
            rows = [cells(row) for row in one.rows if not row.figure.needs]
            if rows:
                out.print(table(f"{one.table.path}: {one.table.title}",
                                ["machine", "figure", "unit", "published", "ours", "error", "use"],
                                rows, left=3))
            missing: dict[tuple[str, str], list[str]] = {}
            for row in one.rows:
                if row.figure.needs:
                    missing.setdefault((row.figure.machine, row.figure.needs), []).append(
                        row.figure.title)
            for (machine, needs), names in missing.items():
                out.print(f"{one.table.path}: {machine}: {', '.join(names)}: not yet: needs "
                          f"{needs}", markup=False, soft_wrap=True)
            if one.differences:
                out.print(table("Differences", ["figure", "unit", "published", "ours"],
                                differences(one), left=2))
            if one.predictions:
                out.print(table(f"{one.table.path}: {one.table.title}: predictions",
                                ["machine", "figure", "unit", "ours"], predictions(one), left=3))
            for time in one.time:
                out.print(table(f"{one.table.path}: {time.title}", ["part", *time.machines],
                                list(time.cells())))
            for finding in one.findings:
                out.print(f"{one.table.path}: {finding}", markup=False, soft_wrap=True)
        whole = summary(study, rows_of(tables))
        said = "no test figure can be measured yet" if whole is None else (
            f"{whole.count} test figures: median error {whole.median:.1%}, worst "
            f"{whole.worst:.1%} ({whole.name})")
        out.print(f"{study.name}: {said}", markup=False, soft_wrap=True)
