"""``nicbed list``: benchmarks, programs, objects at the doors, descriptions and knobs."""

import tomllib

from ...layouts.description import Kind, knobs
from ...layouts.doors.finding import BUILT_IN
from ..apps import APPS
from ..benches import BENCHES
from ..descriptions import load
from ..results.tables import console, table
from ..wording import counted
from .plugged import doors, load_all, plugged

__all__ = ["show"]

_CHANGE = {Kind.STRUCTURE: "rebuilds", Kind.TIMING: "no", Kind.COST: "no"}

ROOM = 108
"""Least width, in columns, for the last column of the knobs' table."""


def _headline(name: str) -> str:
    path = load.find(name)
    lines = path.read_text(encoding="utf-8").splitlines()
    text = []
    for line in lines:
        if not line.startswith("#") or not line.strip("# "):
            break
        text.append(line.strip("# "))
    sentence = " ".join(text).split(". ")[0].rstrip(".:")
    tables = tomllib.loads("\n".join(lines))
    changed = sum(len(content) for section, content in tables.items()
                  if section not in (load.FIT, load.TYPICAL))
    return f"{sentence} ({counted(changed, 'knob')})"


_TITLES = {"designs": "NIC designs (nic.design)", "layers": "Layers",
           "cores": "Cores (nic.processor)", "topologies": "Topologies (fabric.topology)",
           "studies": "Studies (nicbed reproduce)", "boards": "Boards (nicbed synth --board)"}


def show(nic: str | None = None) -> None:
    """Print the lists, with the knobs of what description ``nic`` names.

    Raises
    ------
    UserError
        The description is wrong.
    """
    load_all(nic)
    out = console(pipe=132)
    benches = plugged(BENCHES)
    out.print(table("Benchmarks", ["name", "layers", "nodes", "measures"],
                    [(name, ", ".join(bench.layers), str(bench.nodes), title) if bench else
                     (name, "", "", title) for name, _, title, bench in benches], left=4))
    if outside := [one for one in benches if one.origin != BUILT_IN]:
        out.print(table("Benchmarks from outside", ["name", "from"],
                        [one[:2] for one in outside], left=2))
    out.print(table("Programs (nicbed app)", ["name", "layer", "parameters", "does"],
                    [(app.name, app.layer, ", ".join(app.options), app.title)
                     for app in APPS.values()], left=4))
    for kind, door in doors().items():
        if rows := [one[:3] for one in plugged(door)]:
            out.print(table(_TITLES[kind], ["name", "from", "is"], rows, left=3))
    out.print(table("NIC descriptions", ["name", "is"],
                    [(name, _headline(name)) for name in load.names()], left=2))
    rows = []
    for knob in knobs():
        rows.append((knob.name, str(knob.default), knob.bounds.replace("|", " or "), knob.unit,
                     _CHANGE[knob.kind], knob.doc))
    made = table("Knobs (a change rebuilds the simulator where it says so)",
                 ["name", "default", "range", "unit", "rebuild?", "is"], rows, left=6)
    made.columns[2].no_wrap = False  # only long choices wrap
    made.columns[2].min_width = 17
    if out.width < ROOM:
        made.columns.pop()
        made.caption = f"(a terminal of {ROOM} columns shows their meaning)"
    made.columns[1].justify = made.columns[2].justify = "right"
    out.print(made)
