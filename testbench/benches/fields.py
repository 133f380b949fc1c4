"""Fields of a benchmark's parameters and results, with units and meanings, and their plain form in
result files."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

__all__ = ["Outcome", "figure", "plain", "read", "setting"]


def setting(default: Any, meaning: str, *, unit: str = "", shown: bool = True) -> Any:
    """A field of ``Parameters``. ``shown``: it is in result files where it has its default, too."""
    about = {"meaning": meaning, "unit": unit, "shown": shown}
    if isinstance(default, list):
        return field(default_factory=lambda: list(default), metadata=about)
    return field(default=default, metadata=about)


def figure(unit: str, meaning: str, *, optional: bool = False, default: Any = None) -> Any:
    """A field of ``Results``: a number in ``unit``, or numbers by size, count or name. One in
    "cycles" is also given in microseconds. ``optional``: it is ``default``, None, by default, and
    then not in result files; so is one with another ``default``."""
    if optional or default is not None:
        return field(default=default, metadata={"unit": unit, "meaning": meaning, "shown": False})
    return field(metadata={"unit": unit, "meaning": meaning})


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of a benchmark.

    Attributes
    ----------
    results
        An object of its class ``Results``.
    truth
        The same from the event trace.
    points
        The measured points behind the results.
    checks
        Checks, as :func:`nicbed.testbench.estimate.compare.check` makes them.
    breakdown
        Mean lives of messages by stage, if single messages were traced.
    comparison
        Estimates beside the truth, rows as of :meth:`nicbed.testbench.estimate.compare.Row.plain`.
    """

    results: Any
    truth: Mapping[str, Any] = field(default_factory=dict)
    points: Any = field(default_factory=dict)
    checks: Sequence[Mapping[str, Any]] = ()
    breakdown: Mapping[str, Any] | None = None
    comparison: Sequence[Mapping[str, Any]] | None = None


def plain(value: Any) -> dict[str, Any]:
    """A dataclass as a mapping for a result file: without fields that are not shown where they have
    their default."""
    found = {}
    for one in dataclasses.fields(value):
        each = getattr(value, one.name)
        if not one.metadata.get("shown", True) and each == one.default:
            continue
        found[one.name] = _plain(each)
    return found


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(value)
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def read(kind: type, found: Mapping[str, Any]) -> Any:
    """The object of dataclass ``kind`` with the values that :func:`plain` wrote, and with mappings
    by number in the order of the numbers; what an older version did not write has its default, or
    is None where it may be.

    Raises
    ------
    KeyError
        A field is missing that has no default and may not be None.
    """
    given, hints = {}, get_type_hints(kind)
    for one in dataclasses.fields(kind):
        if one.name in found:
            given[one.name] = _nested(hints[one.name], found[one.name])
        elif one.default is MISSING and one.default_factory is MISSING:
            if type(None) not in get_args(hints[one.name]):
                raise KeyError(one.name)
            given[one.name] = None
    return kind(**given)


def _ordered(value: Mapping[str, Any]) -> Iterable[str]:
    """The keys in order, where all are numbers: files have them by letters."""
    try:
        return sorted(value, key=float)
    except ValueError:
        return value


def _nested(hint: Any, value: Any) -> Any:
    """``value`` with mappings read as the dataclasses that ``hint`` has in their places."""
    of = get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        return next((_nested(one, value) for one in of if one is not type(None)), value)
    if isinstance(value, Mapping):
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            return read(hint, value)
        return {key: _nested(of[1], value[key]) for key in _ordered(value)} if of[1:] else value
    return [_nested(of[0], each) for each in value] if isinstance(value, list) and of else value
