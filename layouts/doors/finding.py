"""A door: it finds objects of a kind by name, built in or by an entry point, and by path.

What is built in comes through it as what is not: a line ``name = module:object``, in the form of
entry points, read when it is asked for. Nothing of what is installed is looked for until a name
is asked for that is not built in, or all of them are.
"""

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from ..errors import UserError, nearest
from .lazy import resolved
from .loading import load_file, said, shown
from .sources import digest, files_of, module_file

__all__ = ["BUILT_IN", "COPIES", "ENTRY_POINT", "PATH", "Door", "DoorError", "Found", "Named",
           "Origin"]

T = TypeVar("T")

BUILT_IN = "built in"
ENTRY_POINT = "entry point"
PATH = "path"
_NAME = re.compile(r"[a-z][a-z0-9]*([_-][a-z0-9]+)*")


class DoorError(UserError, ValueError):
    """An object is not there, or cannot be loaded; the message is one line."""


@dataclass(frozen=True)
class Origin:
    """The origin of an object: built in, an entry point or a path.

    Attributes
    ----------
    kind
        "built in", "entry point" or "path".
    text
        What ``nicbed list`` shows: "built in", the distribution with its version, or the path.
    """

    kind: str
    text: str


@dataclass(frozen=True)
class Found(Generic[T]):
    """An object that a door has found, loaded or not yet."""

    name: str
    origin: Origin
    _load: Callable[[], T] = field(repr=False, compare=False)

    def load(self) -> T:
        """The object.

        Raises
        ------
        DoorError
            It cannot be loaded, or is not what it should be.
        """
        return self._load()


class Named(str):
    """The name of an object from outside, with the object. As text it is the name alone, which
    says nothing of this machine.

    Two of the same name are equal if their sources have the same bytes.
    """

    door: "Door[Any]"
    plugin: Any
    origin: Origin
    sources: tuple[Path, ...]
    digest: str
    """A hash of the bytes of ``sources``, wherever they lie."""
    reference: str
    """By what the door finds it again: an absolute path, or the entry point's name."""

    @classmethod
    def make(cls, name: str, **about: Any) -> "Named":
        made = cls(name)
        made.__dict__.update(about)
        return made

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Named):
            return str.__eq__(self, other) and self.digest == other.digest
        return str.__eq__(self, other) if isinstance(other, str) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    @property
    def identity(self) -> str:
        """The object's part of the key of anything that depends on it: the same wherever its
        files lie, another one as soon as their bytes are others."""
        return f"{self.door.group} {self} {self.digest}"

    @property
    def folder(self) -> Path | None:
        """The folder of the file; None of one that an entry point brings."""
        return Path(self.reference).parent if self.origin.kind == PATH else None

    def __deepcopy__(self, memo: object) -> "Named":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.door.home, self.door.group, self.reference, self.digest)


