"""Operations, on buffers and on objects."""

from collections.abc import Callable
from typing import Any, TypeVar

from ..data import operators
from ..data.operators import Bytes
from ..sync import current
from .datatypes import handle_of
from .errors import CLASSES, Exception, told
from .handles import Handle
from .memory import buffer
from .messages import simple

__all__ = ["Op"]

Own = TypeVar("Own", bound="Op")


def _located(better: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    def choose(x: Any, y: Any) -> Any:
        (value, place), (other, at) = x, y
        if value == other:
            return x if place <= at else y
        return x if better(value, other) else y
    return choose


_ON_OBJECTS: dict[str, Callable[[Any, Any], Any]] = {
    "MAX": lambda x, y: y if y > x else x, "MIN": lambda x, y: y if y < x else x,
    "SUM": lambda x, y: x + y, "PROD": lambda x, y: x * y,
    "LAND": lambda x, y: bool(x) & bool(y), "BAND": lambda x, y: x & y,
    "LOR": lambda x, y: bool(x) | bool(y), "BOR": lambda x, y: x | y,
    "LXOR": lambda x, y: bool(x) ^ bool(y), "BXOR": lambda x, y: x ^ y,
    "MAXLOC": _located(lambda x, y: x > y), "MINLOC": _located(lambda x, y: x < y),
    "REPLACE": lambda x, y: y, "NO_OP": lambda x, y: x,
}


class _Function(operators.OnElements):
    """An operation of the program's own, ``on_buffers(in, inout, datatype)``."""

    __slots__ = ("on_buffers",)

    def __init__(self, on_buffers: Callable[..., None], commutes: bool) -> None:
        super().__init__(self._call, commutes, "function")
        self.on_buffers = on_buffers

    def _call(self, first: Bytes, second: Bytes, count: int, datatype: Any) -> None:
        length = count * datatype.extent
        self.on_buffers(*(buffer(data[origin:origin + length]) for data, origin in (first, second)),
                        handle_of(datatype))


class Op(Handle):
    """An operation."""

    @property
    def inner(self) -> operators.Op:
        """The library's operation."""
        if self._of is None:
            raise Exception(CLASSES["ERR_OP"])
        return self._of

    @classmethod
    def Create(cls: type[Own], function: Callable[..., None], commute: bool = False) -> Own:
        return cls.standing_for(_Function(function, commute))

    def __call__(self, x: Any, y: Any) -> Any:
        if not self:
            raise ValueError("the null operation has no result")
        inner = self.inner
        if not isinstance(inner, _Function):
            return _ON_OBJECTS[inner.name](x, y)
        inner.on_buffers(x, y, None)
        return y

    def __reduce__(self) -> Any:
        inner = self._of
        if isinstance(inner, _Function):
            return type(self).Create, (inner.on_buffers, inner.commutes)
        return super().__reduce__()

    def Free(self) -> None:
        if self.is_predefined:
            raise Exception(CLASSES["ERR_OP"])
        self.inner  # noqa: B018 — refuses the null handle
        self._of = None

    def Is_commutative(self) -> bool:
        return self.inner.commutes

    is_commutative = property(Is_commutative)

    @property
    def is_predefined(self) -> bool:
        return not isinstance(self._of, _Function)

    def Reduce_local(self, inbuf: Any, inoutbuf: Any) -> None:
        first, second = simple(inbuf, True), simple(inoutbuf, False)
        if first[1:] != second[1:]:
            raise ValueError("Reduce_local: the buffers are not alike")
        with told():
            current().mpi.reduce_local(self.inner, first, second)
