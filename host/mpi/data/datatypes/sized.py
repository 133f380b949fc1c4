"""The datatypes that MPI defines, by kind and size, or by Fortran's precision and range."""

from functools import cache

from ...errors import ErrorClass, MpiError
from .datatype import Datatype
from .predefined import (
    COMPLEX,
    DOUBLE,
    FLOAT,
    FLOAT_COMPLEX,
    INT,
    INT8,
    INT16,
    LONG,
    LONG_DOUBLE,
    LONG_DOUBLE_COMPLEX,
)

__all__ = ["f90_complex", "f90_integer", "f90_real", "match_size"]

UNDEFINED = -32766
"""A precision or range that the program does not want."""
CLASSES = {1: ("INTEGER", (1, 2, 4, 8)), 2: ("REAL", (4, 8, 16)), 3: ("COMPLEX", (8, 16, 32))}
"""Names and sizes, by MPI's numbers of the classes."""


def match_size(typeclass: int, size: int) -> str:
    """The name of the predefined type of ``typeclass`` with ``size`` bytes.

    Raises
    ------
    MpiError
        There is none.
    """
    name, sizes = CLASSES.get(typeclass, ("", ()))
    if size not in sizes:
        raise MpiError(ErrorClass.ERR_ARG, f"there is no type of class {typeclass} with {size} "
                       "bytes")
    return f"{name}{size}"


@cache
def f90_integer(digits: int) -> Datatype:
    """Integers of so many decimal digits: the same type whenever it is asked for."""
    for most, like in ((2, INT8), (4, INT16), (9, INT), (18, LONG)):
        if digits <= most:
            return like.again().made("F90_INTEGER", types=(), r=digits)
    raise MpiError(ErrorClass.ERR_ARG, f"there are no integers of {digits} digits")


@cache
def f90_real(precision: int, range_: int) -> Datatype:
    """Numbers of so many decimal digits and such an exponent range."""
    return _precise(precision, range_, FLOAT, DOUBLE, LONG_DOUBLE).made(
        "F90_REAL", types=(), p=precision, r=range_)


@cache
def f90_complex(precision: int, range_: int) -> Datatype:
    """Complex numbers of so many decimal digits and such an exponent range."""
    return _precise(precision, range_, FLOAT_COMPLEX, COMPLEX, LONG_DOUBLE_COMPLEX).made(
        "F90_COMPLEX", types=(), p=precision, r=range_)


def _precise(precision: int, range_: int, *types: Datatype) -> Datatype:
    if precision == range_ == UNDEFINED:
        raise MpiError(ErrorClass.ERR_ARG, "neither a precision nor a range")
    for digits, exponent, like in zip((6, 15, 18), (37, 307, 4931), types, strict=True):
        if precision <= digits and range_ <= exponent:
            return like.again()
    raise MpiError(ErrorClass.ERR_ARG, f"there are no numbers of {precision} digits and range "
                   f"{range_}")
