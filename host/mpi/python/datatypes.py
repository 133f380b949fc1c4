"""Datatypes."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from .. import datatypes as library
from ..sync import current, running
from .attributes import Attributed
from .errors import CLASSES, Exception, blocking, told
from .memory import view
from .named import BY_CODE, NULL, PAIRS, TYPES
from .origins import COMBINERS, Origin
from .refused import refuses

__all__ = ["BYTE", "DATATYPE_NULL", "Datatype", "NAMED", "ORDER_C", "ORDER_FORTRAN", "of_code",
           "of_dtype"]

Own = TypeVar("Own", bound="Datatype")

ORDER_C, ORDER_FORTRAN = 0, 1


@refuses("Create_darray Create_f90_integer Create_f90_real Create_f90_complex Match_size "
         "Pack_external Unpack_external Pack_external_size")
class Datatype(Attributed):
    """A datatype."""

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

    @property
    def _attributes(self) -> dict[int, Any]:
        every: dict[Any, dict[int, Any]] = current().keep("datatypes' attributes", dict)
        return every.setdefault(self.inner, {})

    # Others made of it

    def _made(self: Own, how: str, made: library.Datatype, **arguments: Any) -> Own:
        return type(self)._of_types(how, made, (self,), arguments)

    @classmethod
    def _of_types(cls: type[Own], how: str, made: library.Datatype, types: Sequence["Datatype"],
                  arguments: dict[str, Any]) -> Own:
        kept = {name: [int(each) for each in one] if isinstance(one, Sequence | np.ndarray)
                else int(one) for name, one in arguments.items()}
        made.origin = Origin(how, tuple(one._again() for one in types), kept)
        return cls.standing_for(made)

    def _again(self) -> "Datatype":
        """It, such that the program may free the one or the other."""
        inner = self.inner
        if inner.origin is None:
            return given(self)
        again = inner.Dup()
        again.origin = inner.origin
        return Datatype.standing_for(again)

    def Dup(self: Own) -> Own:
        made = self._made("DUP", self.inner.Dup())
        made._attributes.update(self._copied())
        return made

    Clone = Dup

    def Create_contiguous(self: Own, count: int) -> Own:
        with told():
            return self._made("CONTIGUOUS", self.inner.Create_contiguous(count), count=count)
        raise AssertionError

    def Create_vector(self: Own, count: int, blocklength: int, stride: int) -> Own:
        with told():
            return self._made("VECTOR", self.inner.Create_vector(count, blocklength, stride),
                              count=count, blocklength=blocklength, stride=stride)
        raise AssertionError

    def Create_hvector(self: Own, count: int, blocklength: int, stride: int) -> Own:
        with told():
            return self._made("HVECTOR", self.inner.Create_hvector(count, blocklength, stride),
                              count=count, blocklength=blocklength, stride=stride)
        raise AssertionError

    def Create_indexed(self: Own, blocklengths: Sequence[int], displacements: Sequence[int]
                       ) -> Own:
        with told():
            return self._made("INDEXED", self.inner.Create_indexed(blocklengths, displacements),
                              blocklengths=blocklengths, displacements=displacements)
        raise AssertionError

    def Create_hindexed(self: Own, blocklengths: Sequence[int], displacements: Sequence[int]
                        ) -> Own:
        with told():
            return self._made("HINDEXED", self.inner.Create_hindexed(blocklengths, displacements),
                              blocklengths=blocklengths, displacements=displacements)
        raise AssertionError

    def Create_indexed_block(self: Own, blocklength: int, displacements: Sequence[int]) -> Own:
        with told():
            return self._made("INDEXED_BLOCK",
                              self.inner.Create_indexed_block(blocklength, displacements),
                              blocklength=blocklength, displacements=displacements)
        raise AssertionError

    def Create_hindexed_block(self: Own, blocklength: int, displacements: Sequence[int]) -> Own:
        with told():
            made = self.inner.Create_hindexed([blocklength] * len(displacements), displacements)
            return self._made("HINDEXED_BLOCK", made, blocklength=blocklength,
                              displacements=displacements)
        raise AssertionError

    @classmethod
    def Create_struct(cls: type[Own], blocklengths: Sequence[int], displacements: Sequence[int],
                      datatypes: Sequence["Datatype"]) -> Own:
        if not len(blocklengths) == len(displacements) == len(datatypes):
            raise ValueError("blocklengths, displacements and datatypes are not of one length")
        with told():
            made = library.Datatype.Create_struct(blocklengths, displacements,
                                                  [one.inner for one in datatypes])
            return cls._of_types("STRUCT", made, datatypes,
                                 {"blocklengths": blocklengths, "displacements": displacements})
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
        made = made.Create_hindexed([1], [begin]).Create_resized(0, stride)
        return self._made("SUBARRAY", made, sizes=sizes, subsizes=subsizes, starts=starts,
                          order=order)

    def Create_resized(self: Own, lb: int, extent: int) -> Own:
        with told():
            return self._made("RESIZED", self.inner.Create_resized(lb, extent), lb=lb,
                              extent=extent)
        raise AssertionError

    @classmethod
    def Get_value_index(cls, value: "Datatype", index: "Datatype") -> "Datatype":
        """The type of a value and its index; the null one where there is none."""
        of, place = value.inner, index.inner
        found = next((pair for name, pair in PAIRS.items() if TYPES[name] is of), None)
        return NAMED[found] if found and place is TYPES["INT"] else DATATYPE_NULL

    # How it was made

    @property
    def _origin(self) -> Origin:
        return self.inner.origin or Origin("NAMED", (), {})

    def Get_envelope(self) -> tuple[int, int, int, int, int]:
        origin = self._origin
        return (len(origin.integers), len(origin.addresses), 0, len(origin.types),
                COMBINERS[origin.how])

    def Get_contents(self) -> tuple[list[int], list[int], list[int], list["Datatype"]]:
        origin = self._origin
        if origin.how == "NAMED":
            raise Exception(CLASSES["ERR_TYPE"])
        return (origin.integers, origin.addresses, [], [one._again() for one in origin.types])

    envelope = property(Get_envelope)
    contents = property(Get_contents)

    @property
    def combiner(self) -> int:
        return COMBINERS[self._origin.how]

    def decode(self) -> tuple["Datatype", str, dict[str, Any]]:
        """Of what, by which constructor and with which arguments it was made."""
        how, types, arguments = self._origin
        if how == "NAMED":
            return self, how, {}
        again = [one._again() for one in types]
        if how == "STRUCT":
            return DATATYPE_NULL, how, {**arguments, "datatypes": again}
        return again[0], how, dict(arguments)

    def __reduce__(self) -> Any:
        if not self or self.inner.origin is None:
            return super().__reduce__()
        return _remade, (type(self), *self._origin)

    # Its life and name

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
        if not self.is_named:
            return name
        rank = running()
        set_ = {} if rank is None else rank.keep("datatypes' names", dict)
        return set_.get(self._of, name if name.startswith("MPI_") else f"MPI_{name}")

    def Set_name(self, name: str) -> None:
        if self.is_named:
            current().keep("datatypes' names", dict)[self._of] = name
        else:
            self.inner.name = name

    name = property(Get_name, Set_name)

    # Packed data

    def Pack(self, inbuf: Any, outbuf: Any, position: int, comm: Any) -> int:
        return self._packing(inbuf, outbuf, position, comm, out=True)

    def Unpack(self, inbuf: Any, position: int, outbuf: Any, comm: Any) -> int:
        return self._packing(outbuf, inbuf, position, comm, out=False)

    def _packing(self, plain: Any, packed: Any, position: int, comm: Any, out: bool) -> int:
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

    def _code(self) -> str | None:
        inner = self.inner
        dtype = inner.dtype
        if dtype is None or dtype.names is not None or not inner.contiguous \
                or inner.size != dtype.itemsize:
            return None
        return dtype.char if dtype.kind != "S" else "c"

    def tocode(self) -> str:
        """numpy's code of it."""
        code = self._code() if self else None
        if code is None:
            raise ValueError("cannot map to type code")
        return code

    @property
    def typechar(self) -> str:
        return self._code() or "V"

    @property
    def typestr(self) -> str:
        dtype, code = self.inner.dtype, self._code()
        return f"V{self.extent}" if dtype is None or code is None else dtype.str.lstrip("<>|=")

    @classmethod
    def fromcode(cls, code: str) -> "Datatype":
        try:
            return of_code(code)
        except KeyError:
            raise ValueError(f"cannot map type code {code!r} to MPI datatype") from None


