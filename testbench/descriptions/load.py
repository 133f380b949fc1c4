"""NIC descriptions: from a TOML file and ``--set`` overrides to a validated configuration.

Each error is one line that names the file, the key, the value and the rule.
"""

import copy
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...layouts.description import LONG_PACKET, Description, Draft, knobs, knobs_by_name
from ...layouts.description.errors import rule_of, short
from ..errors import UserError, nearest

__all__ = ["DEFAULT", "FIT", "check_name", "difference", "find", "fit_table", "for_layer", "load",
           "names", "parse_set"]

DEFAULT = "default"
FIT = "fit"
_PLUGS = tuple(f"{knob.name}=" for knob in knobs() if knob.at is not None)
"""Overrides that name objects, which bring knobs along."""
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
        draft, start = Draft(dict(nic), "description"), nic
    else:
        table = _read(nic)
        table.pop(FIT, None)
        draft, start = Draft(table, nic, find(nic).resolve().parent), Description()
    for text in sorted(overrides, key=lambda text: not text.startswith(_PLUGS)):
        draft.set(*parse_set(text), "--set")
    for name, value in (changes or {}).items():
        draft.set(name, value, "set")
    if nodes is not None:
        draft.set("fabric.nodes", nodes, "--nodes")
    return start.remade(draft)


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
        raise UserError(f"{nic}: {FIT} = {short(table)}: must be a table, [{FIT}]")
    return table


def for_layer(description: Description, layer: str, *, ours: bool = True) -> Description:
    """``description`` with via.design = 'auto' resolved: firmware or an engine if layer via runs,
    neither otherwise; and with what the layer needs. To be called before anything is built or
    written. ``ours``: programs of nicbed's own will run, each of whose messages must arrive once.

    Raises
    ------
    UserError
        The layer needs a NIC processor or a send ring, and the description has none; it sends
        nothing again, and the fabric loses packets, or brings them twice; it drives
        nodes with one NIC, and they have several; or the bus is not coherent, and it flushes no
        lines.
    """
    below = description.mpi.channel if layer == "mpi" else layer
    name = f"layer {layer}" if below == layer else f"layer {layer} over {below} (mpi.channel)"
    if below in ("gm", "fm") and description.nic.processor == "none":
        raise UserError(f"nic.processor = none: {name} is firmware of the NIC processor; "
                        "try --set nic.processor=picorv32")
    if ours and below == "fm":
        for fault in ("drop", "corrupt", "duplicate"):
            if probability := getattr(description.faults, fault):
                raise UserError(f"faults.{fault} = {probability}: {name} sends nothing again: what "
                                "the network loses is lost, and what it brings twice is handled "
                                "twice; a benchmark would never end. A program of your own, by "
                                "nicbed run, may count what arrives")
    if below in ("rpc", "tcp") and (description.nic.processor != "none"
                           or description.am.message_processor != "none"):
        raise UserError(f"{name} takes interrupts of the NIC's receive ring: nic.processor and "
                        "am.message_processor must be none")
    if not description.bus.coherent and (below not in ("am", "mpl")
                                         or description.am.firmware != "tb2"):
        raise UserError("bus.coherent = false: layers am and mpl flush lines over firmware tb2 "
                        "(am.firmware), and no other layer does")
    if below == "tcp" and description.node.nics > 1:
        raise UserError(f"node.nics = {description.node.nics}: {name} drives nodes with one NIC")
    if description.via.design == "auto":
        design = "kernel"
        if below == "via":
            design = "engine" if description.nic.processor == "none" else "firmware"
            if description.nic.mtu > LONG_PACKET:
                raise UserError(f"nic.mtu = {description.nic.mtu}: {name} on a VI engine takes at "
                                f"most {LONG_PACKET}; try --set via.design=kernel")
        description = description.with_({"via.design": design})
    if description.nic.send_ring == 0:
        if below in ("am", "mpl", "rpc", "tcp") and description.nic.processor == "none":
            raise UserError(f"nic.send_ring = 0: {name} needs a send ring, or a NIC processor "
                            "(nic.processor)")
        if below == "via" and description.via.design == "kernel":
            raise UserError("nic.send_ring = 0: via.design = 'kernel' needs a send ring")
    return description


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
