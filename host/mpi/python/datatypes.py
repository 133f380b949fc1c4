"""Datatypes."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from .. import datatypes as library
from .attributes import Attributed, Keyvals
from .errors import CLASSES, Exception, blocking, told
from .refused import refuses

__all__ = ["BYTE", "Datatype", "NAMED", "of_code", "of_dtype"]

Own = TypeVar("Own", bound="Datatype")

ORDER_C, ORDER_FORTRAN = 0, 1


@refuses("Get_envelope Get_contents decode Create_darray Create_f90_integer Create_f90_real "
         "Create_f90_complex Get_value_index Match_size Pack_external Unpack_external "
         "Pack_external_size")
class Datatype(Attributed):
    """A datatype."""

    _keyvals = Keyvals()

    @property
    def inner(self) -> library.Datatype:
        """The library's datatype."""
        if self._of is None:
            raise Exception(CLASSES["ERR_TYPE"])
        return self._of

    def Get_size(self) -> int:
        return self.inner.Get_size()

    size = property(Get_size)

    def Get_extent(self) -> tuple[int, int]:
        return self.inner.Get_extent()

    @property
    def lb(self) -> int:
        return self.inner.lower

    @property
    def extent(self) -> int:
        return self.inner.extent

    @property
    def ub(self) -> int:
        return self.inner.lower + self.inner.extent

    def Get_true_extent(self) -> tuple[int, int]:
        return self.inner.true

    @property
    def true_lb(self) -> int:
        return self.inner.true[0]

    @property
    def true_extent(self) -> int:
        return self.inner.true[1]

    @property
    def true_ub(self) -> int:
        return sum(self.inner.true)

    def _derived(self: Own, how: str, *arguments: Any) -> Own:
        with told():
            return type(self).standing_for(getattr(self.inner, how)(*arguments))
        raise AssertionError

    @property
    def _attributes(self) -> dict[int, Any]:
        return _ATTRIBUTES.setdefault(self.inner, {})

    def Dup(self: Own) -> Own:
        made = self._derived("Dup")
        made._attributes.update(self._keyvals.copied(self, self._attributes))
        return made

    Clone = Dup

    def Create_contiguous(self: Own, count: int) -> Own:
        return self._derived("Create_contiguous", count)

    def Create_vector(self: Own, count: int, blocklength: int, stride: int) -> Own:
        return self._derived("Create_vector", count, blocklength, stride)

    def Create_hvector(self: Own, count: int, blocklength: int, stride: int) -> Own:
        return self._derived("Create_hvector", count, blocklength, stride)

    def Create_indexed(self: Own, blocklengths: Sequence[int], displacements: Sequence[int]
                       ) -> Own:
        return self._derived("Create_indexed", blocklengths, displacements)

    def Create_hindexed(self: Own, blocklengths: Sequence[int], displacements: Sequence[int]
                        ) -> Own:
        return self._derived("Create_hindexed", blocklengths, displacements)

    def Create_indexed_block(self: Own, blocklength: int, displacements: Sequence[int]) -> Own:
        return self._derived("Create_indexed_block", blocklength, displacements)

    def Create_hindexed_block(self: Own, blocklength: int, displacements: Sequence[int]) -> Own:
        return self._derived("Create_hindexed", [blocklength] * len(displacements), displacements)

    @classmethod
    def Create_struct(cls: type[Own], blocklengths: Sequence[int], displacements: Sequence[int],
                      datatypes: Sequence["Datatype"]) -> Own:
        with told():
            return cls.standing_for(library.Datatype.Create_struct(
                blocklengths, displacements, [one.inner for one in datatypes]))
        raise AssertionError

    def Create_subarray(self: Own, sizes: Sequence[int], subsizes: Sequence[int],
                        starts: Sequence[int], order: int = ORDER_C) -> Own:
        axes = list(zip(sizes, subsizes, starts, strict=True))
        if any(not 0 <= start <= size - part for size, part, start in axes):
            raise Exception(CLASSES["ERR_ARG"])
        inner = self.inner
        made, stride, begin = inner, inner.extent, 0
        for size, part, start in axes if order == ORDER_FORTRAN else reversed(axes):
            made = made.Create_hvector(part, 1, stride)
            begin += start * stride
            stride *= size
        made = made.Create_hindexed([1], [begin])
        return type(self).standing_for(made.Create_resized(0, stride))

    def Create_resized(self: Own, lb: int, extent: int) -> Own:
        return self._derived("Create_resized", lb, extent)

    def Commit(self: Own) -> Own:
        self.inner.Commit()
        return self

    def Free(self) -> None:
        inner = self.inner
        if self.is_predefined:
            raise Exception(CLASSES["ERR_TYPE"])
        self._drop_all()
        inner.Free()
        self._of = None

    def free(self) -> None:
        if self and not self.is_predefined:
            self.Free()

    @property
    def is_named(self) -> bool:
        return self._of is not None and id(self._of) in _GIVEN

    @property
    def is_predefined(self) -> bool:
        return self._of is None or id(self._of) in _GIVEN

    def Get_name(self) -> str:
        if not self:
            return "MPI_DATATYPE_NULL"
        name = self.inner.name
        return f"MPI_{name}" if self.is_named and not name.startswith("MPI_") else name

    def Set_name(self, name: str) -> None:
        self.inner.name = name

    name = property(Get_name, Set_name)

    # Packed data

    def Pack(self, inbuf: Any, outbuf: Any, position: int, comm: Any) -> int:
        return self._packing(inbuf, outbuf, position, comm, out=True)

    def Unpack(self, inbuf: Any, position: int, outbuf: Any, comm: Any) -> int:
        return self._packing(outbuf, inbuf, position, comm, out=False)

    def _packing(self, plain: Any, packed: Any, position: int, comm: Any, out: bool) -> int:
        from .memory import view

        comm.inner  # noqa: B018 — refuses the null handle
        inner = self.inner
        flat, _ = view(plain, out)
        bytes_, _ = view(packed, not out)
        count = len(flat) // inner.extent if inner.extent else 0
        if count * inner.size > len(bytes_) - position:
            if out:
                raise Exception(CLASSES["ERR_TRUNCATE"])
            count = (len(bytes_) - position) // inner.size
        end = position + count * inner.size
        packs: list[Any] = [bytes_[position:end], end - position, library.BYTE]
        both = [flat, count, inner], packs
        source, target = both if out else reversed(both)
        blocking(comm.inner.pack(source, target, "Pack" if out else "Unpack"))
        return end

    def Pack_size(self, count: int, comm: Any) -> int:
        comm.inner  # noqa: B018 — refuses the null handle
        return count * self.inner.size

    # As other libraries name it

    def tocode(self) -> str:
        """numpy's code of it."""
        dtype = self.inner.dtype
        if dtype is None or not self.is_named:
            raise ValueError("cannot map to type code")
        return dtype.char if dtype.kind != "S" else "c"

    typechar = property(tocode)
    typestr = property(tocode)

    @classmethod
    def fromcode(cls, code: str) -> "Datatype":
        try:
            return of_code(code)
        except KeyError:
            raise ValueError(f"cannot map type code {code!r} to MPI datatype") from None