class Door(Generic[T]):
    """Finds the objects of one kind.

    Parameters
    ----------
    kind
        What an object is, in messages: "NIC design".
    group
        The group of entry points: "nicbed.nics".
    builtin
        The objects that are built in, as lines ``name = module:object``.
    base
        Of what the objects are instances. A class of that kind is instantiated without arguments.
    home
        The module that has the door, which another process imports for it.
    readers
        Functions that make an object out of a file of another kind: a suffix, and "module:function"
        called with the file's path.
    """

    def __init__(self, kind: str, group: str, builtin: Sequence[str],
                 base: type[T] | tuple[type[T], ...],
                 readers: Mapping[str, str] | None = None, *,
                 home: str = "nicbed.layouts.doors") -> None:
        self.kind = kind
        self.home = home
        self.group = group
        self._base = base
        self._readers = dict(readers or {})
        self._builtin = {name.strip(): target.strip() for name, _, target in
                         (line.partition("=") for line in builtin)}
        self._loaded: dict[str, dict[str, Named]] = {}  # by name, then by reference
        self._own: dict[str, T] = {}
        _DOORS[group] = self

    @cached_property
    def _entries(self) -> dict[str, list[EntryPoint]]:
        found: dict[str, list[EntryPoint]] = {}
        for entry in entry_points(group=self.group):
            found.setdefault(entry.name, []).append(entry)
        return found

    def get(self, name: str, relative_to: Path | None = None) -> T:
        """The object called ``name``, or the one at the path ``name``, "./folder/file.py" or
        "./folder/file.py:Object", which is relative to the folder ``relative_to``, by default the
        current one.

        Raises
        ------
        DoorError
            There is none, there are several, or it cannot be loaded.
        """
        if isinstance(name, Named):
            return cast(T, name.plugin)
        if name in self._builtin:
            return self._get_own(name)
        return cast(T, self.resolve(name, relative_to).plugin)

    def resolve(self, name: str, relative_to: Path | None = None) -> "Named":
        """The :class:`Named` of an object from outside; otherwise as :meth:`get`."""
        if isinstance(name, Named):
            return name
        if self.is_path(name):
            return self._at(name, relative_to)
        entries = self._entries.get(name, [])
        if len(entries) > 1:
            raise DoorError(f"{name}: {len(entries)} distributions have a {self.kind} of this name "
                            f"(entry points {self.group}): "
                            f"{' and '.join(map(_distribution, entries))}")
        if entries and name not in self._builtin:
            return self._enter(entries[0])
        loaded = [*self._loaded.get(name, {}).values()]
        if len(loaded) > 1:
            raise DoorError(f"{name}: {len(loaded)} of this name were loaded, from "
                            f"{' and '.join(one.origin.text for one in loaded)}: give the path")
        if loaded:
            return loaded[0]
        raise DoorError(f"no {self.kind} is called {name}{nearest(name, self.names())}"
                        f"; one of your own is given by its path, ./{name}.py")

    @property
    def builtin(self) -> tuple[str, ...]:
        """Names of the objects that are built in."""
        return tuple(self._builtin)

    def loaded(self) -> list["Named"]:
        """The objects from outside that have been loaded, the last one of each name."""
        return [[*same.values()][-1] for same in self._loaded.values()]

    def is_builtin(self, name: str) -> bool:
        """Tells whether ``name`` is that of an object that is built in."""
        return not isinstance(name, Named) and name in self._builtin

    def is_loaded(self, name: str) -> bool:
        """Tells whether the object ``name``, which is built in, was asked for already."""
        return name in self._own

    def is_path(self, name: str) -> bool:
        """Tells whether ``name`` is a path, not a name."""
        file = _split(name)[0]
        return "/" in file or "\\" in file or Path(file).suffix in (".py", *self._readers)

    def names(self) -> list[str]:
        """All names: built in, then of entry points, then of what was loaded by path."""
        return list(dict.fromkeys([*self._builtin, *self._entries, *self._loaded]))

    def found(self) -> list[Found[T]]:
        """All objects, none of them loaded for it. One that cannot be loaded is among them: its
        :meth:`Found.load` tells why."""
        own = [Found(name, Origin(BUILT_IN, BUILT_IN), lambda name=name: self._get_own(name))
               for name in self._builtin]
        entered = [Found(entry.name, Origin(ENTRY_POINT, _distribution(entry)),
                         lambda entry=entry: self._checked_entry(entry))
                   for entries in self._entries.values() for entry in entries]
        loaded = [Found(str(one), one.origin, lambda one=one: cast(T, one.plugin))
                  for same in self._loaded.values() for one in same.values()
                  if one.origin.kind == PATH]
        return [*own, *entered, *loaded]

    def working(self) -> list[tuple[str, T]]:
        """The objects that can be loaded, loaded, with their names."""
        made = []
        for one in self.found():
            with suppress(DoorError):
                made.append((one.name, one.load()))
        return made

    def sources(self, name: str) -> tuple[Path, ...]:
        """The files whose bytes the object depends on; none of one that is built in.

        Raises
        ------
        DoorError
            As of :meth:`get`.
        """
        return () if self.is_builtin(name) else self.resolve(name).sources

    def _get_own(self, name: str) -> T:
        if name not in self._own:
            self._own[name] = resolved(self._builtin[name])
        return self._own[name]

    def _checked_entry(self, entry: EntryPoint) -> T:
        if entry.name in self._builtin:
            raise DoorError(f"{_distribution(entry)}: {self.kind} {entry.name}: a {self.kind} of "
                            "this name is built in")
        return cast(T, self.resolve(entry.name).plugin)

    def _enter(self, entry: EntryPoint) -> "Named":
        if entered := self._loaded.get(entry.name, {}).get(entry.name):
            return entered
        where = f"{_distribution(entry)}: entry point {entry.name} = {entry.value} ({self.group})"
        try:
            target = entry.load()
        except Exception as error:  # any of the user's module
            raise DoorError(f"{where}: {said(error, _file_of(entry))}") from error
        file = _file_of(entry)
        sources = files_of(file, entry.module.split(".")[0]) if file else ()
        return self._keep(self._instance(target, where), where, entry.name,
                          Origin(ENTRY_POINT, _distribution(entry)), sources,
                          digest(sources, file.parent if file else Path(), [_distribution(entry)]),
                          entry.name)

    def _at(self, name: str, relative_to: Path | None) -> "Named":
        text, target = _split(name)
        given = Path(text).expanduser()
        file = Path(relative_to or Path.cwd(), given).resolve()
        if file.is_dir():
            raise DoorError(f"{name}: is a folder: a {self.kind} is in a file, such as "
                            f"{text.rstrip('/')}/design.py")
        if not file.is_file():
            beside = sorted(one.name for one in file.parent.glob(f"*{file.suffix}"))
            raise DoorError(f"{name}: there is no file {shown(file)}"
                            f"{nearest(file.name, beside) if beside else ''}")
        try:
            sources = files_of(file)
            hashed = digest(sources, file.parent, [target])
        except (OSError, ValueError) as error:
            raise DoorError(f"{name}: {error}") from None
        reference = f"{file}:{target}" if target else str(file)
        for same in self._loaded.values():
            if reference in same and same[reference].digest == hashed:
                same[reference] = same.pop(reference)  # now the last one of its name
                return same[reference]
        found = self._read(name, file) if file.suffix in self._readers else \
            self._pick(name, file, target)
        return self._keep(found, name, None, Origin(PATH, shown(file) + (f":{target}" if target
                                                                        else "")),
                          sources, hashed, reference)

    def _read(self, name: str, file: Path) -> T:
        try:
            return cast(T, resolved(self._readers[file.suffix])(file))
        except UserError:
            raise
        except (OSError, ValueError) as error:
            raise DoorError(f"{name}: {error}") from None

    def _pick(self, name: str, file: Path, target: str) -> T:
        if file.suffix != ".py":
            raise DoorError(f"{name}: a {self.kind} is in a file of Python (.py"
                            f"{''.join(f', {one}' for one in self._readers)})")
        try:
            module = load_file(file)
        except Exception as error:  # any of the user's module
            raise DoorError(f"{name}: {said(error, file)}") from error
        if target:
            if not hasattr(module, target):
                names = self._candidates(module) or [one for one in vars(module)
                                                     if not one.startswith("_")]
                raise DoorError(f"{name}: {shown(file)} has no {target}{nearest(target, names)}")
            return self._instance(getattr(module, target), name, file)
        names = self._candidates(module)
        if len(names) != 1:
            some = f"{len(names)} of them, {' and '.join(names)}: say which, {name}:{names[0]}" \
                if names else f"no {self.kind} in it (an object or a class of {self._bases()})"
            raise DoorError(f"{name}: {shown(file)} has {some}")
        return self._instance(getattr(module, names[0]), name, file)

    def _candidates(self, module: Any) -> list[str]:
        """The names of the objects of the kind in ``module``; if there are none, of the classes
        that it declares."""
        objects = {id(value): name for name, value in reversed(vars(module).items())
                   if isinstance(value, self._base) and not name.startswith("_")}
        if objects:
            return sorted(objects.values())
        return [name for name, value in vars(module).items() if isinstance(value, type)
                and issubclass(value, self._base) and value.__module__ == module.__name__
                and not name.startswith("_")]

    def _instance(self, target: Any, where: str, file: Path | None = None) -> T:
        if isinstance(target, type) and issubclass(target, self._base):
            try:
                target = target()
            except Exception as error:  # any of the user's class
                raise DoorError(f"{where}: {said(error, file)}") from error
        if not isinstance(target, self._base):
            raise DoorError(f"{where}: must be an object or a class of {self._bases()}, not "
                            f"{type(target).__name__}")
        return target

    def _keep(self, found: T, where: str, name: str | None, origin: Origin,
              sources: tuple[Path, ...], hashed: str, reference: str) -> "Named":
        own: Any = getattr(found, "name", None)
        if not isinstance(own, str) or not _NAME.fullmatch(own):
            raise DoorError(f"{where}: name = {own!r}: a {self.kind} has a name of small letters, "
                            "digits and underscores")
        if name is not None and own != name:
            raise DoorError(f"{where}: the object's name is {own}: it must be that of the entry "
                            "point")
        if own in self._builtin:
            raise DoorError(f"{where}: name = {own!r}: a {self.kind} of this name is built in")
        made = Named.make(own, door=self, plugin=found, origin=origin, sources=sources,
                          digest=hashed, reference=reference)
        self._loaded.setdefault(own, {})[reference] = made
        return made

    def _bases(self) -> str:
        bases = self._base if isinstance(self._base, tuple) else (self._base,)
        return " or ".join(base.__name__ for base in bases)


