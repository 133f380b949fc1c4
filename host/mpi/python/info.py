"""Info: keys and values that a program may give, and that have no effect here."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from .. import info as library
from ..sync import current
from .errors import CLASSES, Exception, told
from .handles import Handle

__all__ = ["INFO_ENV", "INFO_NULL", "Info"]

Own = TypeVar("Own", bound="Info")
_NO = object()


class _Env:
    """The info that INFO_ENV stands for: each rank has its own."""


class Info(Handle):
    """Texts by name."""

    @property
    def _table(self) -> library.Info:
        if self._of is None:
            raise Exception(CLASSES["ERR_INFO"])
        return self._texts

    @property
    def _texts(self) -> library.Info:
        if isinstance(self._of, _Env):
            return current().keep("INFO_ENV", library.Info)
        return library.Info() if self._of is None else self._of

    @classmethod
    def Create(cls: type[Own], items: Any = None) -> Own:
        made = cls.standing_for(library.Info())
        made.update(items or ())
        return made

    @classmethod
    def Create_env(cls: type[Own], args: Any = None) -> Own:
        return cls.standing_for(library.Info())

    def Free(self) -> None:
        self._table  # noqa: B018 — refuses the null handle
        if self._of is INFO_ENV._of:
            raise Exception(CLASSES["ERR_INFO"])
        self._of = None

    def Dup(self: Own) -> Own:
        return type(self).standing_for(library.Info(self._table))

    def Get(self, key: str) -> str | None:
        with told():
            return self._table.get(library.checked(key))
        raise AssertionError

    def Set(self, key: str, value: str) -> None:
        with told():
            self._table.put(key, value)

    def Delete(self, key: str) -> None:
        with told():
            self._table.remove(key)

    def Get_nkeys(self) -> int:
        return len(self._table)

    def Get_nthkey(self, n: int) -> str:
        with told():
            return self._table.key(n)
        raise AssertionError

    def __reduce__(self) -> Any:
        if self and not self.is_predefined:
            return type(self).Create, (self.items(),)
        return super().__reduce__()

    # As a mapping

    def __len__(self) -> int:
        return len(self._texts)

    def __contains__(self, key: str) -> bool:
        return bool(self) and self.Get(key) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __getitem__(self, key: str) -> str:
        found = self.Get(key) if self else None
        if found is None:
            raise KeyError(key)
        return found

    def __setitem__(self, key: str, value: str) -> None:
        if not self:
            raise KeyError(key)
        self.Set(key, value)

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self.Delete(key)

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default

    def keys(self) -> list[str]:
        return list(self._texts)

    def values(self) -> list[str]:
        return list(self._texts.values())

    def items(self) -> list[tuple[str, str]]:
        return list(self._texts.items())

    def update(self, items: Any = (), **named: str) -> None:
        if not self:
            raise KeyError("update")
        pairs: Iterable[tuple[str, str]] = (
            [(key, items[key]) for key in items] if isinstance(items, Mapping | Info) else items)
        for key, value in [*pairs, *named.items()]:
            self.Set(key, value)

    def pop(self, key: str, default: Any = _NO) -> Any:
        if key in self:
            found = self[key]
            self.Delete(key)
            return found
        if default is _NO:
            raise KeyError(key)
        return default

    def popitem(self) -> tuple[str, str]:
        if not len(self):
            raise KeyError("popitem")
        key = self.keys()[-1]
        return key, self.pop(key)

    def copy(self: Own) -> Own:
        return self.Dup() if self else type(self)()

    def clear(self) -> None:
        self._texts.clear()


INFO_NULL = Info()
INFO_ENV = Info.standing_for(_Env())
