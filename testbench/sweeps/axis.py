"""The values of one knob in a study: a list, a range with a step, or a range alone."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...layouts.description import knobs
from ..descriptions.load import check_name, parse_set
from ..errors import UserError

__all__ = ["MOST", "Axis", "axis"]

MOST = 100_000
"""Values of a knob, and points of a study."""


@dataclass(frozen=True)
class Axis:
    """A knob's values; or, if there are none, its least and its greatest value, ``log``
    logarithmically between them."""

    knob: str
    values: tuple[Any, ...] = ()
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(0)
    log: bool = False

    @property
    def numbers(self) -> list[Fraction] | None:
        """The values as numbers; None if one is none."""
        try:
            return [Fraction(str(value)) for value in self.values]
        except ValueError:
            return None

    def at(self, share: float) -> Any:
        """The value at ``share``, 0 to 1, of the way from the first to the last."""
        if self.values:
            return self.values[min(int(share * len(self.values)), len(self.values) - 1)]
        low, high = float(self.low), float(self.high)
        value = low * (high / low) ** share if self.log else low + share * (high - low)
        default = next(knob.default for knob in knobs() if knob.name == self.knob)
        if isinstance(default, int):
            # Each whole number has an equal share, the ends too.
            whole = round(value) if self.log else int(low + share * (high - low + 1))
            return min(whole, int(high))
        found = Fraction(value).limit_denominator(1000)
        return found if isinstance(default, Fraction) else float(found)


def axis(knob: str, given: Any) -> Axis:
    """``given`` is a list of values, or a text: ``256,1024`` (a list), ``4:64:*2`` (times two
    each), ``4:64:10`` (ten more each), ``4:64`` (all between, to choose from), ``4:64:*`` (chosen
    logarithmically).

    Raises
    ------
    UserError
        The knob does not exist, or it is none of these, or has no such values.
    """
    check_name(knob)
    if not isinstance(given, str):
        several = [*given] if isinstance(given, Iterable) else [given]
        if not several:
            raise UserError(f"{knob}: has no values")
        for one in several:
            if isinstance(one, Iterable) and not isinstance(one, str):
                raise UserError(f"{knob}: {one} is no value, which is a number, a text, true or "
                                "false; those to choose from are one list")
        return Axis(knob, tuple(several))
    said = f"--vary {knob}={given}"
    parts = given.split(":")
    if len(parts) == 1:
        texts = [text.strip() for text in given.split(",") if text.strip()]
        if not texts:
            raise UserError(f"{said}: has no values")
        return Axis(knob, tuple(_value(knob, text, said) for text in texts))
    try:
        low, high = Fraction(parts[0]), Fraction(parts[1])
        step = parts[2] if len(parts) == 3 else ""
        factor = step.startswith("*")
        by = Fraction(step.removeprefix("*")) if step.removeprefix("*") else None
    except (ValueError, ZeroDivisionError):
        low = high = Fraction(0)
        by, step, factor = None, "?", False
    if step == "?" or len(parts) > 3:
        raise UserError(f"{said}: must be values, such as 256,1024, or a range: 4:64:*2 (times 2 "
                        "each), 4:64:10 (10 more each), 4:64 (to choose from)")
    if low >= high or (factor and (low <= 0 or (by is not None and by <= 1))) or (
            by is not None and by <= 0):
        raise UserError(f"{said}: must go up: from the least to the greatest value, by a step "
                        f"above {1 if factor else 0}")
    if by is None:
        for end in (low, high):
            _value(knob, str(end), said)
        return Axis(knob, (), low, high, factor)
    found = [low]
    while (following := found[-1] * by if factor else found[-1] + by) <= high:
        found.append(following)
        if len(found) > MOST:
            raise UserError(f"{said}: has more than {MOST} values")
    return Axis(knob, tuple(_value(knob, str(value), said) for value in found))


def _value(knob: str, text: str, said: str) -> Any:
    default = next(one.default for one in knobs() if one.name == knob)
    if isinstance(default, float) and "/" in text:
        text = str(float(Fraction(text)))
    try:
        return parse_set(f"{knob}={text}")[1]
    except UserError as error:
        raise UserError(f"{said}: {str(error).partition(': ')[2]}") from None