_DOORS: dict[str, Door[Any]] = {}


def doors() -> tuple[Door[Any], ...]:
    """All doors that were made, in the order in which they were."""
    return tuple(_DOORS.values())


COPIES: list[Path] = []
"""Folders with sources of objects that came from another machine, in folders of their digests."""


def _again(home: str, group: str, reference: str, hashed: str) -> Named:
    """A :class:`Named` in another process, whose sources must be the same: those that it was made
    of, or a copy."""
    importlib.import_module(home)
    copy = next((copies / hashed for copies in COPIES if (copies / hashed).is_dir()), None)
    found = _DOORS[group].resolve(str(copy / Path(reference).name) if copy else reference)
    if found.digest != hashed:
        raise DoorError(f"{found}: {found.origin.text} has changed since it was named")
    return found


def _split(name: str) -> tuple[str, str]:
    """A path and the object in it: "./a.py:B" is "./a.py" and "B"."""
    file, colon, target = name.rpartition(":")
    return (file, target) if colon and target.isidentifier() else (name, "")


def _distribution(entry: EntryPoint) -> str:
    dist = entry.dist
    return f"{dist.name} {dist.version}" if dist else "an unknown distribution"


def _file_of(entry: EntryPoint) -> Path | None:
    return module_file(entry.module)