def _remade(kind: type[Datatype], how: str, types: tuple[Datatype, ...],
            arguments: dict[str, Any]) -> Datatype:
    """A datatype made as another one was, which was pickled."""
    if how == "STRUCT":
        return kind.Create_struct(**arguments, datatypes=types)
    of = kind(types[0])
    return of.Dup() if how == "DUP" else getattr(of, f"Create_{how.lower()}")(**arguments)


_GIVEN = {id(one): Datatype.standing_for(one) for one in TYPES.values()}
NAMED = {name: _GIVEN[id(one)] for name, one in TYPES.items()}
"""The datatypes that MPI defines, by name."""
BYTE = NAMED["BYTE"]
DATATYPE_NULL = Datatype()
NAMED.update({name: Datatype() for name in NULL})


def given(datatype: Datatype) -> Datatype:
    """The handle that MPI defines for what ``datatype`` stands for."""
    return _GIVEN[id(datatype.inner)]


def of_code(code: str) -> Datatype:
    """The datatype with numpy's, or struct's, code.

    Raises
    ------
    KeyError
        There is none.
    """
    plain = code.lstrip("@=<|") if code[:1] != ">" else code
    return NAMED[BY_CODE[plain]]


def of_dtype(dtype: np.dtype[Any]) -> Datatype:
    """The datatype of numpy's ``dtype``."""
    found = BY_CODE.get(dtype.char) if dtype.names is None else None
    if found is not None:
        return NAMED[found]
    return next(one for one in NAMED.values() if one and one.inner.dtype == dtype)
