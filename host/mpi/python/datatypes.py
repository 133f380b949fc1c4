"""Datatypes."""

from collections.abc import Sequence
from typing import Any, TypeVar

from ..data import datatypes as library
from ..data.datatypes import COMBINERS, Origin
from ..sync import current, running
from .attributes import Attributed
from .errors import CLASSES, Exception, blocking, told
from .memory import view
from .predefined_datatypes import BY_CODE, NULL, PAIRS, TYPES

__all__ = ["BYTE", "DATATYPE_NULL", "Datatype", "NAMED", "ORDER_C", "ORDER_FORTRAN", "handle_of",
           "of_code"]

Own = TypeVar("Own", bound="Datatype")

ORDER_C, ORDER_FORTRAN = 0, 1


class Datatype(Attributed):
    """A datatype."""

    @property
    def inner(self) -> library.Datatype:
        """The library's datatype."""
        if self._of is None or self._of.freed:
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

    def _made(self: Own, how: str, *arguments: Any) -> Own:
        with told():
            return self.standing_for(getattr(self.inner, f"Create_{how}")(*arguments))
        raise AssertionError

    @classmethod
    def _again(cls, inner: library.Datatype) -> "Datatype":
        """A handle of the same type, such that the program may free the one or the other."""
        return _GIVEN.get(id(inner)) or Datatype.standing_for(inner.again())

    def Dup(self: Own) -> Own:
        made = self.standing_for(self.inner.Dup())
        made._attributes.update(self._copied())
        return made

    Clone = Create_dup = Dup

    def Create_contiguous(self: Own, count: int) -> Own:
        return self._made("contiguous", count)

    def Create_vector(self: Own, count: int, blocklength: int, stride: int) -> Own:
        return self._made("vector", count, blocklength, stride)

    def Create_hvector(self: Own, count: int, blocklength: int, stride: int) -> Own:
        return self._made("hvector", count, blocklength, stride)

    def Create_indexed(self: Own, blocklengths: Sequence[int], displacements: Sequence[int]
                       ) -> Own:
        return self._made("indexed", blocklengths, displacements)

    def Create_hindexed(self: Own, blocklengths: Sequence[int], displacements: Sequence[int]
                        ) -> Own:
        return self._made("hindexed", blocklengths, displacements)

    def Create_indexed_block(self: Own, blocklength: int, displacements: Sequence[int]) -> Own:
        return self._made("indexed_block", blocklength, displacements)

    def Create_hindexed_block(self: Own, blocklength: int, displacements: Sequence[int]) -> Own:
        return self._made("hindexed_block", blocklength, displacements)

    @classmethod
    def Create_struct(cls: type[Own], blocklengths: Sequence[int], displacements: Sequence[int],
                      datatypes: Sequence["Datatype"]) -> Own:
        if not len(blocklengths) == len(displacements) == len(datatypes):
            raise ValueError("blocklengths, displacements and datatypes are not of one length")
        with told():
            return cls.standing_for(library.Datatype.Create_struct(
                blocklengths, displacements, [one.inner for one in datatypes]))
        raise AssertionError

    def Create_subarray(self: Own, sizes: Sequence[int], subsizes: Sequence[int],
                        starts: Sequence[int], order: int = ORDER_C) -> Own:
        with told():
            return self.standing_for(library.subarray(
                self.inner, sizes, subsizes, starts, order, fortran=order == ORDER_FORTRAN))
        raise AssertionError

    def Create_darray(self: Own, size: int, rank: int, gsizes: Sequence[int],
                      distribs: Sequence[int], dargs: Sequence[int], psizes: Sequence[int],
                      order: int = ORDER_C) -> Own:
        with told():
            return self.standing_for(library.darray(
                self.inner, size, rank, gsizes, distribs, dargs, psizes, order,
                fortran=order == ORDER_FORTRAN))
        raise AssertionError

    @classmethod
    def Create_f90_integer(cls: type[Own], r: int) -> Own:
        with told():
            return cls.standing_for(library.f90_integer(r))
        raise AssertionError

    @classmethod
    def Create_f90_real(cls: type[Own], p: int, r: int) -> Own:
        with told():
            return cls.standing_for(library.f90_real(p, r))
        raise AssertionError

    @classmethod
    def Create_f90_complex(cls: type[Own], p: int, r: int) -> Own:
        with told():
            return cls.standing_for(library.f90_complex(p, r))
        raise AssertionError

    def Create_resized(self: Own, lb: int, extent: int) -> Own:
        return self._made("resized", lb, extent)

    @classmethod
    def Match_size(cls, typeclass: int, size: int) -> "Datatype":
        """The type of a class with so many bytes."""
        with told():
            return NAMED[library.match_size(typeclass, size)]
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
        return (origin.integers, origin.addresses, [],
                [self._again(one) for one in origin.types])

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
        again = [self._again(one) for one in types]
        if how == "STRUCT":
            return DATATYPE_NULL, how, {**arguments, "datatypes": again}
        if not again:
            return DATATYPE_NULL, how, dict(arguments)
        return again[0], how, dict(arguments)

    def __reduce__(self) -> Any:
        if not self or self.inner.origin is None:
            return super().__reduce__()
        how, types, arguments = self._origin
        return _remade, (type(self), how, [self._again(one) for one in types], arguments)

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
        return self._of is None or id(self._of) in _GIVEN or self._origin.how.startswith("F90")

    def Get_name(self) -> str:
        if not self:
            return "MPI_DATATYPE_NULL"
        if not self.is_named:
            return self.inner.label
        name = self.inner.name
        rank = running()
        set_ = {} if rank is None else rank.keep("datatypes' names", dict)
        return set_.get(self._of, name if name.startswith("MPI_") else f"MPI_{name}")

    def Set_name(self, name: str) -> None:
        if self.is_named:
            current().keep("datatypes' names", dict)[self._of] = name
        else:
            self.inner.label = name

    name = property(Get_name, Set_name)

    # Packed data

    def Pack(self, inbuf: Any, outbuf: Any, position: int, comm: Any) -> int:
        return self._packing(inbuf, outbuf, position, comm, out=True)

    def Unpack(self, inbuf: Any, position: int, outbuf: Any, comm: Any) -> int:
        return self._packing(outbuf, inbuf, position, comm, out=False)

    def _packing(self, plain: Any, packed: Any, position: int, comm: Any, out: bool) -> int:
        comm.inner  # noqa: B018 — refuses the null handle
        inner = self.inner
        flat, bytes_, count, end = self._packed(plain, packed, position, inner.size, out)
        packs: list[Any] = [bytes_[position:end], end - position, library.BYTE]
        both = [flat, count, inner], packs
        source, target = both if out else reversed(both)
        blocking(comm.inner.pack(source, target, "Pack" if out else "Unpack"))
        return end

    def _packed(self, plain: Any, packed: Any, position: int, size: int, out: bool
                ) -> tuple[Any, Any, int, int]:
        """The bytes of ``plain`` and ``packed``, how many elements of ``size`` packed bytes there
        are, and where the packed ones end."""
        inner = self.inner
        flat, _ = view(plain, out)
        bytes_, _ = view(packed, not out)
        count = len(flat) // inner.extent if inner.extent else 0
        if count * size > len(bytes_) - position:
            if out:
                raise Exception(CLASSES["ERR_TRUNCATE"])
            count = (len(bytes_) - position) // size
        return flat, bytes_, count, position + count * size

    def Pack_external(self, datarep: str, inbuf: Any, outbuf: Any, position: int) -> int:
        inner = self._external(datarep)
        flat, bytes_, count, end = self._packed(inbuf, outbuf, position,
                                                inner.signature.external, True)
        signature = inner.signature.times(count)
        data: Any = bytearray(signature.size)
        blocking(current().mpi.COMM_SELF.pack([flat, count, inner], data, "Pack_external"))
        bytes_[position:end] = library.to_external(signature, view(data, True)[0])
        return end

    def Unpack_external(self, datarep: str, inbuf: Any, position: int, outbuf: Any) -> int:
        inner = self._external(datarep)
        flat, bytes_, count, end = self._packed(outbuf, inbuf, position,
                                                inner.signature.external, False)
        data = library.from_external(inner.signature.times(count), bytes_[position:end])
        blocking(current().mpi.COMM_SELF.pack(data, [flat, count, inner], "Unpack_external"))
        return end

    def Pack_external_size(self, datarep: str, count: int) -> int:
        return count * self._external(datarep).signature.external

    def _external(self, datarep: str) -> library.Datatype:
        if datarep != "external32":
            raise Exception(CLASSES["ERR_ARG"])
        return self.inner

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


