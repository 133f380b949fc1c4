"""Finds the line of code from outside that an exception comes from."""

import gc
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from .finding import doors
from .loading import PACKAGE, shown

__all__ = ["blamed", "place"]

_SIGNATURE = re.compile(r"([\w.<>]+)\(\) (got|takes|missing|argument after)\b")

_DEPTH = 5
_MOST = 50_000
"""So far, and at so many objects, is looked for what a frame may have called."""


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
    the one that was loaded last, of those that the caller could reach."""
    said = _SIGNATURE.match(str(error)) if isinstance(error, TypeError) else None
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if said is None or not frames:
        return None
    meant = {*_within_reach(frames[-1], said[1].rpartition(".")[2])}
    for module in reversed([*_modules()]):
        found: Any = module
        for part in said[1].split("."):
            found = getattr(found, part, None)
        code = getattr(found, "__code__", None)
        if isinstance(code, CodeType) and code in meant:
            return code
    return None


def _within_reach(frame: FrameType, name: str) -> Iterator[CodeType]:
    """The functions called ``name`` that the code of ``frame`` may have called: of its variables,
    and of what these hold."""
    words = frame.f_code.co_names
    layer = [*frame.f_locals.values(),
             *(frame.f_globals[word] for word in words if word in frame.f_globals)]
    seen: set[int] = set()
    for _ in range(_DEPTH):
        held: list[Any] = []
        for one in layer:
            if id(one) in seen or len(seen) > _MOST:
                continue
            seen.add(id(one))
            kind = one if isinstance(one, type) else type(one)
            found = one if isinstance(one, FunctionType) else getattr(kind, name, None)
            if isinstance(code := getattr(found, "__code__", None), CodeType):
                yield code
            if not isinstance(one, (ModuleType, type, FunctionType)):
                held += gc.get_referents(one)
                for word in words:
                    if isinstance(getattr(kind, word, None), property):
                        with suppress(Exception):
                            held.append(getattr(one, word))
        layer = held


def _judged(error: BaseException) -> CodeType | None:
    """The function whose result Amaranth refused: its ``elaborate``."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    code = frames[-1].f_locals.get("code") if frames else None
    return code if isinstance(code, CodeType) else None