def _named() -> dict[str, Datatype]:
    one = library
    table = {
        "BYTE": one.BYTE, "PACKED": one.PACKED, "CHAR": one.CHAR, "SIGNED_CHAR": one.INT8,
        "UNSIGNED_CHAR": one.UINT8, "SHORT": one.INT16, "UNSIGNED_SHORT": one.UINT16,
        "INT": one.INT, "UNSIGNED": one.UINT, "LONG": one.LONG, "UNSIGNED_LONG": one.ULONG,
        "FLOAT": one.FLOAT, "DOUBLE": one.DOUBLE, "LONG_DOUBLE": one.LONG_DOUBLE,
        "C_BOOL": one.BOOL, "C_FLOAT_COMPLEX": one.FLOAT_COMPLEX,
        "C_DOUBLE_COMPLEX": one.COMPLEX, "FLOAT_INT": one.FLOAT_INT,
        "DOUBLE_INT": one.DOUBLE_INT, "INT_INT": one.INT_INT, "LONG_INT": one.LONG_INT,
        "SHORT_INT": one.SHORT_INT}
    made = {name: Datatype.standing_for(found) for name, found in table.items()}
    for name, like in {
            "LONG_LONG": np.longlong, "UNSIGNED_LONG_LONG": np.ulonglong, "WCHAR": np.int32,
            "C_LONG_DOUBLE_COMPLEX": np.clongdouble, "INT8_T": np.int8, "INT16_T": np.int16,
            "INT32_T": np.int32, "INT64_T": np.int64, "UINT8_T": np.uint8, "UINT16_T": np.uint16,
            "UINT32_T": np.uint32, "UINT64_T": np.uint64, "AINT": np.int64, "OFFSET": np.int64,
            "COUNT": np.int64, "CXX_BOOL": np.bool_}.items():
        dtype = np.dtype(like)
        made[name] = Datatype.standing_for(library.Datatype(
            [(0, dtype.itemsize)], dtype.itemsize, dtype, name, align=dtype.alignment))
    pair = np.dtype([("value", np.longdouble), ("index", np.int32)], align=True)
    made["LONG_DOUBLE_INT"] = Datatype.standing_for(library.Datatype(
        [(0, pair.itemsize)], pair.itemsize, pair, "LONG_DOUBLE_INT", basic=2,
        align=pair.alignment))
    for name, other in {
            "TWOINT": "INT_INT", "UNSIGNED_INT": "UNSIGNED", "SIGNED_SHORT": "SHORT",
            "SIGNED_INT": "INT", "SIGNED_LONG": "LONG", "SIGNED_LONG_LONG": "LONG_LONG",
            "BOOL": "C_BOOL", "C_COMPLEX": "C_FLOAT_COMPLEX", "SINT8_T": "INT8_T",
            "SINT16_T": "INT16_T", "SINT32_T": "INT32_T", "SINT64_T": "INT64_T",
            "CXX_FLOAT_COMPLEX": "C_FLOAT_COMPLEX", "CXX_DOUBLE_COMPLEX": "C_DOUBLE_COMPLEX",
            "CXX_LONG_DOUBLE_COMPLEX": "C_LONG_DOUBLE_COMPLEX", "CHARACTER": "CHAR",
            "LOGICAL": "C_BOOL", "INTEGER": "INT", "REAL": "FLOAT", "DOUBLE_PRECISION": "DOUBLE",
            "COMPLEX": "C_FLOAT_COMPLEX", "DOUBLE_COMPLEX": "C_DOUBLE_COMPLEX",
            "INTEGER1": "INT8_T", "INTEGER2": "INT16_T", "INTEGER4": "INT32_T",
            "INTEGER8": "INT64_T", "REAL4": "FLOAT", "REAL8": "DOUBLE", "REAL16": "LONG_DOUBLE",
            "COMPLEX8": "C_FLOAT_COMPLEX", "COMPLEX16": "C_DOUBLE_COMPLEX", "F_INT": "INT",
            "COMPLEX32": "C_LONG_DOUBLE_COMPLEX", "F_BOOL": "C_BOOL", "F_FLOAT": "FLOAT",
            "F_DOUBLE": "DOUBLE", "F_COMPLEX": "C_FLOAT_COMPLEX",
            "F_FLOAT_COMPLEX": "C_FLOAT_COMPLEX", "F_DOUBLE_COMPLEX": "C_DOUBLE_COMPLEX"}.items():
        made[name] = made[other]
    return made


