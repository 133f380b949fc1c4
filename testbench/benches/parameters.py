"""Parameters of a benchmark in place of its usual ones, as texts of the command line too."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import UserError, nearest

__all__ = ["changed"]


def changed(name: str, usual: Mapping[str, Any], changes: Mapping[str, Any] | None
            ) -> dict[str, Any]:
    """The ``usual`` parameters of benchmark ``name`` with ``changes``, which may be texts as on the
    command line: numbers, and lists with commas.

    Raises
    ------
    UserError
        It has no such parameter, or a text is not of the usual one's type.
    """
    found = dict(usual)
    for one, value in (changes or {}).items():
        if one not in usual:
            raise UserError(f"{name} has no parameter {one}"
                            f"{nearest(one, list(usual)) if usual else '; it has none'}")
        found[one] = _value(f"--{one.replace('_', '-')}", usual[one], value) \
            if isinstance(value, str) else value
    return found


def _value(option: str, usual: Any, text: str) -> Any:
    if isinstance(usual, Sequence) and not isinstance(usual, str):
        first = usual[0] if usual else 0
        return [_value(option, first, part.strip()) for part in text.split(",")]
    kind = {bool: "true or false", int: "a whole number", float: "a number"}.get(type(usual))
    try:
        if isinstance(usual, bool):
            return {"true": True, "false": False}[text]
        if isinstance(usual, int):
            return int(text.replace("_", ""), 0)
        return float(text) if isinstance(usual, float) else text
    except (KeyError, ValueError):
        raise UserError(f"{option} {text}: must be {kind}") from None
