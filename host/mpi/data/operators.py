"""Operations of Reduce and its relatives."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ErrorClass, MpiError
from .operands import Operand

__all__ = ["BAND", "BOR", "BXOR", "Bytes", "LAND", "LOR", "LXOR", "MAX", "MAXLOC", "MIN",
           "MINLOC", "NO_OP", "OnElements", "Op", "PROD", "REPLACE", "SUM"]

Bytes = tuple[Any, int]
"""An array of bytes, and the place in it from which a datatype counts, which may lie before it."""


class Op:
    """An operation on two arrays, element by element: ``function(lower rank's, higher rank's)``.

    Attributes
    ----------
    commutes
        Whether the order of the operands may change.
    groups
        Of which basic elements the arrays may be (:class:`~.datatypes.Kind`); None: of any.
    """

    __slots__ = ("name", "function", "commutes", "groups")

    def __init__(self, name: str, function: Callable[[Any, Any], Any], commutes: bool = True,
                 groups: frozenset[str] | None = None) -> None:
        self.name = name
        self.function = function
        self.commutes = commutes
        self.groups = groups

    @classmethod
    def Create(cls, function: Callable[[Any, Any], Any], commute: bool = False) -> "Op":
        """An operation of the program's own."""
        return cls(getattr(function, "__name__", "function"), function, commute)

    def check(self, operand: Operand, call: str) -> None:
        """Refuse ``operand`` if the operation is not defined for its elements.

        Raises
        ------
        MpiError
            It is not.
        """
        if self.groups is None or not operand.count:
            return
        if operand.values is None or operand.group not in self.groups:
            raise MpiError(ErrorClass.ERR_OP, f"{call}: {self.name} is not defined for "
                           f"{operand.name}")

    def combine(self, lower: Operand, higher: Operand, into: Operand) -> None:
        """The result ``into`` one of the two."""
        if lower.values is None or into.values is None:
            raise MpiError(ErrorClass.ERR_OP, f"{self.name} is not defined for {lower.name}")
        into.values[...] = self.function(lower.values, higher.values)

    def __repr__(self) -> str:
        return f"Op({self.name})"


class OnElements(Op):
    """An operation of the program's own on elements of a datatype, whatever it is: ``function(in,
    inout, count, datatype)`` changes ``inout`` to ``in`` op ``inout``."""

    __slots__ = ("on_elements",)

    def __init__(self, on_elements: Callable[[Bytes, Bytes, int, Any], None],
                 commutes: bool, name: str = "of the program") -> None:
        super().__init__(name, self._on_values, commutes)
        self.on_elements = on_elements

    def _on_values(self, lower: Any, higher: Any) -> Any:
        raise NotImplementedError("an operation on elements of a datatype")

    def combine(self, lower: Operand, higher: Operand, into: Operand) -> None:
        if not higher.count:
            return
        result = higher.bytes.copy()
        self.on_elements((lower.bytes.copy() if into is lower else lower.bytes, lower.origin),
                         (result, higher.origin), higher.count, higher.type)
        into.bytes[...] = result


def _located(better: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Of pairs (value, index): the better value, of equal ones the lower index."""
    def choose(lower: Any, higher: Any) -> Any:
        (value, index), (other, place) = ([one[name] for name in one.dtype.names]
                                          for one in (lower, higher))
        takes = better(value, other) | (value == other) & (index <= place)
        return np.where(takes, lower, higher)
    return choose


def _of(name: str, function: Callable[[Any, Any], Any], groups: str, commutes: bool = True) -> Op:
    return Op(name, function, commutes, frozenset(groups.split()))


_LOGICAL = "integer logical floating"
"""Of floating-point numbers MPI does not say that they are true or false; libraries do."""
SUM = _of("SUM", np.add, "integer floating complex logical")
PROD = _of("PROD", np.multiply, "integer floating complex logical")
MIN = _of("MIN", np.minimum, "integer floating logical")
MAX = _of("MAX", np.maximum, "integer floating logical")
LAND = _of("LAND", np.logical_and, _LOGICAL)
LOR = _of("LOR", np.logical_or, _LOGICAL)
BAND = _of("BAND", np.bitwise_and, "integer byte logical")
LXOR = _of("LXOR", np.logical_xor, _LOGICAL)
BOR = _of("BOR", np.bitwise_or, "integer byte logical")
BXOR = _of("BXOR", np.bitwise_xor, "integer byte logical")
MAXLOC = _of("MAXLOC", _located(np.greater), "pair")
MINLOC = _of("MINLOC", _located(np.less), "pair")
REPLACE = _of("REPLACE", lambda lower, higher: higher, "", commutes=False)
NO_OP = _of("NO_OP", lambda lower, higher: lower, "", commutes=False)
"""The last two are for accumulations alone."""