def _remade(kind: type[Datatype], how: str, types: list[Datatype],
            arguments: dict[str, Any]) -> Datatype:
    """A datatype made as another one was, which was pickled."""
    if how == "STRUCT":
        return kind.Create_struct(**arguments, datatypes=types)
    if not types:
        return getattr(kind, f"Create_{how.lower()}")(**arguments)
    return getattr(kind(types[0]), f"Create_{how.lower()}")(**arguments)


_GIVEN = {id(one): Datatype.standing_for(one) for one in TYPES.values()}
NAMED = {name: _GIVEN[id(one)] for name, one in TYPES.items()}
"""The datatypes that MPI defines, by name."""
BYTE = NAMED["BYTE"]
DATATYPE_NULL = Datatype()
NAMED.update({name: Datatype() for name in NULL})


def handle_of(inner: library.Datatype) -> Datatype:
    """A handle of the library's ``inner``: that which MPI defines, or a new one."""
    return _GIVEN.get(id(inner)) or Datatype.standing_for(inner)


def of_code(code: str) -> Datatype:
    """The datatype with numpy's, or struct's, code.

    Raises
    ------
    KeyError
        There is none.
    """
    plain = code.lstrip("@=<|") if code[:1] != ">" else code
    return NAMED[BY_CODE[plain]]

