"""Attributes that programs attach to communicators and datatypes, by key."""

import itertools
from collections.abc import Callable
from typing import Any

from .errors import CLASSES, Exception
from .handles import Handle

__all__ = ["Attributed", "Keyvals"]

FIRST = 1000
INVALID = 0


class Keyvals:
    """Keys of one kind of object. All ranks share their numbers."""

    def __init__(self) -> None:
        self._numbers = itertools.count(FIRST)
        self._functions: dict[int, tuple[Callable[..., Any] | None, Callable[..., Any] | None]] = {}

    def create(self, copy: Callable[..., Any] | None, delete: Callable[..., Any] | None) -> int:
        number = next(self._numbers)
        self._functions[number] = copy, delete
        return number

    def check(self, keyval: int) -> None:
        """Refuse a key that there is not."""
        if keyval not in self._functions:
            raise Exception(CLASSES["ERR_KEYVAL"])

    def free(self, keyval: int) -> None:
        self.check(keyval)

    def copied(self, owner: Any, attributes: dict[int, Any]) -> dict[int, Any]:
        """The attributes of a duplicate: those whose function gives a value."""
        found = {}
        for keyval, value in attributes.items():
            copy = self._functions[keyval][0]
            if copy is True:
                found[keyval] = value
            elif callable(copy):
                made = copy(owner, keyval, value)
                if made is not NotImplemented:
                    found[keyval] = made
        return found

    def deleted(self, owner: Any, keyval: int, value: Any) -> None:
        """An attribute goes."""
        delete = self._functions[keyval][1]
        if delete is not None:
            delete(owner, keyval, value)


class Attributed(Handle):
    """A handle of something that may have attributes, by key."""

    abstract = True
    _keyvals: Keyvals

    @property
    def _attributes(self) -> dict[int, Any]:
        raise NotImplementedError

    @classmethod
    def Create_keyval(cls, copy_fn: Any = None, delete_fn: Callable[..., Any] | None = None,
                      nopython: bool = False) -> int:
        return cls._keyvals.create(copy_fn, delete_fn)

    @classmethod
    def Free_keyval(cls, keyval: int) -> int:
        cls._keyvals.free(keyval)
        return INVALID

    def Get_attr(self, keyval: int) -> Any:
        self._keyvals.check(keyval)
        return self._attributes.get(keyval)

    def Set_attr(self, keyval: int, attrval: Any) -> None:
        self._keyvals.check(keyval)
        self._drop(keyval)
        self._attributes[keyval] = attrval

    def Delete_attr(self, keyval: int) -> None:
        self._keyvals.check(keyval)
        if not self._drop(keyval):
            raise Exception(CLASSES["ERR_OTHER"])

    def _drop(self, keyval: int) -> bool:
        attributes = self._attributes
        if keyval not in attributes:
            return False
        self._keyvals.deleted(self, keyval, attributes[keyval])
        del attributes[keyval]
        return True

    def _drop_all(self) -> None:
        for keyval in reversed(list(self._attributes)):
            self._drop(keyval)
