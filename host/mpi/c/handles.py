"""Handles of a program: numbers that stand for communicators, datatypes and others."""

from typing import Generic, TypeVar

from ..communicators.communicator import Comm, Message
from ..communicators.groups import Group
from ..data import datatypes, operators
from ..data.datatypes import Datatype
from ..data.operators import Op
from ..errors import ErrorClass, MpiError
from ..info import Info
from ..library import Mpi
from ..windows import Win
from .header import constants
from .request import CRequest

__all__ = ["Handles", "Table", "value"]

Kind = TypeVar("Kind")

_TYPES = {name: like.named(name) for names, like in {
    "BYTE": datatypes.BYTE, "PACKED": datatypes.PACKED,
    "CHAR SIGNED_CHAR INT8_T CHARACTER INTEGER1": datatypes.INT8,
    "UNSIGNED_CHAR UINT8_T": datatypes.UINT8, "SHORT INT16_T INTEGER2": datatypes.INT16,
    "UNSIGNED_SHORT UINT16_T": datatypes.UINT16, "INT INT32_T INTEGER INTEGER4": datatypes.INT,
    "UNSIGNED UINT32_T": datatypes.UINT, "LONG": datatypes.LONG,
    "UNSIGNED_LONG": datatypes.ULONG,
    "LONG_LONG_INT INT64_T AINT OFFSET COUNT INTEGER8": datatypes.LONG_LONG,
    "UNSIGNED_LONG_LONG UINT64_T": datatypes.ULONG_LONG, "WCHAR": datatypes.WCHAR,
    "FLOAT REAL REAL4": datatypes.FLOAT, "DOUBLE DOUBLE_PRECISION REAL8": datatypes.DOUBLE,
    "LONG_DOUBLE REAL16": datatypes.LONG_DOUBLE, "C_BOOL CXX_BOOL": datatypes.BOOL,
    "LOGICAL": datatypes.LOGICAL,
    "C_COMPLEX COMPLEX COMPLEX8 CXX_FLOAT_COMPLEX": datatypes.FLOAT_COMPLEX,
    "C_DOUBLE_COMPLEX DOUBLE_COMPLEX COMPLEX16 CXX_DOUBLE_COMPLEX": datatypes.COMPLEX,
    "C_LONG_DOUBLE_COMPLEX COMPLEX32 CXX_LONG_DOUBLE_COMPLEX": datatypes.LONG_DOUBLE_COMPLEX,
    "FLOAT_INT": datatypes.FLOAT_INT, "DOUBLE_INT": datatypes.DOUBLE_INT,
    "LONG_INT": datatypes.LONG_INT, "SHORT_INT": datatypes.SHORT_INT,
    "LONG_DOUBLE_INT": datatypes.LONG_DOUBLE_INT, "2INT 2INTEGER": datatypes.INT_INT,
    "2REAL": datatypes.FLOAT_FLOAT, "2DOUBLE_PRECISION": datatypes.DOUBLE_DOUBLE,
    "INTEGER16": datatypes.INTEGER16, "LB": datatypes.LB, "UB": datatypes.UB}.items()
    for name in names.split()}
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

    def handle_of(self, one: Kind) -> int | None:
        """The handle of ``one``, if it has any."""
        return next((handle for handle, other in self._of.items() if other is one), None)

    def add(self, one: Kind | None) -> int:
        """Its new handle; the null handle for None."""
        if one is None:
            return 0
        handle = self._next
        self._next += 1
        self._of[handle] = one
        return handle

    def keep(self, one: Kind) -> int:
        """The handle of ``one``, which the program may not free."""
        found = self.handle_of(one)
        if found is None:
            found = self.add(one)
            self._given |= {found}
        return found

    def reserve(self) -> int:
        """A handle that will stand for something (:meth:`bind`), but does not yet."""
        self._next += 1
        return self._next - 1

    def bind(self, handle: int, one: Kind) -> None:
        """A reserved handle stands for ``one``."""
        self._of[handle] = one

    def check_own(self, handle: int) -> None:
        """Refuse a handle that MPI defines: it may not be freed."""
        if handle in self._given:
            raise MpiError(self._error, f"a predefined {self._what} may not be freed")

    def remove(self, handle: int) -> Kind:
        """The handle stands for nothing any more; what it stood for."""
        self.check_own(handle)
        found = self[handle]
        del self._of[handle]
        return found


class Handles:
    """The handles of one rank."""

    def __init__(self, mpi: Mpi) -> None:
        self.comms: Table[Comm] = Table("communicator", ErrorClass.ERR_COMM, {
            value("COMM_WORLD"): mpi.COMM_WORLD, value("COMM_SELF"): mpi.COMM_SELF})
        mpi.COMM_WORLD.handle, mpi.COMM_SELF.handle = value("COMM_WORLD"), value("COMM_SELF")
        self.groups: Table[Group] = Table("group", ErrorClass.ERR_GROUP, {
            value("GROUP_EMPTY"): Group([], mpi.rank)})
        self.types: Table[Datatype] = Table("datatype", ErrorClass.ERR_TYPE, {
            value(name): one for name, one in _TYPES.items()})
        self.ops: Table[Op] = Table("operation", ErrorClass.ERR_OP, {
            value(name): one for name, one in _OPS.items()})
        self.names: dict[int, str] = {}
        """Of datatypes, by handle, where the program has named them."""
        self.messages: Table[Message | None] = Table("message", ErrorClass.ERR_REQUEST, {
            value("MESSAGE_NO_PROC"): None})
        self.windows: Table[Win] = Table("window", ErrorClass.ERR_WIN, {})
        self.infos: Table[Info] = Table("info", ErrorClass.ERR_INFO, {value("INFO_ENV"): Info()})
        self.requests: Table[CRequest] = Table("request", ErrorClass.ERR_REQUEST, {})

    def type_of(self, datatype: Datatype) -> int:
        """The handle of ``datatype``; a new one if the program has freed its own."""
        found = self.types.handle_of(datatype)
        return self.types.add(datatype) if found is None else found
