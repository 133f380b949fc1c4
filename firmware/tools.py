"""The tools of PyPI that keep caches of their own: the compiler, Yosys; and Matplotlib.

The compiler's cache lies in nicbed's. Those of the others lie in the user's cache directory, where
other programs find them, too; if that cannot be written, they lie in nicbed's.
"""

import os
import sys
from pathlib import Path

from . import cache

__all__ = ["COMPILER", "environment", "folder", "matplotlib", "own"]

COMPILER = (sys.executable, "-m", "ziglang")
"""The command of zig; ``cc``, ``c++`` or ``objcopy`` follows."""


def folder() -> Path:
    """Tells where the tools' caches lie: a folder of this user's in nicbed's cache, because the
    tools cannot share theirs with another user; where the cache is only read, one for temporary
    files."""
    top = cache.root()
    return (top if cache.may_write(top) else cache.substitute()) / f"tools-{os.geteuid()}"


def own() -> dict[str, str]:
    """The variables that name the tools' caches, without those that the user has set.

    Raises
    ------
    CacheError
        There is no folder to write to.
    """
    place = folder()
    compiler = os.environ.get("ZIG_GLOBAL_CACHE_DIR") or str(place / "zig")
    found = {"ZIG_GLOBAL_CACHE_DIR": compiler, "ZIG_LOCAL_CACHE_DIR": compiler}
    if not cache.may_write(cache.of_user("wasmtime"), own=True):
        found["XDG_CACHE_HOME"] = str(place)  # wasmtime knows no other name,
        found["HOME"] = str(place)            # and looks for settings
    if not cache.may_write(cache.of_user("YoWASP"), own=True):
        found["YOWASP_CACHE_DIR"] = str(place / "YoWASP")
    kept = {"ZIG_LOCAL_CACHE_DIR", "YOWASP_CACHE_DIR"}
    return {name: value for name, value in found.items()
            if not (name in kept and os.environ.get(name))}


def matplotlib() -> dict[str, str]:
    """The variable that names Matplotlib's folder, if there is none that it finds by itself: it
    would print a warning. To be set before it is imported."""
    if os.environ.get("MPLCONFIGDIR") or cache.may_write(cache.of_user("matplotlib"), own=True):
        return {}
    return {"MPLCONFIGDIR": str(folder() / "matplotlib")}


def environment() -> dict[str, str]:
    """The environment in which such a tool is run.

    Raises
    ------
    CacheError
        There is no folder to write to.
    """
    return {**os.environ, **own()}