_ATTRIBUTES: dict[library.Datatype, dict[int, Any]] = {}
NAMED = _named()
"""The datatypes that MPI defines, by name. Those of Fortran have C's sizes."""
BYTE = NAMED["BYTE"]
DATATYPE_NULL = Datatype()
_GIVEN = {id(one._of) for one in NAMED.values()}
_NULL_NAMES = ("LOGICAL1", "LOGICAL2", "LOGICAL4", "LOGICAL8", "LOGICAL16", "INTEGER16", "REAL2",
               "COMPLEX4", "FLOAT16_T", "FLOAT32_T", "FLOAT64_T", "BFLOAT16_T")
NAMED.update({name: Datatype() for name in _NULL_NAMES})

_BY_CODE = {"c": "CHAR", "S": "CHAR", "S1": "CHAR", "s": "CHAR", "b": "SIGNED_CHAR",
            "B": "UNSIGNED_CHAR", "h": "SHORT", "H": "UNSIGNED_SHORT", "i": "INT",
            "I": "UNSIGNED", "l": "LONG", "L": "UNSIGNED_LONG", "q": "LONG_LONG",
            "Q": "UNSIGNED_LONG_LONG", "f": "FLOAT", "d": "DOUBLE", "g": "LONG_DOUBLE",
            "?": "C_BOOL", "F": "C_FLOAT_COMPLEX", "D": "C_DOUBLE_COMPLEX",
            "G": "C_LONG_DOUBLE_COMPLEX", "Zf": "C_FLOAT_COMPLEX", "Zd": "C_DOUBLE_COMPLEX",
            "Zg": "C_LONG_DOUBLE_COMPLEX", "n": "AINT", "p": "AINT",
            "i1": "INT8_T", "i2": "INT16_T", "i4": "INT32_T", "i8": "INT64_T", "u1": "UINT8_T",
            "u2": "UINT16_T", "u4": "UINT32_T", "u8": "UINT64_T", "f4": "FLOAT", "f8": "DOUBLE",
            "c8": "C_FLOAT_COMPLEX", "c16": "C_DOUBLE_COMPLEX", "b1": "C_BOOL",
            "hi": "SHORT_INT", "ii": "INT_INT", "li": "LONG_INT", "fi": "FLOAT_INT",
            "di": "DOUBLE_INT", "gi": "LONG_DOUBLE_INT"}


def of_code(code: str) -> Datatype:
    """The datatype with numpy's, or struct's, code.

    Raises
    ------
    KeyError
        There is none.
    """
    plain = code.lstrip("@=<|") if code[:1] != ">" else code
    return NAMED[_BY_CODE[plain]]


def of_dtype(dtype: np.dtype[Any]) -> Datatype:
    """The datatype of numpy's ``dtype``."""
    found = _BY_CODE.get(dtype.char) if dtype.names is None else None
    if found is not None:
        return NAMED[found]
    return next(one for one in NAMED.values() if one and one.inner.dtype == dtype)
