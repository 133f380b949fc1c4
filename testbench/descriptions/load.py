"""NIC descriptions: from a TOML file and ``--set`` overrides to a validated configuration.

Each error is one line that names the file, the key, the value and the rule.
"""

import copy
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ...layouts.description import Description, Knob, knobs
from ...layouts.doors import LAYERS, NICS, Layer, NicDesign
from ...layouts.doors.lazy import resolved
from ..errors import UserError, nearest

__all__ = ["DEFAULT", "FIT", "check_name", "difference", "find", "fit_table", "for_layer", "load",
           "names", "parse_set"]

DEFAULT = "default"
FIT = "fit"
_FOLDER = Path(__file__).resolve().parents[2] / "nics"
_FOLDERS = (_FOLDER, _FOLDER / "machines")


def names() -> list[str]:
    """Names of the NIC descriptions that come with the package: NICs, then machines."""
    return [path.stem for folder in _FOLDERS for path in sorted(folder.glob("*.toml"))]


def find(nic: str) -> Path:
    """The file of a description, given as a path or as the name of one that comes with the package.

    Raises
    ------
    UserError
        The file does not exist.
    """
    path = Path(nic)
    if path.is_file():
        return path
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
    if isinstance(nic, Description):
        table, nic = nic.model_dump(), "description"
    else:
        table = _read(nic)
    table.pop(FIT, None)
    _check_keys(table, nic)
    origin: dict[str, str] = {}
    for text in overrides:
        name, value = parse_set(text)
        section, key = name.split(".")
        table.setdefault(section, {})[key] = value
        origin[name] = "--set"
    for name, value in (changes or {}).items():
        check_name(name)
        section, key = name.split(".")
        table.setdefault(section, {})[key] = _own(value)
        origin[name] = "set"
    if nodes is not None:
        table.setdefault("fabric", {})["nodes"] = nodes
        origin["fabric.nodes"] = "--nodes"
    try:
        return Description.model_validate(table)
    except ValidationError as error:
        raise UserError(_describe(error, nic, origin)) from None


def fit_table(nic: str) -> dict[str, Any]:
    """The table ``[fit]`` of a description, which says how to choose some of its knobs and is none
    of them; empty if there is none.

    Raises
    ------
    UserError
        The file cannot be read, or what it calls fit is no table.
    """
    table = _read(nic).get(FIT, {})
    if not isinstance(table, dict):
        raise UserError(f"{nic}: {FIT} = {_short(table)}: must be a table, [{FIT}]")
    return table


def for_layer(description: Description, layer: str, *, ours: bool = True) -> Description:
    """``description`` with what ``layer`` decides where knobs leave it open, and with
    via.design = 'auto' resolved: a VI engine is only there where layer via runs. To be called
    before anything is built or written. ``ours``: programs of nicbed's own will run, each of whose
    messages must arrive once.

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
    settled = found.settle(description)
    if settled.via.design == "auto":
        via = settled.via.model_copy(update={"design": "kernel"})
        settled = settled.model_copy(update={"via": via})
    broken = [*found.needs(settled, name),
              *(found.needs_of_exchange(settled, name) if ours else ())]
    if not description.bus.coherent and not (found.flushes and found.flushes(settled)):
        flushing = " and ".join(one for one in LAYERS.names() if LAYERS.get(one).flushes)
        broken.append(f"bus.coherent = false: layers {flushing} flush lines over firmware tb2 "
                      "(am.firmware), and no other layer does")
    for line in [*broken, *_misfit(settled, found, name)]:
        raise UserError(line)
    return settled


def _misfit(description: Description, layer: Layer, name: str) -> Iterator[str]:
    """A line if the NIC has no driver for ``layer``, with what would fit."""
    def kinds(design: NicDesign) -> set[str]:
        return {kind.__name__ for kind in design.kinds(description)}

    wanted, design = _kinds_of(layer), NICS.get(getattr(description.nic, "design", "rings"))
    if not wanted or kinds(design) & {*wanted}:
        return
    layers = [one.name for one in LAYERS.present() if {*_kinds_of(one)} & kinds(design)
              and not [*one.needs(description, one.name)]]
    designs = [one.name for one in NICS.present() if kinds(one) & {*wanted}]
    yield (f"{name} needs a NIC driver of kind {' or '.join(wanted)}, and NIC design "
           f"{design.name} (nic.design) has {', '.join(sorted(kinds(design))) or 'none'} under "
           f"this description; would fit: layers {', '.join(layers) or 'none'}; designs "
           f"{', '.join(designs) or 'none'}")


def _kinds_of(layer: Layer) -> list[str]:
    """Names of the kinds of driver on which ``layer`` can live, best first."""
    return [resolved(kind).__name__ for kind in layer.drivers]


def difference(descriptions: Sequence[Description]) -> dict[str, list[Any]]:
    """The knobs whose values differ between ``descriptions``, with each one's value."""
    tables = [one.model_dump(mode="json") for one in descriptions]
    found = {}
    for knob in knobs():
        section, key = knob.name.split(".")
        values = [table[section][key] for table in tables]
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
    known = [knob.name for knob in knobs()]
    if name not in known:
        raise UserError(f"{name}: no knob is called {name}{nearest(name, known)}")


