"""Attributes that programs attach to communicators and datatypes, by key."""

import itertools
from collections.abc import Callable
from typing import Any

from .errors import CLASSES, Exception

__all__ = ["Keyvals"]

FIRST = 1000


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
