"""Exact rates: bytes a cycle (or a ratio) as a fraction, and its fixed-point register."""

from fractions import Fraction
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer

__all__ = ["FRACTION_BITS", "Rate", "fixed_point"]

FRACTION_BITS = 16
"""Fraction bits of a rate register."""


def _parse(value: Any) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Fraction)):
        raise ValueError("must be a number or a fraction such as '160/33'")
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise ValueError("must be a number or a fraction such as '160/33'") from None


def _serialise(value: Fraction) -> int | str:
    return value.numerator if value.denominator == 1 else str(value)


Rate = Annotated[Fraction, BeforeValidator(_parse), PlainSerializer(_serialise)]
"""A non-negative exact fraction; written in TOML as a number or as "160/33"."""


def fixed_point(value: Fraction, fraction_bits: int = FRACTION_BITS) -> int:
    """``value`` in fixed point with ``fraction_bits`` fraction bits, rounded to nearest."""
    return round(value * (1 << fraction_bits))
