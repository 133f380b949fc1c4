"""Attributes: values that a program attaches to communicators, datatypes and windows, by key."""

import itertools
from collections.abc import Callable
from typing import Any

from ..errors import ErrorClass, MpiError

__all__ = ["Keyvals"]

Copy = Callable[[Any, int, Any], Any]
Delete = Callable[[Any, int, Any], Any]


class Keyvals:
    """A process's keys of one kind of object, numbered from ``first`` on.

    A key has two functions, each of the object, the key and the value. The one that copies gives
    the value of the duplicate, or NotImplemented for none; what they raise, the call that needs
    them raises. ``stays``: an attribute whose function fails to delete it is still there.
    """

    def __init__(self, first: int, *, stays: bool) -> None:
        self._stays = stays
        self._numbers = itertools.count(first)
        self._functions: dict[int, tuple[Copy | None, Delete | None]] = {}
        self._freed: set[int] = set()

    def create(self, copy: Copy | None, delete: Delete | None) -> int:
        """A new key; None: nothing is copied, nothing is called."""
        number = next(self._numbers)
        self._functions[number] = copy, delete
        return number

    def free(self, keyval: int) -> None:
        """No attribute may be set by the key any more. Those that there are keep it, and a program
        may free it again as long as it has another copy of the number."""
        self.check(keyval)
        self._freed.add(keyval)

    def check_open(self, keyval: int) -> None:
        """Refuse a key that there is not, or that was freed."""
        self.check(keyval)
        if keyval in self._freed:
            raise MpiError(ErrorClass.ERR_KEYVAL, f"key {keyval} was freed")

    def check(self, keyval: int) -> None:
        """Refuse a key that there is not."""
        if keyval not in self._functions:
            raise MpiError(ErrorClass.ERR_KEYVAL, f"{keyval} is no key of an attribute")

    # ``attributes`` are those of ``owner``, by key, in the order in which they were set

    def get(self, attributes: dict[int, Any], keyval: int) -> Any:
        """The value; None if there is none."""
        self.check(keyval)
        return attributes.get(keyval)

    def set(self, owner: Any, attributes: dict[int, Any], keyval: int, value: Any) -> None:
        """An attribute gets ``value``; one that it had is deleted."""
        self.check_open(keyval)
        if keyval in attributes:
            self._drop(owner, attributes, keyval)
        attributes[keyval] = value

    def delete(self, owner: Any, attributes: dict[int, Any], keyval: int) -> None:
        """An attribute goes.

        Raises
        ------
        MpiError
            There is none.
        """
        self.check(keyval)
        if keyval not in attributes:
            raise MpiError(ErrorClass.ERR_OTHER, f"there is no attribute of key {keyval}")
        self._drop(owner, attributes, keyval)

    def delete_all(self, owner: Any, attributes: dict[int, Any]) -> None:
        """All go, the latest first."""
        for keyval in reversed(list(attributes)):
            self._drop(owner, attributes, keyval)

    def _drop(self, owner: Any, attributes: dict[int, Any], keyval: int) -> None:
        delete, value = self._functions[keyval][1], attributes[keyval]
        if not self._stays:
            del attributes[keyval]
        if delete is not None:
            delete(owner, keyval, value)
        attributes.pop(keyval, None)

    def copied(self, owner: Any, attributes: dict[int, Any]) -> dict[int, Any]:
        """The attributes of a duplicate: those whose function gives a value."""
        found = {}
        for keyval, value in list(attributes.items()):
            copy = self._functions[keyval][0]
            made = NotImplemented if copy is None else copy(owner, keyval, value)
            if made is not NotImplemented:
                found[keyval] = made
        return found
