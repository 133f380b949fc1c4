"""The cache of builds: one directory for each entry, which is complete or does not exist.

Several users may share a cache. What is made has the modes that the umask gives; folders of a cache
that others may write are as open as the cache itself; a lock is held by whoever can read its file.
"""

import errno
import fcntl
import hashlib
import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache as once
from pathlib import Path

__all__ = ["CHOOSE", "CacheError", "can_execute", "entry", "find", "folder", "for_libraries",
           "key", "lock_file", "may_write", "of_user", "root", "substitute", "tree_hash",
           "work_folder"]

CHOOSE = "NICBED_CACHE=FOLDER chooses another cache"
LEAST = 8 << 20
"""With fewer bytes left a disk is full: a tool's failure does not always say so."""


class CacheError(Exception):
    """The cache cannot be used: one line says why, and what to do."""

    log = ""


def root() -> Path:
    """The cache's directory: NICBED_CACHE; or the user's cache directory; or, if that is not the
    user's own or cannot be written, :func:`substitute`."""
    chosen = os.environ.get("NICBED_CACHE")
    if chosen:
        return Path(chosen).absolute()
    place = of_user("nicbed")
    return place if may_write(place, own=True) else substitute()


def of_user(name: str) -> Path:
    """The folder ``name`` of the user's cache directory, whether it can be used or not; it is not
    absolute where no home is known."""
    import platformdirs
    try:
        return Path(platformdirs.user_cache_dir(name))
    except RuntimeError:  # neither HOME nor the system's list of users has one
        return Path(name)


def may_write(place: Path, own: bool = False) -> bool:
    """Tells whether this user may write to the folder ``place``, or make it; and, with ``own``,
    whether it is the user's, or would be made in a folder that is: root could write to another
    user's home, who could then use it no more."""
    if not place.is_absolute():  # a home that is not known
        return False
    for folder in (place, *place.parents):
        try:
            state = folder.stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            return False
        return (stat.S_ISDIR(state.st_mode) and os.access(folder, os.W_OK | os.X_OK)
                and (not own or state.st_uid == os.geteuid()))
    return False


def can_execute(place: Path) -> bool:
    """Tells whether programs and libraries below the folder ``place``, which need not exist, can
    run: not on a file system that is mounted noexec."""
    while not os.path.exists(place) and place != place.parent:
        place = place.parent
    return not os.statvfs(place).f_flag & os.ST_NOEXEC


@once
def _substitute(user: int, temporary: str) -> Path:
    places = [Path(temporary), Path("/var/tmp")]
    place = next((one for one in places if may_write(one) and can_execute(one)),
                 places[0]) / f"nicbed-{user}"
    with suppress(FileExistsError):
        place.mkdir(0o700)
    state = place.lstat()
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != user or state.st_mode & 0o022:
        raise CacheError(f"{place} is not this user's alone: {CHOOSE}")
    return place


def substitute() -> Path:
    """The cache of a user without a home to write to: a folder for temporary files that is the
    user's alone.

    Raises
    ------
    CacheError
        Somebody else has made it.
    """
    return _substitute(os.geteuid(), tempfile.gettempdir())


@once
def _tell(place: Path) -> None:
    print(f"nicbed: no home to write to: what is built is kept in {place}, for a while "
          "(NICBED_CACHE=FOLDER keeps it)", file=sys.stderr, flush=True)


def folder(place: Path, top: Path) -> Path:
    """``place``, made if it is not there, below the cache ``top``: a folder of a cache that others
    may write, too, is as open as the cache."""
    if os.path.isdir(place):
        return place
    if place == top or top not in place.parents:
        place.mkdir(parents=True, exist_ok=True)
        return place
    folder(place.parent, top)
    try:
        place.mkdir()
    except FileExistsError:
        return place
    mode = stat.S_IMODE(top.stat().st_mode)
    if mode & 0o022:
        place.chmod(mode)
    return place


def lock_file(path: Path) -> int:
    """A descriptor of the file ``path``, made if it is not there, that can be locked, whoever has
    made it."""
    while True:
        try:
            # Systems that protect files in folders such as /tmp refuse O_CREAT for another's.
            return os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            with suppress(FileExistsError):
                return os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)


def for_libraries() -> str:
    """A folder for temporary files out of which libraries can be loaded: that of the system, or one
    in the cache, where the system's is mounted noexec."""
    temporary = tempfile.gettempdir()
    if can_execute(Path(temporary)):
        return temporary
    top = root()
    return str(folder(top / f"tmp-{os.geteuid()}", top))


def work_folder(place: Path) -> Path:
    """A new folder beside ``place``, for what will be renamed to it."""
    made = place.parent / f".{place.name}.work-{secrets.token_hex(6)}"
    made.mkdir()
    return made


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
    if not os.path.isdir(place):
        return False
    if not os.access(place, os.R_OK | os.X_OK):
        raise CacheError(f"{place} is another user's, and not for this one to read: {CHOOSE}")
    with suppress(OSError):  # a cache that is only read keeps its times
        os.utime(place)
    return True


def entry(kind: str, parts: Iterable[str], build: Callable[[Path], None], *,
          place: Path | None = None) -> Path:
    """The directory that ``build`` fills, built now if it does not exist.

    It is built under another name and renamed when complete, so that an interrupted build never
    looks complete. Two builds of the same entry wait for each other. The next build removes the
    files of a killed one.

    Raises
    ------
    CacheError
        The cache cannot be written, or its disk is full.
    """
    top = root()
    place = place or top / kind / key(parts)
    if _used(place):
        return place
    if not os.environ.get("NICBED_CACHE") and not may_write(of_user("nicbed"), own=True):
        _tell(top)
    try:
        folder(place.parent, top)
        lock = lock_file(place.parent / f".{place.name}.lock")
    except OSError as error:
        raise CacheError(f"the cache {top} cannot be written: {error.strerror}; {CHOOSE}"
                         ) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _used(place):
            _build(place, build)
    finally:
        os.close(lock)
    return place


def _build(place: Path, build: Callable[[Path], None]) -> None:
    for left in place.parent.glob(f".{place.name}.work-*"):
        shutil.rmtree(left, ignore_errors=True)
    try:
        work = work_folder(place)
    except OSError as error:
        raise CacheError(f"{place.parent} cannot be written: {error.strerror}; {CHOOSE}") from None
    try:
        build(work)
        os.replace(work, place)
    except BaseException as error:
        full = _is_full(error, place.parent)
        shutil.rmtree(work, ignore_errors=True)
        if full:
            raise CacheError(f"the disk of {place.parent} is full: `nicbed store prune` makes "
                             f"room, or {CHOOSE}") from error
        raise


def _is_full(error: BaseException, place: Path) -> bool:
    """Whether ``error`` came from a disk that is full, as far as can be told."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    with suppress(OSError):
        return isinstance(error, Exception) and shutil.disk_usage(place).free < LEAST
    return False
