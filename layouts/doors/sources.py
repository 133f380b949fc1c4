"""Finds the files on which an object from outside depends, and makes one hash of their bytes."""

import ast
import hashlib
import importlib.machinery
import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from .verilog_names import named_files

__all__ = ["OTHER", "digest", "files_of", "imported_files", "module_file", "python_files"]

OTHER = (".v", ".sv", ".vh", ".svh", ".c", ".h", ".S", ".ld", ".cpp", ".hex", ".mem")
"""Suffixes of sources that Python does not import: of each, all files in an object's folder and
below count."""
MOST = 10_000
"""Most entries of a folder, with those of its own folders, that are looked at."""
_VERILOG = (".v", ".sv", ".vh", ".svh")
_INSTALLED = tuple(sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib"))


def files_of(file: Path, top: str = "") -> tuple[Path, ...]:
    """The files on which an object in ``file`` depends: the file, the modules that it imports from
    its folder and from elsewhere, without installed ones, and the sources beside it that are no
    Python, with the files that Verilog among them names, wherever they are. If the folder is a
    package, all of its modules are among them, without tests. ``top``: an installed package whose
    modules count all the same.

    Raises
    ------
    ValueError
        The folder has too many entries to look at.
    """
    folder = file.parent
    found = {file, *imported_files(file, top)}
    if (folder / "__init__.py").is_file():
        found |= set(python_files(folder))
    if file.suffix == ".py":
        found |= set(_walk(folder, OTHER))
    found |= {*named_files([one for one in found if one.suffix in _VERILOG])}
    return tuple(sorted(found))


def python_files(folder: Path) -> list[Path]:
    """The modules in ``folder``; if it is a package, in its folders too, without tests."""
    if (folder / "__init__.py").is_file():
        return sorted(_walk(folder, (".py",)))
    return sorted(folder.glob("*.py"))


def _walk(folder: Path, suffixes: Sequence[str]) -> Iterator[Path]:
    entries = 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in
                            ("__pycache__", "tests")
                            and not Path(place, name, "pyvenv.cfg").exists())
        entries += len(folders) + len(names)
        if entries > MOST:
            raise ValueError(f"{folder} has more than {MOST:,} files in it: an object with sources "
                             "beside it needs a folder of its own")
        for name in names:
            if name.endswith(tuple(suffixes)) and not name.startswith("test_"):
                yield Path(place, name)


def imported_files(file: Path, top: str = "") -> list[Path]:
    """The files of the modules that ``file`` imports, recursively, without nicbed's own and
    installed ones. ``top``: as of :func:`files_of`."""
    found: dict[Path, None] = {}
    left = [file]
    while left:
        here = left.pop()
        if here in found or here.suffix != ".py":
            continue
        found[here] = None
        with suppress(OSError, SyntaxError, ValueError):  # the import tells of it
            left += _imports(here, top)
    return sorted(found.keys() - {file})


def _imports(file: Path, top: str) -> Iterator[Path]:
    for node in ast.walk(ast.parse(file.read_bytes())):
        names: list[str] = []
        base: Path | None = None
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names = [f"{module}.{alias.name}".lstrip(".") for alias in node.names] + [module]
            if node.level:
                base = file.parents[node.level - 1]
        for name in filter(None, names):
            yield from _along(base, name.split(".")) if base else _absolute(name, top)


def _absolute(name: str, top: str) -> Iterator[Path]:
    first, *rest = name.split(".")
    if first == "nicbed" or first in sys.stdlib_module_names:
        return
    spec = None
    with suppress(ImportError, ValueError):
        spec = importlib.util.find_spec(first)
    for place in _places(spec):
        if first == top or not str(place).startswith(_INSTALLED):
            yield from [place] if place.is_file() else []
            yield from _along(place.parent if place.is_file() else place, rest)


def _places(spec: importlib.machinery.ModuleSpec | None) -> Iterable[Path]:
    """The file of a module, or the folders of a package without one."""
    if spec is None:
        return []
    if spec.origin and spec.origin.endswith(".py"):
        return [Path(spec.origin)]
    return [Path(place) for place in spec.submodule_search_locations or ()]


def _along(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """The files of the packages and of the module on the way from ``folder`` along ``names``."""
    for name in names:
        for file in (folder / f"{name}.py", folder / name / "__init__.py"):
            if file.is_file():
                yield file
        folder = folder / name


def module_file(name: str) -> Path | None:
    """The file of module ``name``, whose packages are imported for it; None if there is none."""
    spec = None
    with suppress(ImportError, ValueError):
        spec = importlib.util.find_spec(name)
    return next((place for place in _places(spec) if place.is_file()), None)


def digest(files: Iterable[Path], root: Path, further: Iterable[str] = ()) -> str:
    """A hash of the names, below ``root``, and the bytes of ``files``, and of ``further`` texts. It
    is the same wherever the folder lies."""
    found = hashlib.sha256()
    for file in files:
        found.update(os.path.relpath(file, root).encode() + b"\0")
        found.update(hashlib.sha256(file.read_bytes()).digest())
    for text in further:
        found.update(text.encode() + b"\0")
    return found.hexdigest()
