"""Operations of Reduce and its relatives."""

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["BAND", "BOR", "LAND", "LOR", "MAX", "MIN", "Op", "PROD", "SUM"]


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


SUM = Op("SUM", np.add)
PROD = Op("PROD", np.multiply)
MIN = Op("MIN", np.minimum)
MAX = Op("MAX", np.maximum)
LAND = Op("LAND", np.logical_and)
LOR = Op("LOR", np.logical_or)
BAND = Op("BAND", np.bitwise_and)
BOR = Op("BOR", np.bitwise_or)
