"""Chooses the knobs that matter to a layer, and the values that each of them takes.

Knobs of kind structure need a simulator of their own; choices, such as ``nic.overflow``, have no
half. Both are left to ``nicbed sweep``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

from ...layouts.description import Description, Kind, Knob, knobs
from ...layouts.doors import LAYERS
from ..descriptions import load
from ..errors import UserError

__all__ = ["CHANGES", "FREE", "Change", "Refused", "changed", "matter"]

FREE = "free"
CHANGES = ("halved", "doubled", FREE)
"""What is done to a knob."""
_COMMON = ("nic", "link", "switch", "bus", "memory", "cpu")
_PROCESSOR = "processor"
_TIMES = ("cycles", "CPU cycles", "NIC processor cycles")
_RATES = ("bytes/cycle",)
_FACTOR = "path_scale"
_LIMITS = ("timeout", "watchdog")
"""Ends of names of times that are limits: nothing takes that long unless something is wrong."""


@dataclass(frozen=True)
class Change:
    """One knob at another value: ``how`` is one of :data:`CHANGES`."""

    knob: str
    how: str
    before: Any
    after: Any
    description: Description


@dataclass(frozen=True)
class Refused:
    """A change that the description refuses, with its line."""

    knob: str
    how: str
    line: str


def matter(description: Description, layer: str, patterns: Sequence[str] = ()) -> list[Knob]:
    """The knobs that are changed: numbers of kinds timing and cost, of the sections that ``layer``
    and the NIC design read, whose names match one of ``patterns``, such as ``cpu.*``.

    Raises
    ------
    UserError
        A pattern matches none.
    """
    sections = {*_COMMON, *LAYERS.get(layer).own_sections, description.design.name}
    if description.nic.processor != "none":
        sections.add(_PROCESSOR)
    found = [knob for knob in knobs(description) if knob.kind is not Kind.STRUCTURE
             and knob.name.split(".")[0] in sections
             and isinstance(knob.default, (int, float, Fraction))
             and not isinstance(knob.default, bool)]
    for pattern in patterns:
        if not any(fnmatchcase(knob.name, pattern) for knob in found):
            raise UserError(f"--knobs {pattern}: matches no number among the timing and cost knobs "
                            f"of layer {layer}; try {found[0].name} or '{_COMMON[-1]}.*'")
    return [knob for knob in found
            if not patterns or any(fnmatchcase(knob.name, one) for one in patterns)]


def changed(description: Description, layer: str, found: Sequence[Knob]
            ) -> Iterator[Change | Refused]:
    """Each of the knobs ``found`` halved, doubled and made free, as far as that is another value.
    Halves of whole numbers are rounded down; one that is free is called so."""
    for knob in found:
        before = _value(description, knob.name)
        values = {how: _after(knob, before, how) for how in CHANGES}
        if values["halved"] == values[FREE]:
            del values["halved"]
        for how, after in values.items():
            if after is None or after == before:
                continue
            try:
                made = load.for_layer(load.load(description, changes={knob.name: after}), layer)
            except UserError as error:
                yield Refused(knob.name, how, str(error).removeprefix("set: "))
            else:
                yield Change(knob.name, how, before, after, made)


def _value(description: Description, name: str) -> Any:
    section, key = name.split(".")
    return getattr(getattr(description, section), key)


def _after(knob: Knob, before: Any, how: str) -> Any:
    """The value of ``knob`` after the change; None where it has none: a limit, such as a window or
    a time-out, cannot be free, and a clock cannot either."""
    if how == "doubled":
        return before * 2
    if how == "halved":
        return before // 2 if isinstance(before, int) else before / 2
    low, high = knob.ends
    kind = type(knob.default)
    if knob.unit in _RATES:
        return kind(Fraction(high))
    if (knob.unit in _TIMES and not knob.name.endswith(_LIMITS)) or knob.name.endswith(_FACTOR):
        return kind(Fraction(low))
    return None