def _own(value: Any) -> Any:
    """``value`` as a number of Python, if it is one of numpy."""
    return value.item() if type(value).__module__ == "numpy" else value


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
    known = {knob.name: knob for knob in knobs()}
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
        raise UserError(f"--set: {name} = {value!r}: {_rule(knob)}"
                        f"{_hint(knob, value)}") from None
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


def _check_keys(table: Mapping[str, Any], nic: str) -> None:
    known = {knob.name: knob for knob in knobs()}
    sections = list(dict.fromkeys(name.split(".")[0] for name in known))
    for section, content in table.items():
        if section not in sections:
            raise UserError(f"{nic}: {section} = {_short(content)}: no table is called "
                            f"{section}{nearest(section, sections)}")
        if not isinstance(content, dict):
            raise UserError(f"{nic}: {section} = {_short(content)}: must be a table, [{section}]")
        for key, value in content.items():
            if f"{section}.{key}" not in known:
                raise UserError(f"{nic}: {section}.{key} = {_short(value)}: no knob is called "
                                f"{section}.{key}{nearest(f'{section}.{key}', list(known))}")


def _describe(error: ValidationError, nic: str, origin: Mapping[str, str]) -> str:
    known = {knob.name: knob for knob in knobs()}
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    if name in known:
        return f"{origin.get(name, nic)}: {name} = {_short(first['input'])}: " \
               f"{_rule(known[name])}{_hint(known[name], first['input'])}"
    text = str(first["msg"]).removeprefix("Value error, ")
    return f"{origin.get(text.split(' ')[0], nic)}: {text}"


def _rule(knob: Knob) -> str:
    """The rule for values of ``knob``, with its unit."""
    if isinstance(knob.default, str):
        return "must be " + " or ".join(f"'{one}'" for one in knob.bounds.split("|"))
    if isinstance(knob.default, bool):
        return "must be true or false"
    low, high = knob.ends
    above = "above" if knob.bounds.startswith("> ") else "from"
    kind = {int: "a whole number", Fraction: "a number or a fraction such as '160/33'"}.get(
        type(knob.default), "a number")
    unit = f" of {knob.unit}" if knob.unit and knob.unit != "probability" else ""
    section, key = knob.name.split(".")
    info = Description.model_fields[section].annotation.model_fields[key]  # type: ignore[union-attr]
    rules = {type(rule).__name__: rule for rule in info.metadata}
    multiple = getattr(rules.get("MultipleOf"), "multiple_of", None)
    also = f", a multiple of {multiple}" if multiple else ""
    return f"must be {kind}{unit} {above} {low} to {high}{also}"


def _hint(knob: Knob, value: Any) -> str:
    """Why a text is not a number, if this is known."""
    if isinstance(knob.default, str) or not isinstance(value, str):
        return ""
    if knob.unit and re.fullmatch(r"[\d.,/_]+\s*[a-zA-Zµ%/]+", value):
        return f"; give {knob.unit}, as a number alone"
    if isinstance(knob.default, Fraction) and re.fullmatch(r"[+-]?\d+\s*/\s*0+", value):
        return "; what it is divided by must not be 0"
    return ""


def _short(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 40 else text[:37] + "..."
