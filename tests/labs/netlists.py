"""Netlists of components, each converted once a process: the cases of a bench differ mostly in what
its program does, and conversion took a quarter of their time."""

from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

from amaranth.hdl import Signal
from nicbed.testbench.simulators.verilog import rtlil

__all__ = ["netlist"]

_CONVERTED: dict[Any, str] = {}


class _Unknown(Exception):
    """A component has a part whose equals cannot be told."""


def netlist(component: Any, change: Callable[[Any], Any] | None = None) -> str:
    """RTLIL, as module ``top``, of ``component``, or of what ``change`` makes of it; the one of an
    equal component, if there was one.

    Components are equal if their classes and attributes are: elaborate() sees no more of them. One
    with a part of another kind than those known here is converted in any case."""
    def converted() -> str:
        return rtlil(change(component) if change else component, "top")

    try:
        key = change, _told(component, {})
    except _Unknown:
        return converted()
    if key not in _CONVERTED:
        _CONVERTED[key] = converted()
    return _CONVERTED[key]


def _told(value: Any, seen: dict[int, tuple[int, Any]]) -> Any:
    """Something to hash that is equal for equal values. A part that was met before is told by its
    number in ``seen``, which holds it, so that its address is not another's meanwhile."""
    kind = type(value)
    if value is None or kind in (bool, int, float, str, bytes, range, Fraction) or isinstance(
            value, (type, Enum, Path)):
        return kind, value
    if id(value) in seen:
        return "met", seen[id(value)][0]
    seen[id(value)] = len(seen), value
    if kind is dict:
        return kind, tuple((_told(name, seen), _told(part, seen)) for name, part in value.items())
    if kind in (list, tuple):
        return kind, tuple(_told(part, seen) for part in value)
    if kind in (set, frozenset):
        return kind, frozenset(_told(part, {}) for part in value)
    if kind is FunctionType:
        held = [cell.cell_contents for cell in value.__closure__ or ()]
        return value.__code__, _told([value.__defaults__, value.__kwdefaults__, held], seen)
    if kind is MethodType:
        return kind, _told([value.__func__, value.__self__], seen)
    if kind is Signal:
        return kind, value.name, repr(value.shape()), value.init, value.reset_less, repr(
            value.attrs)
    if kind.__module__.partition(".")[0].startswith(("amaranth", "nicbed", "tests")):
        return kind, tuple((name, _told(part, seen)) for name, part in _attributes(value).items())
    raise _Unknown(kind)


def _attributes(value: Any) -> dict[str, Any]:
    """The attributes of an object, of its dictionary and its slots, but for the place in the
    sources where it was made and whether it was used."""
    found = dict(getattr(value, "__dict__", {}))
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name.startswith("__") and not name.endswith("__"):
                name = f"_{kind.__name__.lstrip('_')}{name}"
            if hasattr(value, name):
                found[name] = getattr(value, name)
    return {name: part for name, part in found.items()
            if "src_loc" not in name and "MustUse" not in name}
