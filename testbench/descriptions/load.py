"""NIC descriptions: from a TOML file and ``--set`` overrides to a validated configuration.

Each error is one line that names the file, the key, the value and the rule.
"""

import copy
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...layouts.description import Description, Draft, knobs, knobs_by_name
from ...layouts.description.errors import rule_of, short
from ...layouts.doors import LAYERS, NICS, Layer, NicDesign
from ...layouts.doors.lazy import resolved
from ..errors import UserError, nearest

__all__ = ["DEFAULT", "FIT", "TYPICAL", "acquaint", "check_name", "difference", "find",
           "fit_table", "for_layer", "load", "names", "parse_set", "typical_table"]

DEFAULT = "default"
FIT = "fit"
TYPICAL = "typical"
_START = Description()
_PLUGS = frozenset(knob.name for knob in knobs(_START) if knob.at is not None)
"""Knobs that name objects, which bring knobs along."""
_FOLDER = Path(__file__).resolve().parents[2] / "nics"
_FOLDERS = (_FOLDER, _FOLDER / "machines")


def names() -> list[str]:
    """Names of the NIC descriptions that come with the package: NICs, then machines."""
    return [path.stem for folder in _FOLDERS for path in sorted(folder.glob("*.toml"))]


def find(nic: str) -> Path:
    """The file of a description, given as a path or as the name of one that comes with the package,
    or by a folder that has one of the folder's name: my_nic is ./my_nic/my_nic.toml.

    Raises
    ------
    UserError
        The file does not exist.
    """
    path = Path(nic)
    if path.is_file():
        return path
    inside = path / f"{path.resolve().name}.toml"
    if inside.is_file():
        return inside
    if path.suffix in ("", ".toml") and str(path.parent) in (".", "nics", "nics/machines"):
        for folder in _FOLDERS:
            own = folder / f"{path.stem}.toml"
            if own.is_file():
                return own
    raise UserError(f"{nic}: no such NIC description{nearest(nic, names())}")


def load(nic: str | Description = DEFAULT, overrides: Iterable[str] = (),
         nodes: int | None = None, *, changes: Mapping[str, Any] | None = None) -> Description:
    """The description in file ``nic``, or ``nic`` itself, with ``key=value`` overrides, then with
    ``changes``, values by knob, and with a number of nodes.

    Raises
    ------
    UserError
        The file, a key, a value or a combination of values is wrong.
    """
    draft, start = _draft(nic)
    for text in sorted(overrides, key=lambda text: not _plugs(text)):
        draft.set(*parse_set(text), "--set")
    for name, value in (changes or {}).items():
        draft.set(name, value, "set")
    if nodes is not None:
        draft.set("fabric.nodes", nodes, "--nodes")
    return start.remade(draft)


def _plugs(text: str) -> bool:
    """Whether an override names an object."""
    return text.partition("=")[0].strip() in _PLUGS


def _draft(nic: str | Description) -> tuple[Draft, Description]:
    """``nic`` to be changed, and the description whose place it takes."""
    if isinstance(nic, Description):
        return Draft(dict(nic), "description"), nic
    table = _read(nic)
    table.pop(FIT, None)
    table.pop(TYPICAL, None)
    return Draft(table, nic, find(nic).resolve().parent), _START


def acquaint(nic: str | Description, overrides: Iterable[str] = (), layer: str | None = None
             ) -> None:
    """Load what is from outside in ``nic``, ``overrides`` and ``layer``, so that the names of its
    knobs are known.

    Raises
    ------
    UserError
        Something is not there, or cannot be loaded.
    """
    draft, _ = _draft(nic)
    for text in overrides:
        if _plugs(text):
            draft.set(*parse_set(text), "--set")
    if layer is not None and LAYERS.is_path(layer):
        LAYERS.get(layer)


def fit_table(nic: str) -> dict[str, Any]:
    """The table ``[fit]`` of a description, which says how to choose some of its knobs and is none
    of them; empty if there is none.

    Raises
    ------
    UserError
        The file cannot be read, or what it calls fit is no table.
    """
    return _beside(nic, FIT)


def typical_table(nic: str) -> dict[str, Any]:
    """The table ``[typical]`` of a description, which gives knobs ranges and is none of them; empty
    if there is none.

    Raises
    ------
    UserError
        The file cannot be read, or what it calls typical is no table.
    """
    return _beside(nic, TYPICAL)


def _beside(nic: str, name: str) -> dict[str, Any]:
    """The table ``name`` of a description, beside its knobs."""
    table = _read(nic).get(name, {})
    if not isinstance(table, dict):
        raise UserError(f"{nic}: {name} = {short(table)}: must be a table, [{name}]")
    return table


