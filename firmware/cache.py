"""The cache of builds: one directory for each entry, which is complete or does not exist."""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

__all__ = ["root", "key", "tree_hash", "entry", "find"]


def root() -> Path:
    """The cache's directory: NICBED_CACHE, or the user's cache directory."""
    chosen = os.environ.get("NICBED_CACHE")
    if chosen:
        return Path(chosen).absolute()
    import platformdirs
    return Path(platformdirs.user_cache_dir("nicbed"))


def key(parts: Iterable[str]) -> str:
    """A name for the result of building ``parts``."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()[:24]


def tree_hash(directories: Iterable[Path], suffixes: tuple[str, ...],
              without: str | None = None) -> str:
    """One hash over all files below ``directories`` that end in one of ``suffixes``, except those
    in a folder ``without``."""
    digest = hashlib.sha256()
    for directory in directories:
        for path in sorted(directory.rglob("*")):
            inside = path.relative_to(directory).parts
            if path.suffix in suffixes and not {"__pycache__", without} & set(inside):
                data = path.read_bytes()
                digest.update(f"{path.relative_to(directory)} {len(data)}\n".encode())
                digest.update(data)
    return digest.hexdigest()


def find(kind: str, parts: Iterable[str]) -> Path | None:
    """The entry, if it has been built."""
    place = root() / kind / key(parts)
    return place if _used(place) else None


def _used(place: Path) -> bool:
    """Whether there is such an entry; its time is that of its last use."""
    if not place.is_dir():
        return False
    with suppress(OSError):  # a cache that is only read keeps its times
        os.utime(place)
    return True


def entry(kind: str, parts: Iterable[str], build: Callable[[Path], None], *,
          place: Path | None = None) -> Path:
    """The directory that ``build`` fills, built now if it does not exist.

    It is built under another name and renamed when complete, so that an interrupted build never
    looks complete. Two builds of the same entry wait for each other. The next build removes the
    files of a killed one.
    """
    place = place or root() / kind / key(parts)
    if _used(place):
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with open(place.parent / f".{place.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if place.is_dir():
            return place
        for left in place.parent.glob(f".{place.name}.work-*"):
            shutil.rmtree(left, ignore_errors=True)
        work = Path(tempfile.mkdtemp(prefix=f".{place.name}.work-", dir=place.parent))
        try:
            build(work)
            os.replace(work, place)
        except BaseException:
            shutil.rmtree(work, ignore_errors=True)
            raise
    return place
