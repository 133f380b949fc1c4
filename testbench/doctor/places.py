"""Folders that nicbed writes to: caches, results, temporary files."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ...firmware import cache, tools
from .finding import Finding, failed, found, lacking

__all__ = ["places"]

ROOM = 2 << 30
"""Bytes that a fresh cache takes, with some builds."""


def places() -> Iterator[Finding]:
    """A line for each folder."""
    try:
        root = cache.root()
        own = tools.environment()
    except cache.CacheError as error:
        yield failed("cache", str(error))
        return
    yield _cache(root)
    yield _results(root)
    yield _told("compiler's cache", Path(own["ZIG_GLOBAL_CACHE_DIR"]))
    home = Path(own["XDG_CACHE_HOME"]) if "XDG_CACHE_HOME" in own else None
    for name in ("wasmtime", "YoWASP"):
        place = home / name if home else cache.of_user(name)
        if name == "YoWASP" and own.get("YOWASP_CACHE_DIR"):
            place = Path(own["YOWASP_CACHE_DIR"])
        yield _told(f"{name}'s cache", place)
    yield _temporary()


def _cache(root: Path) -> Finding:
    name = "cache"
    why = ("NICBED_CACHE" if os.environ.get("NICBED_CACHE") else "the user's"
           if root == cache.of_user("nicbed") else "there is no home to write to")
    text = f"{root} ({why}), {_size(root)}, {_free(root)}"
    if not cache.may_write(root):
        return failed(name, f"{text}, cannot be written", cache.CHOOSE)
    if not cache.can_execute(root):
        return failed(name, f"{text}, mounted noexec: no simulator runs there", cache.CHOOSE)
    free = shutil.disk_usage(_existing(root)).free
    if free < cache.LEAST:
        return failed(name, f"{text}, the disk is full", "`nicbed store prune` makes room")
    if free < ROOM:
        return lacking(name, f"{text}, little room", "`nicbed store prune` makes room")
    return found(name, text)


def _results(root: Path) -> Finding:
    from ..store.store import NONE, VARIABLE

    chosen = os.environ.get(VARIABLE)
    if chosen == NONE:
        return lacking("results", f"none are kept ({VARIABLE}={NONE})")
    return _told("results", Path(chosen).absolute() if chosen else root / "results")


def _told(name: str, place: Path) -> Finding:
    text = f"{place}, {_size(place)}"
    return found(name, text) if cache.may_write(place) else lacking(
        name, f"{text}, cannot be written", cache.CHOOSE)


def _temporary() -> Finding:
    name = "temporary files"
    try:
        place = Path(tempfile.gettempdir())
    except OSError as error:
        return failed(name, error.strerror or str(error), "TMPDIR=FOLDER chooses another folder")
    text = f"{place}, {_free(place)}"
    if shutil.disk_usage(place).free < cache.LEAST:
        return failed(name, f"{text}, the disk is full", "TMPDIR=FOLDER chooses another folder")
    return found(name, text if cache.can_execute(place) else
                 f"{text}, mounted noexec: libraries are loaded out of the cache")


def _existing(place: Path) -> Path:
    while not os.path.exists(place):
        place = place.parent
    return place


def _free(place: Path) -> str:
    return f"{shutil.disk_usage(_existing(place)).free / (1 << 30):.1f} GB free"


def _size(place: Path) -> str:
    if not os.path.isdir(place):
        return "not made yet" if not os.path.exists(place) else "no folder"
    total = 0
    for folder, _, files in os.walk(place):
        for file in files:
            try:
                total += os.lstat(os.path.join(folder, file)).st_size
            except OSError:
                continue  # removed meanwhile
    return f"{total / (1 << 20):,.0f} MB"
