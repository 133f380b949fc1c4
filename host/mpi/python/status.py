"""What a receive got."""

from typing import Any

from .. import status as library
from ..constants import UNDEFINED
from .datatypes import BYTE, Datatype

__all__ = ["Status"]


class Status:
    """A status of a program's own, which calls fill in."""

    def __new__(cls, status: "Status | None" = None) -> "Status":
        if status is not None and not isinstance(status, Status):
            raise TypeError(f"Status of {type(status).__name__}")
        made = object.__new__(cls)
        made._of = library.Status() if status is None else status._copy()
        return made

    _of: library.Status

    def __init__(self, *_: Any) -> None:
        pass

    def _copy(self) -> library.Status:
        one = self._of
        return library.Status(one.source, one.tag, one.count, one.error, one.cancelled)

    def _set(self, found: library.Status) -> None:
        """What a call has found."""
        self._of = library.Status(found.source, found.tag, found.count, found.error,
                                  found.cancelled)

    def __eq__(self, other: object) -> bool:
        return self._of == other._of if isinstance(other, Status) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return type(self), (), self.__getstate__()

    def __getstate__(self) -> dict[str, int]:
        one = self._of
        return {"source": one.source, "tag": one.tag, "error": one.error, "count": one.count,
                "cancelled": int(one.cancelled)}

    def __setstate__(self, state: dict[str, int]) -> None:
        self._of = library.Status(state["source"], state["tag"], state["count"], state["error"],
                                  bool(state["cancelled"]))

    def Get_source(self) -> int:
        return self._of.source

    def Set_source(self, source: int) -> None:
        self._of.source = source

    def Get_tag(self) -> int:
        return self._of.tag

    def Set_tag(self, tag: int) -> None:
        self._of.tag = tag

    def Get_error(self) -> int:
        return self._of.error

    def Set_error(self, error: int) -> None:
        self._of.error = error

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
        return self._of.Get_count(datatype.inner)

    def Get_elements(self, datatype: Datatype) -> int:
        inner = datatype.inner
        if not inner.size:
            return 0 if not self._of.count else UNDEFINED
        return self._of.Get_elements(inner)

    def Set_elements(self, datatype: Datatype, count: int) -> None:
        inner = datatype.inner
        self._of.count = count * inner.size // max(inner.basic, 1)

    def Is_cancelled(self) -> bool:
        return self._of.cancelled

    def Set_cancelled(self, flag: bool) -> None:
        self._of.cancelled = bool(flag)

    @property
    def cancelled(self) -> bool:
        return self._of.cancelled

    @cancelled.setter
    def cancelled(self, flag: bool) -> None:
        self._of.cancelled = bool(flag)
