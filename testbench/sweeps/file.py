"""A study's file in TOML."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..descriptions.load import DEFAULT, acquaint, check_name
from ..errors import UserError, nearest
from .plan import Plan, planned

__all__ = ["BASE", "checked", "flat", "overrides", "read", "started", "toml"]

BASE: dict[str, type | tuple[type, ...]] = {"nic": str, "set": dict, "nodes": int, "layer": str,
                                            "limit": int}
"""What says from which description a study starts, and how it is measured."""
_KINDS: dict[str, type | tuple[type, ...]] = {
    **BASE, "bench": list, "method": str, "vary": dict, "points": (int, list), "seed": int,
    "constraints": list, "metrics": dict}
_NAMES = {str: "a text", int: "a whole number", list: "a list", dict: "a table"}


def read(path: Path, *, seed: int | None = None, **given: Any) -> Plan:
    """The study in file ``path``; what is ``given`` stands in place of what the file says.

    Raises
    ------
    UserError
        The file cannot be read, or is no study.
    """
    table = checked(path, _KINDS, "study", texts=("bench", "constraints", "metrics"))
    points = table.get("points")
    _check_each(path, "points", points, dict)
    method = table.get("method", "list" if isinstance(points, list) else "grid")
    try:
        return planned(flat(table.get("vary", {})), table.get("bench", []), method=method,
                       points=points if isinstance(points, int) else None,
                       given=[flat(one) for one in points] if isinstance(points, list) else [],
                       seed=table.get("seed", 1) if seed is None else seed,
                       constraints=table.get("constraints", []), metrics=table.get("metrics"),
                       title=path.stem, **started(table, given))
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def checked(path: Path, known: Mapping[str, type | tuple[type, ...]], what: str,
            texts: Sequence[str] = ()) -> dict[str, Any]:
    """Returns what file ``path`` says, if it is a ``what``: all of it ``known`` and of its kind,
    and what lists and tables of the names ``texts`` hold are texts.

    Raises
    ------
    UserError
        It cannot be read, or is none.
    """
    table = toml(path)
    for name, value in table.items():
        if name not in known:
            raise UserError(f"{path}: a {what} has no {name}{nearest(name, list(known))}")
        wanted = known[name]
        kinds = wanted if isinstance(wanted, tuple) else (wanted,)
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise UserError(f"{path}: {name} must be "
                            f"{' or '.join(_NAMES[kind] for kind in kinds)}")
    for name in texts:
        _check_each(path, name, table.get(name), str)
    return table


def started(table: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """From which description a study's file starts, and how it is measured; what is ``given``
    stands in place of what the file says."""
    base: dict[str, Any] = {name: table[name] for name in BASE if name != "set" and name in table}
    base |= {name: value for name, value in given.items() if value is not None}
    nic = base.get("nic", DEFAULT)
    return {**base, "overrides": (*overrides(table.get("set", {}), nic),
                                  *given.get("overrides", ()))}


def _check_each(path: Path, name: str, found: Any, kind: type) -> None:
    """Refuse a list, or a table, that holds something else than ``kind``."""
    for one in found.values() if isinstance(found, dict) else \
            found if isinstance(found, list) else ():
        if not isinstance(one, kind):
            raise UserError(f"{path}: each of {name} must be {_NAMES[kind]}, not {one}")


def toml(path: Path) -> dict[str, Any]:
    """Returns what file ``path`` says.

    Raises
    ------
    UserError
        It cannot be read, or is no TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: not TOML: {error}") from None


def overrides(table: Mapping[str, Any], nic: str) -> tuple[str, ...]:
    """The knobs of a table ``set`` as texts, ``"link.latency=12"``, of description ``nic``.

    Raises
    ------
    UserError
        A knob does not exist, or has no value.
    """
    texts = tuple(f"{knob}={_text(value)}" for knob, value in flat(table).items())
    if table:
        acquaint(nic, texts)
    for knob, value in flat(table).items():
        check_name(knob)
        if not isinstance(value, (str, int, float)):
            raise UserError(f"{knob}: {value} is no value, which is a number, a text, true or "
                            "false")
    return texts


def flat(table: Any) -> dict[str, Any]:
    """Knobs by dotted name, given as ``"link.latency"`` or in a table ``link``."""
    found = {}
    for name, value in table.items():
        found |= {f"{name}.{key}": one for key, one in value.items()} if isinstance(
            value, dict) else {name: value}
    return found


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
