"""Quantities of a study's own: a benchmark, and a field of its results; or a program, in a layout,
at sizes that run."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...layouts.description import Description
from ...layouts.description import knobs as every_knob
from ..apps import get as get_app
from ..apps.counting import COUNTS
from ..apps.layout import LAYER, layout_of
from ..benches import BENCHES, get
from ..defaults import LAYER as DEFAULT_LAYER
from ..errors import UserError, nearest
from .quantities import QUANTITIES, Quantity
from .sized import TIME, Sized

__all__ = ["own_quantities"]

UNITS = ("µs", "s", "MB/s", "B", "cycles", "")
_KEYS = {"bench", "field", "unit", "layer", "parameters", "knobs", "title"}
_APP_KEYS = {"app", "layout", "runs", "full", "field", "knobs", "title"}


def own_quantities(found: Any, where: str, folder: Path | None) -> dict[str, Quantity]:
    """The quantities of the table ``found``, by name. ``where`` says whose it is, for errors;
    ``folder``: that to which a benchmark's path is relative.

    Raises
    ------
    UserError
        A quantity is not declared as it must be.
    """
    if not isinstance(found, Mapping):
        raise UserError(f"{where}: must be a table of quantities")
    return {name: _quantity(name, row, f"{where}/{name}", folder) for name, row in found.items()}


def _quantity(name: str, row: Any, where: str, folder: Path | None) -> Quantity:
    if name in QUANTITIES:
        raise UserError(f"{where}: nicbed has a quantity of this name")
    if not isinstance(row, Mapping):
        raise UserError(f'{where}: must be a table, {{ bench = "logp", field = "o_s" }}')
    if "app" in row:
        return _program(name, row, where)
    for key in row:
        if key not in _KEYS:
            raise UserError(f"{where}: {key} is none of {', '.join(sorted(_KEYS))}"
                            f"{nearest(key, sorted(_KEYS))}")
    for key in _KEYS - {"parameters", "knobs"}:
        if not isinstance(row.get(key, "" if key in ("unit", "layer", "title") else None), str):
            raise UserError(f"{where}: {key}: must be a text")
    unit, layer = row.get("unit", ""), row.get("layer", DEFAULT_LAYER)
    if unit not in UNITS:
        raise UserError(f"{where}: unit = {unit!r}: must be one of "
                        f"{', '.join(filter(None, UNITS))}, or left out")
    try:
        bench = row["bench"] if BENCHES.is_builtin(row["bench"]) or not BENCHES.is_path(
            row["bench"]) else BENCHES.resolve(row["bench"], folder)
        module = get(bench).module(layer)
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
    parameters = row.get("parameters", {})
    if not isinstance(parameters, Mapping):
        raise UserError(f"{where}: parameters: must be a table")
    _among(parameters, [*module.parameters(Description())], f"{where}: {bench}", "parameter")
    knobs = row.get("knobs", {})
    if not isinstance(knobs, Mapping):
        raise UserError(f"{where}: knobs: must be a table")
    _among(knobs, [knob.name for knob in every_knob()], f"{where}: a description", "knob")
    path = row["field"].split(".")
    if fields := [one.name for one in dataclasses.fields(module.bench.Results)]:
        _among(path[:1], fields, f"{where}: {bench}", "field")
    return Quantity(name, unit, row.get("title", name), bench, _Field(tuple(path), where),
                    dict(parameters), layer=layer, knobs=dict(knobs))


def _program(name: str, row: Mapping[str, Any], where: str) -> Quantity:
    """A quantity of a program: run with each of ``runs`` parameters, and counted with those of
    ``full``."""
    _among(row, sorted(_APP_KEYS), f"{where}: a program's quantity", "key")
    for key in ("app", "layout", "field", "title"):
        if not isinstance(row.get(key, "" if key in ("field", "title") else None), str):
            raise UserError(f"{where}: {key}: must be a text")
    field = row.get("field", TIME)
    _among([field], [TIME, *COUNTS], f"{where}: a program", "field")
    try:
        app = get_app(row["app"])
        layout_of(row["layout"])
        app.over(LAYER, row["layout"])
        runs, full = row.get("runs", []), row.get("full")
        if not isinstance(runs, list) or not isinstance(full, Mapping):
            raise UserError("runs must be a list of tables, and full a table")
        for one in [*runs, full]:
            _among(one, [*app.options], app.name, "parameter")
            for key, value in one.items():
                app.options[key].check(key, value)
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
    if field == TIME and not runs:
        raise UserError(f"{where}: runs: must have one at least, for the time")
    knobs = row.get("knobs", {})
    if not isinstance(knobs, Mapping):
        raise UserError(f"{where}: knobs: must be a table")
    _among(knobs, [knob.name for knob in every_knob()], f"{where}: a description", "knob")
    unit = {TIME: "s", "local": "%"}.get(field, "messages")
    return Quantity(name, unit, row.get("title", name), app.name, Sized(app.name, field),
                    {"runs": runs, "full": dict(full)}, layer=LAYER, knobs=dict(knobs),
                    layout=row["layout"])


def _among(names: Iterable[str], there: Sequence[str], where: str, what: str) -> None:
    """Refuse names that are not ``there``."""
    for name in names:
        if name not in there:
            raise UserError(f"{where} has no {what} called {name}{nearest(name, [*there])}")


@dataclasses.dataclass(frozen=True)
class _Field:
    """Gives the number at ``path`` in a benchmark's results."""

    path: tuple[str, ...]
    where: str

    def __call__(self, results: Mapping[str, Any]) -> Any:
        found: Any = results
        for step in self.path:
            there = found if isinstance(found, Mapping) else {}
            if step not in there:
                raise UserError(f"{self.where}: field: the results have no {'.'.join(self.path)}"
                                f"{nearest(step, list(there))}")
            found = there[step]
        if found is not None and not isinstance(found, (int, float, str)):
            raise UserError(f"{self.where}: field: {'.'.join(self.path)} is no number")
        return found
