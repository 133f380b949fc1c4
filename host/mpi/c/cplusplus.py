"""Compiles sources in C++. The C++ library is compiled with the first of them, which takes a
while."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from ....firmware import tools

__all__ = ["LIBRARY", "STANDARD", "SUFFIXES", "library_is_there", "tell_first"]

STANDARD = re.compile(r"-std=(c|gnu)\+\+")
"""Begins an option that is for C++ alone: files in C do not get it, nor those in C++ one for C."""
SUFFIXES = (".cc", ".cpp", ".cxx", ".C", ".c++", ".cp", ".CPP")
LIBRARY = "-lc++"
"""Option by which a program gets the library, and its headers."""


def _stamp() -> Path:
    """A file in the compiler's cache that is there once a program in C++ was compiled."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        compiler = version("ziglang")
    except PackageNotFoundError:
        compiler = "unknown"
    return Path(tools.own()["ZIG_GLOBAL_CACHE_DIR"]) / f"nicbed-libc++-{compiler}"


def tell_first(files: Sequence[Path], tell: Callable[[str], None]) -> None:
    """Tell that it takes long to compile ``files``, if it does."""
    if not _stamp().exists():
        tell(f"compiling {files[0].name}; the first program in C++ takes about a minute, as the "
             "C++ library is compiled")


def library_is_there() -> None:
    """A program in C++ has been compiled."""
    with suppress(OSError):
        _stamp().touch()
