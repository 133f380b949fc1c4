"""Attributes that programs attach to communicators and datatypes, by key."""

import builtins
import itertools
import traceback
from collections.abc import Callable
from typing import Any

from ..sync import current
from .errors import CLASSES, Exception
from .handles import Handle

__all__ = ["Attributed", "Keyvals"]

FIRST = 1000
INVALID = 0


class Keyvals:
    """A rank's keys of one kind of object."""

    def __init__(self) -> None:
        self._numbers = itertools.count(FIRST)
        self._functions: dict[int, tuple[Callable[..., Any] | None, Callable[..., Any] | None]] = {}
        self._freed: set[int] = set()

    def create(self, copy: Callable[..., Any] | None, delete: Callable[..., Any] | None) -> int:
        number = next(self._numbers)
        self._functions[number] = copy, delete
        return number

    def free(self, keyval: int) -> None:
        """No attribute may be set by the key any more. Those that there are keep it."""
        self.check_open(keyval)
        self._freed.add(keyval)

    def check_open(self, keyval: int) -> None:
        """Refuse a key that there is not, or that was freed."""
        self.check(keyval)
        if keyval in self._freed:
            raise Exception(CLASSES["ERR_KEYVAL"])

    def check(self, keyval: int) -> None:
        """Refuse a key that there is not."""
        if keyval not in self._functions:
            raise Exception(CLASSES["ERR_KEYVAL"])

    def copied(self, owner: Any, attributes: dict[int, Any]) -> dict[int, Any]:
        """The attributes of a duplicate: those whose function gives a value."""
        found = {}
        for keyval, value in attributes.items():
            copy = self._functions[keyval][0]
            if copy is True:
                found[keyval] = value
            elif callable(copy):
                made = _asked(copy, owner, keyval, value)
                if made is not NotImplemented:
                    found[keyval] = made
        return found

    def deleted(self, owner: Any, keyval: int, value: Any) -> None:
        """An attribute goes."""
        delete = self._functions[keyval][1]
        if delete is not None:
            _asked(delete, owner, keyval, value)


def _asked(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a program's function gives. MPI knows nothing of its exceptions: they are printed."""
    try:
        return function(*arguments)
    except builtins.Exception:
        traceback.print_exc()
        raise Exception(CLASSES["ERR_OTHER"]) from None


class Attributed(Handle):
    """A handle of something that may have attributes, by key."""

    abstract = True

    @classmethod
    def _keyvals(cls) -> Keyvals:
        return current().keep(f"keys of {cls.kind().__name__}", Keyvals)

    @property
    def _attributes(self) -> dict[int, Any]:
        raise NotImplementedError

    @classmethod
    def Create_keyval(cls, copy_fn: Any = None, delete_fn: Callable[..., Any] | None = None,
                      nopython: bool = False) -> int:
        return cls._keyvals().create(copy_fn, delete_fn)

    @classmethod
    def Free_keyval(cls, keyval: int) -> int:
        cls._keyvals().free(keyval)
        return INVALID

    def Get_attr(self, keyval: int) -> Any:
        attributes = self._attributes
        self._keyvals().check(keyval)
        return attributes.get(keyval)

    def Set_attr(self, keyval: int, attrval: Any) -> None:
        attributes = self._attributes
        self._keyvals().check_open(keyval)
        self._drop(keyval)
        attributes[keyval] = attrval

    def Delete_attr(self, keyval: int) -> None:
        self._keyvals().check(keyval)
        if not self._drop(keyval):
            raise Exception(CLASSES["ERR_OTHER"])

    def _drop(self, keyval: int) -> bool:
        attributes = self._attributes
        if keyval not in attributes:
            return False
        self._keyvals().deleted(self, keyval, attributes.pop(keyval))
        return True

    def _drop_all(self) -> None:
        for keyval in reversed(list(self._attributes)):
            self._drop(keyval)
