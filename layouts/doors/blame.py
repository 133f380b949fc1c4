"""Finds the line of code from outside that an exception comes from."""

import re
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from .finding import doors
from .loading import PACKAGE, shown

__all__ = ["blamed", "place"]

_SIGNATURE = re.compile(r"([\w.<>]+)\(\) (got|takes|missing|argument after)\b")


def blamed(error: BaseException) -> str | None:
    """One line about an ``error`` of code from outside: its file and line, and what the error says;
    None if no such code has part in it."""
    found = place(error)
    text = str(error) or type(error).__name__
    return found and " ".join(f"{found}: {type(error).__name__}: {text}".split())


def place(error: BaseException) -> str | None:
    """The file and line of code from outside that raised ``error``: the last one on the way to it;
    else the function that was called with other arguments than it takes, or that returned what it
    must not. None if there is none."""
    files = _files()
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    code = None if own else _signature(error) or _judged(error)
    if code is not None and code.co_filename in files:
        return f"{shown(Path(code.co_filename))}:{code.co_firstlineno}"
    return f"{shown(Path(own[-1].filename))}:{own[-1].lineno}" if own else None


def _files() -> set[str]:
    """The files of the objects from outside that this process has loaded."""
    return {file for module in _modules() if (file := _file(module))}


def _file(module: ModuleType) -> str | None:
    file: str | None = getattr(module, "__dict__", {}).get("__file__")  # imports nothing
    return file


def _modules() -> Iterator[ModuleType]:
    sources = {str(file) for door in doors() for one in door.loaded() for file in one.sources}
    for name, module in sys.modules.copy().items():
        if name.startswith(PACKAGE) or _file(module) in sources:
            yield module


def _signature(error: BaseException) -> CodeType | None:
    """The function that was called with arguments which it does not take: of several of this name
    the one that was loaded last."""
    said = _SIGNATURE.match(str(error)) if isinstance(error, TypeError) else None
    if said is None:
        return None
    for module in reversed([*_modules()]):
        found: Any = module
        for part in said[1].split("."):
            found = getattr(found, part, None)
        if isinstance(code := getattr(found, "__code__", None), CodeType):
            return code
    return None


def _judged(error: BaseException) -> CodeType | None:
    """The function whose result Amaranth refused: its ``elaborate``."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    code = frames[-1].f_locals.get("code") if frames else None
    return code if isinstance(code, CodeType) else None
