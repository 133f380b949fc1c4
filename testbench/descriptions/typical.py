"""The table ``[typical]`` of a description: values that nobody measured, with their ranges.

::

    [typical]
    as = "sp2-thin"              # what the table of that description varies, and fits, is as there
    "bus.pio_write" = { low = 4, high = 12, why = "2 to 6 cycles of the bus" }
    "link.bytes_per_cycle" = { low = "1/2", high = 1, step = "1/20", why = "…" }
    "am.bulk" = { values = ["pointer", "pinned"], why = "…" }

A range holds what documents of such machines allow. It is no knob, and changes no run but those of
``nicbed reproduce --intervals``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...layouts.description import Kind, Knob, knobs
from ..errors import UserError, nearest
from . import load
from .bounds import bounds

__all__ = ["STEPS", "Range", "Typical", "typical"]

STEPS = 100
"""Steps of the range of a knob that is no whole number, unless its ``step`` says otherwise."""
_MOST = 100_000


@dataclass(frozen=True)
class Range:
    """The values that a knob may have had, in order, and why these."""

    knob: str
    unit: str
    values: tuple[Any, ...]
    why: str

    def level(self, share: float) -> int:
        """The index of the value at ``share`` of the range, from 0 to 1, without 1."""
        return min(int(share * len(self.values)), len(self.values) - 1)

    @property
    def text(self) -> str:
        """The range as text: its ends, or all values that are no numbers."""
        if isinstance(self.values[0], (int, Fraction)) and not isinstance(self.values[0], bool):
            return f"{_short(self.values[0])} to {_short(self.values[-1])}"
        return ", ".join(str(one) for one in self.values)


@dataclass(frozen=True)
class Typical:
    """The ranges of a description; ``head``: the description whose ranges and fitted values it
    shares, or "" for none."""

    head: str
    ranges: tuple[Range, ...]


def typical(nic: str) -> Typical:
    """The table of description ``nic``; without ranges if it has none.

    Raises
    ------
    UserError
        The table is wrong, or a value of the description is outside its range.
    """
    table = dict(load.typical_table(nic))
    where = f"{nic}: [{load.TYPICAL}]"
    head = table.pop("as", "")
    if not isinstance(head, str):
        raise UserError(f"{where}: as = {head!r}: must be the name of a description")
    if head and table:
        raise UserError(f"{where}: has as = '{head}' and ranges: give them there")
    if head:
        load.find(head)
        return Typical(head, ())
    known = {knob.name: knob for knob in knobs()}
    description = load.load(nic)
    fitted = load.fit_table(nic).get("parameters", {})
    found = []
    for name, row in table.items():
        if name not in known:
            raise UserError(f"{where}: no knob is called {name}{nearest(name, list(known))}")
        if name in fitted:
            raise UserError(f"{where}: {name} is fitted, so it has no range here")
        one = _range(known[name], row, f"{where}: {name}")
        here = known[name].of(description)
        numbers = isinstance(one.values[0], (int, Fraction))
        if not one.values[0] <= here <= one.values[-1] if numbers else here not in one.values:
            raise UserError(f"{where}: {name} is {here}, which is outside its range, {one.text}")
        found.append(one)
    return Typical("", tuple(found))


def _range(knob: Knob, row: Any, where: str) -> Range:
    if knob.kind is Kind.STRUCTURE:
        raise UserError(f"{where}: is structure: each value needs a simulator of its own, so it "
                        "has no range")
    if not isinstance(row, Mapping) or not isinstance(row.get("why"), str) or not row["why"]:
        raise UserError(f"{where}: needs a range and its reason, {{ low = …, high = …, "
                        "why = '…' }")
    keys = set(row) - {"why"}
    if keys == {"values"}:
        values = row["values"]
        if not isinstance(values, list) or len(values) < 2:
            raise UserError(f"{where}: values = {values!r}: must be two or more")
        return Range(knob.name, knob.unit, tuple(values), row["why"])
    if not {"low", "high"} <= keys <= {"low", "high", "step"}:
        raise UserError(f"{where}: needs low and high, with a step or without, or values")
    if isinstance(knob.default, (str, bool)):
        raise UserError(f"{where}: is no number: give its values, values = […]")
    return Range(knob.name, knob.unit, _grid(knob, row, where), row["why"])


def _grid(knob: Knob, row: Mapping[str, Any], where: str) -> tuple[int | Fraction, ...]:
    low, high, step, whole = bounds(knob, row, where, STEPS)
    if (high - low) / step > _MOST:
        raise UserError(f"{where}: step = {step}: makes more than {_MOST:,} values")
    values = [low + index * step for index in range(int((high - low) / step) + 1)]
    return tuple(int(one) if whole else one for one in values)


def _short(value: int | Fraction) -> str:
    return f"{float(value):g}"
