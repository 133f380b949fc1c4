"""The variables of the environment."""

import os
from collections.abc import Callable
from typing import Any

from ...sync import running

__all__ = ["Variables"]


class _Unchanged(dict[bytes, bytes]):
    """The variables that are ``given``, before a rank has changed one: tells of the first change.
    What is no rank's changes what is given, too."""

    def __init__(self, given: dict[bytes, bytes], changing: Callable[[], None]) -> None:
        super().__init__(given)
        self._given = given
        self._changing = changing

    def __setitem__(self, name: bytes, value: bytes) -> None:
        if running() is None:
            self._given[name] = value
            super().__setitem__(name, value)
        else:
            self._changing()
            _data()[name] = value

    def __delitem__(self, name: bytes) -> None:
        if running() is None:
            del self._given[name]
            super().__delitem__(name)
        else:
            self._changing()
            del _data()[name]


class _Changed(dict[bytes, bytes]):
    """Variables of a rank, which knows those that it has changed."""

    def __init__(self, given: dict[bytes, bytes]) -> None:
        super().__init__(given)
        self.changed: set[bytes] = set()

    def __setitem__(self, name: bytes, value: bytes) -> None:
        self.changed.add(name)
        super().__setitem__(name, value)

    def __delitem__(self, name: bytes) -> None:
        self.changed.add(name)
        super().__delitem__(name)


def _data() -> dict[bytes, bytes]:
    """What is behind os.environ and os.environb."""
    found: dict[bytes, bytes] = os.environ._data  # type: ignore[attr-defined]
    return found


def _place(data: dict[bytes, bytes]) -> None:
    os.environ._data = data  # type: ignore[attr-defined]
    os.environb._data = data  # type: ignore[attr-defined]


class Variables:
    """The environment of the process: ``os.environ``, and what C finds. A rank begins with the
    process's.

    Parameters
    ----------
    activate
        Called with this before a rank's first change.
    """

    def __init__(self, activate: Callable[[Any], None]) -> None:
        self._activate = activate
        self._before: dict[bytes, bytes] = {}

    def begin(self) -> None:
        """The run begins."""
        self._before = _data()
        _place(_Unchanged(self._before, lambda: self._activate(self)))

    def end(self) -> None:
        """The run has ended, and the process's state is in place."""
        _place(self._before)

    def fresh(self, rank: int) -> _Changed:
        return _Changed(self._before)

    def take(self) -> dict[bytes, bytes]:
        return _data()

    def put(self, state: dict[bytes, bytes]) -> None:
        now = _data()
        _place(state)
        for name in getattr(now, "changed", set()) | getattr(state, "changed", set()):
            value = state.get(name)
            if value == now.get(name):
                continue
            if value is None:
                os.unsetenv(name)
            else:
                os.putenv(name, value)
