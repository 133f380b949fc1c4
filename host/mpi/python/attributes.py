"""Attributes that programs attach to communicators and datatypes, by key."""

import builtins
import traceback
from collections.abc import Callable
from typing import Any

from ..communicators.attributes import Keyvals
from ..errors import ErrorClass, MpiError
from ..sync import current
from .errors import told
from .handles import Handle

__all__ = ["Attributed"]

FIRST = 1000
INVALID = 0


def _asked(function: Callable[..., Any]) -> Callable[..., Any]:
    """A program's function. MPI knows nothing of its exceptions: they are printed."""
    def ask(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except builtins.Exception:
            traceback.print_exc()
            raise MpiError(ErrorClass.ERR_OTHER, "a function of attributes failed") from None
    return ask


class Attributed(Handle):
    """A handle of something that may have attributes, by key."""

    abstract = True

    @classmethod
    def _keyvals(cls) -> Keyvals:
        return current().keep(f"keys of {cls.kind().__name__}",
                              lambda: Keyvals(FIRST, stays=False))

    @property
    def _attributes(self) -> dict[int, Any]:
        raise NotImplementedError

    @classmethod
    def Create_keyval(cls, copy_fn: Any = None, delete_fn: Callable[..., Any] | None = None,
                      nopython: bool = False) -> int:
        copy = (lambda _owner, _keyval, value: value) if copy_fn is True else (
            _asked(copy_fn) if callable(copy_fn) else None)
        return cls._keyvals().create(copy, None if delete_fn is None else _asked(delete_fn))

    @classmethod
    def Free_keyval(cls, keyval: int) -> int:
        keyvals = cls._keyvals()
        with told():
            keyvals.check_open(keyval)
            keyvals.free(keyval)
        return INVALID

    def Get_attr(self, keyval: int) -> Any:
        attributes = self._attributes
        with told():
            return self._keyvals().get(attributes, keyval)
        raise AssertionError

    def Set_attr(self, keyval: int, attrval: Any) -> None:
        attributes = self._attributes
        with told():
            self._keyvals().set(self, attributes, keyval, attrval)

    def Delete_attr(self, keyval: int) -> None:
        attributes = self._attributes
        with told():
            self._keyvals().delete(self, attributes, keyval)

    def _copied(self) -> dict[int, Any]:
        """The attributes of a duplicate."""
        attributes = self._attributes
        with told():
            return self._keyvals().copied(self, attributes)
        raise AssertionError

    def _drop_all(self) -> None:
        attributes = self._attributes
        with told():
            self._keyvals().delete_all(self, attributes)
