"""Operations of Reduce and its relatives."""

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["BAND", "BOR", "BXOR", "LAND", "LOR", "LXOR", "MAX", "MAXLOC", "MIN", "MINLOC", "NO_OP",
           "Op", "PROD", "REPLACE", "SUM"]


class Op:
    """An operation on two arrays, element by element: ``function(lower rank's, higher rank's)``.

    ``commutes``: whether the order of the operands may change."""

    __slots__ = ("name", "function", "commutes")

    def __init__(self, name: str, function: Callable[[Any, Any], Any],
                 commutes: bool = True) -> None:
        self.name = name
        self.function = function
        self.commutes = commutes

    @classmethod
    def Create(cls, function: Callable[[Any, Any], Any], commute: bool = False) -> "Op":
        """An operation of the program's own."""
        return cls(getattr(function, "__name__", "function"), function, commute)

    def __repr__(self) -> str:
        return f"Op({self.name})"


def _located(better: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Of pairs (value, index): the better value, of equal ones the lower index."""
    def choose(lower: Any, higher: Any) -> Any:
        (value, index), (other, place) = ([one[name] for name in one.dtype.names]
                                          for one in (lower, higher))
        takes = better(value, other) | (value == other) & (index <= place)
        return np.where(takes, lower, higher)
    return choose


SUM = Op("SUM", np.add)
PROD = Op("PROD", np.multiply)
MIN = Op("MIN", np.minimum)
MAX = Op("MAX", np.maximum)
LAND = Op("LAND", np.logical_and)
LOR = Op("LOR", np.logical_or)
BAND = Op("BAND", np.bitwise_and)
LXOR = Op("LXOR", np.logical_xor)
BOR = Op("BOR", np.bitwise_or)
BXOR = Op("BXOR", np.bitwise_xor)
MAXLOC = Op("MAXLOC", _located(np.greater))
MINLOC = Op("MINLOC", _located(np.less))
REPLACE = Op("REPLACE", lambda lower, higher: higher, commutes=False)
NO_OP = Op("NO_OP", lambda lower, higher: lower, commutes=False)