def for_layer(description: Description, layer: str, *, ours: bool = True) -> Description:
    """``description`` with the sections of ``layer`` and of the one below, with what ``layer``
    decides where knobs leave it open, and with via.design = 'auto' resolved: a VI engine is only
    there where layer via runs. To be called before anything is built or written. ``ours``: programs
    of nicbed's own will run, each of whose messages must arrive once.

    Raises
    ------
    UserError
        The layer needs what the description has not: one line of its ``needs``; the bus is not
        coherent, and it flushes no lines; or the NIC has no driver for it.
    """
    found = LAYERS.get(layer)
    name = f"layer {layer}"
    if found.below is not None:
        found = LAYERS.get(found.below(description))
        name += f" over {found.name} ({LAYERS.get(layer).chosen_by})"
    settled = found.settle(description.of_layers([*found.sections, found.name, layer]))
    if settled.via.design == "auto":
        settled = settled.with_({"via.design": "kernel"})
    broken = [*found.needs(settled, name),
              *(found.needs_of_exchange(settled, name) if ours else ())]
    if not description.bus.coherent and not (found.flushes and found.flushes(settled)):
        flushing = " and ".join(one.name for _, one in LAYERS.working() if one.flushes)
        broken.append(f"bus.coherent = false: layers {flushing} flush lines over firmware tb2 "
                      "(am.firmware), and no other layer does")
    for line in [*broken, *_misfit(settled, found, name)]:
        raise UserError(line)
    return settled


def _misfit(description: Description, layer: Layer, name: str) -> Iterator[str]:
    """A line if the NIC has no driver for ``layer``, with what would fit."""
    def kinds(design: NicDesign) -> set[str]:
        return {kind.__name__ for kind in design.offered(description)}

    wanted, design = _kinds_of(layer), description.design
    if not wanted or kinds(design) & {*wanted}:
        return
    layers = [one.name for known, one in LAYERS.working() if {*_kinds_of(one)} & kinds(design)
              and not [*one.needs(description.of_layers([known]), one.name)]]
    designs = [one.name for _, one in NICS.working() if kinds(one) & {*wanted}]
    yield (f"{name} needs a NIC driver of kind {' or '.join(wanted)}, and NIC design "
           f"{design.name} (nic.design) has {', '.join(sorted(kinds(design))) or 'none'} under "
           f"this description; would fit: layers {', '.join(layers) or 'none'}; designs "
           f"{', '.join(designs) or 'none'}")


def _kinds_of(layer: Layer) -> list[str]:
    """Names of the kinds of driver on which ``layer`` can live, best first."""
    return [resolved(kind).__name__ for kind in layer.drivers]


def difference(descriptions: Sequence[Description]) -> dict[str, list[Any]]:
    """The knobs whose values differ between ``descriptions``, with each one's value; None in one
    that has no such knob."""
    tables = [one.model_dump(mode="json") for one in descriptions]
    found = {}
    for knob in knobs():
        section, key = knob.name.split(".")
        values = [table.get(section, {}).get(key) for table in tables]
        if any(value != values[0] for value in values):
            found[knob.name] = values
    return found


def check_name(name: str) -> None:
    """Refuse the name of a knob that does not exist.

    Raises
    ------
    UserError
        There is none.
    """
    known = knobs_by_name([name])
    if name not in known:
        raise UserError(f"{name}: no knob is called {name}{nearest(name, [*known])}")


def parse_set(text: str) -> tuple[str, Any]:
    """``"link.latency=12"`` as a knob's name and a value of its type (range not checked yet).

    Raises
    ------
    UserError
        The text is not KNOB=VALUE, the knob does not exist, or the value is not of its type.
    """
    name, equals, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not equals:
        raise UserError(f"--set {text}: must be KNOB=VALUE, such as link.latency=12")
    known = knobs_by_name([name])
    if name not in known:
        raise UserError(f"--set {text}: no knob is called {name}{nearest(name, list(known))}")
    knob = known[name]
    try:
        if isinstance(knob.default, bool):
            return name, {"true": True, "false": False}[value]
        if isinstance(knob.default, int):
            return name, int(value.replace("_", ""), 0)
        if isinstance(knob.default, float):
            return name, float(value)
        if isinstance(knob.default, Fraction):
            Fraction(value)
    except (KeyError, ValueError, ZeroDivisionError):
        raise UserError(f"--set: {name} = {value!r}: {rule_of(knob, value)}") from None
    return name, value


@lru_cache
def _parsed(text: str) -> dict[str, Any]:
    """A study reads one description for each of its points."""
    return tomllib.loads(text)


def _read(nic: str) -> dict[str, Any]:
    try:
        return copy.deepcopy(_parsed(find(nic).read_text(encoding="utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{nic}: not TOML: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{nic}: cannot be read: {error}") from None
