"""Handles of a program: numbers that stand for communicators, datatypes and others."""

from typing import Generic, TypeVar

from .. import datatypes, operators
from ..communicator import Comm
from ..datatypes import Datatype
from ..errors import ErrorClass, MpiError
from ..groups import Group
from ..library import Mpi
from ..operators import Op
from ..windows import Win
from .header import constants
from .request import CRequest

__all__ = ["Handles", "Table", "value"]

Kind = TypeVar("Kind")

_TYPES = {
    "BYTE": datatypes.BYTE, "PACKED": datatypes.PACKED, "CHAR": datatypes.INT8,
    "SIGNED_CHAR": datatypes.INT8, "UNSIGNED_CHAR": datatypes.UINT8, "SHORT": datatypes.INT16,
    "UNSIGNED_SHORT": datatypes.UINT16, "INT": datatypes.INT, "UNSIGNED": datatypes.UINT,
    "LONG": datatypes.LONG, "UNSIGNED_LONG": datatypes.ULONG, "LONG_LONG_INT": datatypes.LONG,
    "UNSIGNED_LONG_LONG": datatypes.ULONG, "FLOAT": datatypes.FLOAT, "DOUBLE": datatypes.DOUBLE,
    "LONG_DOUBLE": datatypes.LONG_DOUBLE, "FLOAT_INT": datatypes.FLOAT_INT,
    "DOUBLE_INT": datatypes.DOUBLE_INT, "LONG_INT": datatypes.LONG_INT,
    "SHORT_INT": datatypes.SHORT_INT, "2INT": datatypes.INT_INT, "C_BOOL": datatypes.BOOL,
    "C_FLOAT_COMPLEX": datatypes.FLOAT_COMPLEX, "C_DOUBLE_COMPLEX": datatypes.COMPLEX,
    "C_LONG_DOUBLE_COMPLEX": datatypes.LONG_DOUBLE_COMPLEX,
    "LONG_DOUBLE_INT": datatypes.LONG_DOUBLE_INT, "LB": datatypes.LB, "UB": datatypes.UB,
} | {name: like.named(name) for names, like in {
    "WCHAR INT32_T LOGICAL INTEGER INTEGER4": datatypes.INT, "UINT32_T": datatypes.UINT,
    "INT8_T CHARACTER INTEGER1": datatypes.INT8, "UINT8_T": datatypes.UINT8,
    "INT16_T INTEGER2": datatypes.INT16, "UINT16_T": datatypes.UINT16,
    "INT64_T AINT OFFSET COUNT INTEGER8": datatypes.LONG, "UINT64_T": datatypes.ULONG,
    "REAL REAL4": datatypes.FLOAT, "DOUBLE_PRECISION REAL8": datatypes.DOUBLE,
    "REAL16": datatypes.LONG_DOUBLE, "CXX_BOOL": datatypes.BOOL,
    "COMPLEX COMPLEX8 CXX_FLOAT_COMPLEX": datatypes.FLOAT_COMPLEX,
    "DOUBLE_COMPLEX COMPLEX16 CXX_DOUBLE_COMPLEX": datatypes.COMPLEX,
    "COMPLEX32 CXX_LONG_DOUBLE_COMPLEX": datatypes.LONG_DOUBLE_COMPLEX,
    "2INTEGER": datatypes.INT_INT, "2REAL": datatypes.FLOAT_FLOAT,
    "2DOUBLE_PRECISION": datatypes.DOUBLE_DOUBLE}.items() for name in names.split()}
_OPS = {name: getattr(operators, name) for name in
        ("MAX", "MIN", "SUM", "PROD", "LAND", "BAND", "LOR", "BOR", "LXOR", "BXOR", "MAXLOC",
         "MINLOC", "REPLACE", "NO_OP")}


def value(name: str) -> int:
    """The number of constant MPI_``name``."""
    return constants()[f"MPI_{name}"][1]


class Table(Generic[Kind]):
    """The handles of one kind, ``what``; 0 is the null handle."""

    def __init__(self, what: str, error: ErrorClass, given: dict[int, Kind]) -> None:
        self._what = what
        self._error = error
        self._given = frozenset(given)
        self._of = dict(given)
        self._next = max(given, default=0) + 1

    def __getitem__(self, handle: int) -> Kind:
        found = self._of.get(handle)
        if found is None:
            raise MpiError(self._error, f"{handle} is no {self._what}")
        return found

    def add(self, one: Kind | None) -> int:
        """Its new handle; the null handle for None."""
        if one is None:
            return 0
        handle = self._next
        self._next += 1
        self._of[handle] = one
        return handle

    def remove(self, handle: int) -> Kind:
        """The handle stands for nothing any more; what it stood for."""
        if handle in self._given:
            raise MpiError(self._error, f"a predefined {self._what} may not be freed")
        found = self[handle]
        del self._of[handle]
        return found


class Handles:
    """The handles of one rank."""

    def __init__(self, mpi: Mpi) -> None:
        self.comms: Table[Comm] = Table("communicator", ErrorClass.ERR_COMM, {
            value("COMM_WORLD"): mpi.COMM_WORLD, value("COMM_SELF"): mpi.COMM_SELF})
        self.groups: Table[Group] = Table("group", ErrorClass.ERR_GROUP, {
            value("GROUP_EMPTY"): Group([], mpi.rank)})
        self.types: Table[Datatype] = Table("datatype", ErrorClass.ERR_TYPE, {
            value(name): one for name, one in _TYPES.items()})
        self.ops: Table[Op] = Table("operation", ErrorClass.ERR_OP, {
            value(name): one for name, one in _OPS.items()})
        self.windows: Table[Win] = Table("window", ErrorClass.ERR_WIN, {})
        self.requests: Table[CRequest] = Table("request", ErrorClass.ERR_REQUEST, {})

    def type_of(self, dtype: object) -> int:
        """The predefined datatype of numpy's ``dtype``."""
        return next((value(name) for name, one in _TYPES.items() if one.dtype == dtype
                     and name not in ("BYTE", "PACKED")), 0)
