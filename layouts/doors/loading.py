"""Loads the Python file of an object from outside: its folder becomes a package of its own."""

import hashlib
import importlib
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from .sources import python_files

__all__ = ["PACKAGE", "load_file", "said", "shown"]

PACKAGE = "nicbed_outside_"
"""Begin of the names of the packages that folders become."""


def load_file(file: Path) -> ModuleType:
    """The module in ``file``. Its folder is a package under a name that no other has, so that the
    module imports its neighbours by ``from .other import …``. It is loaded anew when a module of
    the folder has changed.

    Raises
    ------
    Exception
        What the module raises.
    """
    folder = file.parent
    state = hashlib.sha256(str(folder).encode())
    for each in python_files(folder):
        state.update(each.name.encode() + b"\0" + each.read_bytes())
    package = f"{PACKAGE}{state.hexdigest()[:16]}"
    with _no_bytecode():
        try:
            if package not in sys.modules:
                _make_package(package, folder)
            if file.name == "__init__.py":
                return sys.modules[package]
            return importlib.import_module(f"{package}.{file.stem}")
        except BaseException:
            for name in [name for name in sys.modules if name.split(".")[0] == package]:
                del sys.modules[name]
            raise


def _make_package(name: str, folder: Path) -> None:
    init = folder / "__init__.py"
    if not init.is_file():
        made = ModuleType(name, f"The modules in {folder}.")
        made.__path__ = [str(folder)]
        sys.modules[name] = made
        return
    spec = spec_from_file_location(name, init, submodule_search_locations=[str(folder)])
    assert spec is not None and spec.loader is not None
    sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])


@contextmanager
def _no_bytecode() -> Iterator[None]:
    """Compiled modules are known by a time in seconds: of a file that changes twice in one, the
    older would be kept."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def said(error: BaseException, file: Path | None) -> str:
    """One line about an ``error`` of a user's module: file and line, then what it says. The line is
    the last one of the folder of ``file``; without it, or outside of the folder, of any file."""
    text = str(error) or type(error).__name__
    if isinstance(error, SyntaxError) and error.filename:
        return f"{shown(Path(error.filename))}:{error.lineno}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if file and Path(one.filename).is_relative_to(file.parent)]
    outer = [one for one in frames if not one.filename.startswith("<")
             and not Path(one.filename).is_relative_to(Path(__file__).parent)
             and not Path(one.filename).is_relative_to(Path(importlib.__file__).parent)]
    last = (own or outer or [None])[-1]
    place = f"{shown(Path(last.filename))}:{last.lineno}: " if last else ""
    also = ""
    if isinstance(error, ModuleNotFoundError) and file and error.name:
        first = error.name.split(".")[0]
        if (file.parent / f"{first}.py").is_file() or (file.parent / first).is_dir():
            also = f"; a module of the same folder is imported by from .{first} import …"
    return " ".join(f"{place}{type(error).__name__}: {text}{also}".split())


def shown(file: Path) -> str:
    """``file`` as a user would write it: from the current directory, if it is in there."""
    try:
        below = file.relative_to(Path.cwd())
    except (ValueError, OSError):
        return str(file)
    return f"./{below}"
