"""A study's file in TOML."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import UserError, nearest
from .plan import Plan, planned

__all__ = ["overrides", "read", "toml"]

_KINDS: dict[str, type | tuple[type, ...]] = {
    "nic": str, "set": dict, "nodes": int, "layer": str, "bench": list, "method": str,
    "vary": dict, "points": (int, list), "seed": int, "constraints": list, "metrics": dict,
    "limit": int}
_NAMES = {str: "a text", int: "a whole number", list: "a list", dict: "a table"}


def read(path: Path, **given: Any) -> Plan:
    """The study in file ``path``; what is ``given`` stands in place of what the file says.

    Raises
    ------
    UserError
        The file cannot be read, or is no study.
    """
    table = toml(path)
    for name, value in table.items():
        if name not in _KINDS:
            raise UserError(f"{path}: a study has no {name}{nearest(name, list(_KINDS))}")
        if not isinstance(value, _KINDS[name]) or isinstance(value, bool):
            kinds = _KINDS[name] if isinstance(_KINDS[name], tuple) else (_KINDS[name],)
            raise UserError(f"{path}: {name} must be "
                            f"{' or '.join(_NAMES[kind] for kind in kinds)}")  # type: ignore
    points = table.get("points")
    for name, kind in (("bench", str), ("constraints", str), ("metrics", str), ("points", dict)):
        _check_each(path, name, table.get(name), kind)
    method = table.get("method", "list" if isinstance(points, list) else "grid")
    base: dict[str, Any] = {name: table[name] for name in ("nic", "nodes", "layer", "limit")
                            if name in table}
    base |= {name: value for name, value in given.items() if value is not None}
    base["overrides"] = (*overrides(table.get("set", {})), *given.get("overrides", ()))
    try:
        return planned(_flat(table.get("vary", {})), table.get("bench", []), method=method,
                       points=points if isinstance(points, int) else None,
                       given=[_flat(one) for one in points] if isinstance(points, list) else [],
                       seed=table.get("seed", 1), constraints=table.get("constraints", []),
                       metrics=table.get("metrics"), title=path.stem, **base)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def _check_each(path: Path, name: str, found: Any, kind: type) -> None:
    """Refuse a list, or a table, that holds something else than ``kind``."""
    for one in found.values() if isinstance(found, dict) else \
            found if isinstance(found, list) else ():
        if not isinstance(one, kind):
            raise UserError(f"{path}: each of {name} must be {_NAMES[kind]}, not {one}")


def toml(path: Path) -> dict[str, Any]:
    """What file ``path`` says.

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


def overrides(table: Mapping[str, Any]) -> tuple[str, ...]:
    """The knobs of a table ``set`` as texts, ``"link.latency=12"``."""
    return tuple(f"{knob}={_text(value)}" for knob, value in _flat(table).items())


def _flat(table: Any) -> dict[str, Any]:
    """Knobs by dotted name, given as ``"link.latency"`` or in a table ``link``."""
    found = {}
    for name, value in table.items():
        found |= {f"{name}.{key}": one for key, one in value.items()} if isinstance(
            value, dict) else {name: value}
    return found


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
