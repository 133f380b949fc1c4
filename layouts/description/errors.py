"""One line for a knob whose value is wrong: the knob, the value and the rule."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from pydantic import ValidationError

from ..errors import UserError, nearest
from .listed import Knob

__all__ = ["KnobError", "described", "refusal", "rule_of", "short"]


class KnobError(UserError, ValueError):
    """A knob does not exist, or a value or a combination of values is wrong."""


def described(error: ValidationError, known: Mapping[str, Knob], origin: Mapping[str, str],
              otherwise: str = "") -> str:
    """One line of the first mistake. It begins with where the knob was set: ``origin``, by name,
    else ``otherwise``."""
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    text = str(first["msg"]).removeprefix("Value error, ")
    knob = known.get(name)
    if first["type"] == "extra_forbidden":
        return f"{name}: no knob is called {name}{nearest(name, [*known])}"
    if knob is None:
        if first["type"] != "value_error":
            text = f"{name}: {text}"
        name = text.split(" ")[0]
    elif knob.at is not None and first["type"] == "value_error":
        text = refusal(name, first["input"], text)
    else:
        text = f"{name} = {short(first['input'])}: {rule_of(knob, first['input'])}"
    place = origin.get(name, otherwise)
    return f"{place}: {text}" if place else text


def refusal(name: str, value: Any, text: str) -> str:
    """A line of an object at a door that knob ``name`` does not find."""
    return f"{name} = {short(value)}: {text.removeprefix(f'{value}: ')}"


def rule_of(knob: Knob, value: Any) -> str:
    """The rule for values of ``knob``, with its unit, and why ``value`` is no number, if this is
    known."""
    return f"{_rule(knob)}{_hint(knob, value)}"


def _rule(knob: Knob) -> str:
    if isinstance(knob.default, str):
        return "must be " + " or ".join(f"'{one}'" for one in knob.choices)
    if isinstance(knob.default, bool):
        return "must be true or false"
    low, high = knob.ends
    above = "above" if knob.bounds.startswith("> ") else "from"
    kind = {int: "a whole number", Fraction: "a number or a fraction such as '160/33'"}.get(
        type(knob.default), "a number")
    unit = f" of {knob.unit}" if knob.unit and knob.unit != "probability" else ""
    also = f", a multiple of {knob.multiple}" if knob.multiple else ""
    return f"must be {kind}{unit} {above} {low} to {high}{also}"


def _hint(knob: Knob, value: Any) -> str:
    if isinstance(knob.default, str) or not isinstance(value, str):
        return ""
    if knob.unit and re.fullmatch(r"[\d.,/_]+\s*[a-zA-Zµ%/]+", value):
        return f"; give {knob.unit}, as a number alone"
    if isinstance(knob.default, Fraction) and re.fullmatch(r"[+-]?\d+\s*/\s*0+", value):
        return "; what it is divided by must not be 0"
    return ""


def short(value: Any) -> str:
    """``value`` as a message shows it."""
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 40 else text[:37] + "..."
