"""Lists, prunes and verifies stored results and built simulators."""

import os
import re
import shutil
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
from ..simulators import cache
from .store import Store, Trouble, opened

__all__ = ["KINDS", "Kept", "kept", "parse_age", "parse_size", "prune", "verify"]

KINDS = ("results", "builds")
_ENTRY = re.compile(r"[0-9a-f]{24}")
_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
_AGES = {"s": 1, "min": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True)
class Kept:
    """An entry: one of :data:`KINDS`, its name, its place, its bytes, and the time of its last use,
    in seconds of the system's clock."""

    kind: str
    what: str
    path: Path
    bytes: int
    used: float


def kept(store: Store | None, kinds: Sequence[str] = KINDS) -> list[Kept]:
    """Returns what is kept of ``kinds``, the one that was used last first."""
    found = []
    if store is not None and "results" in kinds:
        found += [Kept("results", " ".join(str(entry.about[name]) for name in (
            "benchmark", "layer", "sim")) + f", {entry.about['nodes']} nodes"
            if entry.about else "damaged", entry.path, entry.bytes, entry.used)
            for entry in store.entries()]
    if "builds" in kinds:
        for path in cache.root().glob("*/*"):
            if _ENTRY.fullmatch(path.name) and path.is_dir():
                with suppress(OSError):
                    found.append(Kept("builds", path.parent.name, path, _bytes(path),
                                      path.stat().st_mtime))
    return sorted(found, key=lambda one: (-one.used, str(one.path)))


def prune(found: Iterable[Kept], *, older: float | None, larger: int | None) -> list[Kept]:
    """Remove those of ``found`` that were last used more than ``older`` seconds ago; then, until
    what is left has at most ``larger`` bytes, those that were used longest ago. Return what was
    removed.

    Raises
    ------
    UserError
        Something cannot be removed.
    """
    now = time.time()
    going = []
    room = larger
    for one in sorted(found, key=lambda one: -one.used):
        fits = room is None or one.bytes <= room
        if (older is not None and now - one.used > older) or not fits:
            going.append(one)
            room = room if fits or room is None else 0  # what is older goes, too
        elif room is not None:
            room -= one.bytes
    for one in going:
        _remove(one.path)
    return going


def verify(store: Store) -> tuple[int, list[str]]:
    """Returns how many results are whole, and a line for each that is not.

    Raises
    ------
    Trouble
        The store is of another version.
    """
    whole, wrong = 0, []
    for entry in store.entries():
        try:
            opened(entry.path, entry.path.read_bytes())
            whole += 1
        except Trouble as trouble:
            wrong.append(str(trouble))
        except OSError as error:
            wrong.append(f"{entry.path}: cannot be read: {error.strerror}")
    return whole, wrong


def parse_age(text: str) -> float:
    """``30d``, ``12h``, ``5min`` in seconds.

    Raises
    ------
    UserError
        It is none.
    """
    return _parsed(text, _AGES, "--age", "30d or 12h")


def parse_size(text: str) -> int:
    """``500MB``, ``2GB`` in bytes.

    Raises
    ------
    UserError
        It is none.
    """
    return int(_parsed(text, _UNITS, "--size", "500MB or 2GB"))


def _parsed(text: str, units: dict[str, int], option: str, such: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)", text.strip())
    if not found or found[2] not in units:
        raise UserError(f"{option} {text}: must be a number and one of {', '.join(units)}, such as "
                        f"{such}")
    return float(found[1]) * units[found[2]]


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _remove(path: Path) -> None:
    """Remove a file, or a folder at once: nobody sees a part of it."""
    try:
        if path.is_dir():
            gone = cache.work_folder(path)
            os.replace(path, gone)
            shutil.rmtree(gone)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"{path}: cannot be removed: {error.strerror}", status=1) from None
