"""The result of a receive."""

from array import array
from typing import Any

from ..constants import UNDEFINED
from ..point_to_point import status as library
from .datatypes import BYTE, Datatype

__all__ = ["F_ERROR", "F_SOURCE", "F_STATUS_SIZE", "F_TAG", "Status", "tell"]

F_SOURCE, F_TAG, F_ERROR, CANCELLED, LOW, HIGH = range(6)
"""Where they are among a status's integers; the last two are the number of bytes."""
F_STATUS_SIZE = 6
BITS = 31


class Status:
    """A status of a program's own, which calls fill in: some integers."""

    def __new__(cls, status: "Status | None" = None) -> "Status":
        if status is not None and not isinstance(status, Status):
            raise TypeError(f"Status of {type(status).__name__}")
        made = object.__new__(cls)
        made._integers = array("i", bytes(4 * F_STATUS_SIZE))
        if status is None:
            made._set(library.Status())
        else:
            made._integers[:] = status._integers
        return made

    _integers: "array[int]"

    def __init__(self, *_: Any) -> None:
        pass

    def _set(self, found: library.Status) -> None:
        """What a call has found."""
        self._integers[:CANCELLED] = array("i", [found.source, found.tag, found.error])
        self.Set_cancelled(found.cancelled)
        self._bytes = found.count

    @property
    def _bytes(self) -> int:
        return self._integers[HIGH] << BITS | self._integers[LOW]

    @_bytes.setter
    def _bytes(self, count: int) -> None:
        self._integers[HIGH], self._integers[LOW] = divmod(count, 1 << BITS)

    def _found(self) -> library.Status:
        """It, as the library has it."""
        source, tag, error, cancelled = self._integers[:LOW]
        return library.Status(source, tag, self._bytes, error, bool(cancelled))

    def __eq__(self, other: object) -> bool:
        return self._integers == other._integers if isinstance(other, Status) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return type(self), (), self.__getstate__()

    def __getstate__(self) -> dict[str, int]:
        return {"source": self.source, "tag": self.tag, "error": self.error, "count": self._bytes,
                "cancelled": int(self.cancelled)}

    def __setstate__(self, state: dict[str, int]) -> None:
        self._set(library.Status(state["source"], state["tag"], state["count"], state["error"],
                                 bool(state["cancelled"])))

    def tomemory(self) -> memoryview:
        """Its integers, which may be changed."""
        return memoryview(self._integers)

    def py2f(self) -> list[int]:
        """Its integers, as Fortran has them."""
        return self._integers.tolist()

    @classmethod
    def f2py(cls, integers: list[int]) -> "Status":
        made = cls()
        made._integers[:] = array("i", integers)
        return made

    def Get_source(self) -> int:
        return self._integers[F_SOURCE]

    def Set_source(self, source: int) -> None:
        self._integers[F_SOURCE] = source

    def Get_tag(self) -> int:
        return self._integers[F_TAG]

    def Set_tag(self, tag: int) -> None:
        self._integers[F_TAG] = tag

    def Get_error(self) -> int:
        return self._integers[F_ERROR]

    def Set_error(self, error: int) -> None:
        self._integers[F_ERROR] = error

    source = property(Get_source, Set_source)
    tag = property(Get_tag, Set_tag)
    error = property(Get_error, Set_error)

    @property
    def count(self) -> int:
        return self.Get_count(BYTE)

    @count.setter
    def count(self, value: int) -> None:
        self.Set_elements(BYTE, value)

    def Get_count(self, datatype: Datatype = BYTE) -> int:
        return self._found().Get_count(datatype.inner)

    def Get_elements(self, datatype: Datatype) -> int:
        inner = datatype.inner
        if not inner.size:
            return 0 if not self._bytes else UNDEFINED
        return self._found().Get_elements(inner)

    def Set_elements(self, datatype: Datatype, count: int) -> None:
        self._bytes = datatype.inner.signature.bytes(count)

    def Is_cancelled(self) -> bool:
        return bool(self._integers[CANCELLED])

    def Set_cancelled(self, flag: bool) -> None:
        self._integers[CANCELLED] = bool(flag)

    cancelled = property(Is_cancelled, Set_cancelled)


def tell(status: Status | None, found: library.Status) -> None:
    """``status`` gets what a call has found, if the program wants to know."""
    if status is not None:
        status._set(found)
