"""Bounds of a number in a description's tables: ``{ low = 4, high = 12, step = 2 }``."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from ...layouts.description import Knob
from ..errors import UserError

__all__ = ["Bounds", "bounds", "number"]


class Bounds(NamedTuple):
    """A knob's values are ``low`` to ``high`` in steps of ``step``."""

    low: Fraction
    high: Fraction
    step: Fraction
    whole: bool
    """The knob takes whole numbers."""


def bounds(knob: Knob, row: Mapping[str, Any], where: str, steps: int) -> Bounds:
    """Those in ``row``, which has low and high. Without a step it is 1, or for a knob that is no
    whole number so that there are ``steps`` of them.

    Raises
    ------
    UserError
        They contradict each other, or are no numbers.
    """
    whole = isinstance(knob.default, int)
    low, high = (number(row[end], f"{where}: {end}") for end in ("low", "high"))
    step = (number(row["step"], f"{where}: step") if "step" in row
            else Fraction(1) if whole else (high - low) / steps)
    if low >= high:
        raise UserError(f"{where}: low = {low} must be less than high = {high}")
    if step <= 0 or step > high - low:
        raise UserError(f"{where}: step = {step} must be above 0, and no more than high - low = "
                        f"{high - low}")
    if whole and any(one.denominator != 1 for one in (low, high, step)):
        raise UserError(f"{where}: takes whole numbers: low, high and step must be whole")
    return Bounds(low, high, step, whole)


def number(value: Any, where: str) -> Fraction:
    """``value`` of a table, a number or a text such as "160/33".

    Raises
    ------
    UserError
        It is none.
    """
    try:
        if isinstance(value, bool):
            raise ValueError
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise UserError(f"{where} = {value!r}: must be a number or a fraction such as '160/33'"
                        ) from None
