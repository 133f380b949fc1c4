"""The cache of built simulators: the firmware's (:mod:`nicbed.firmware.cache`), and the machine on
which a native executable depends."""

import sys
from contextlib import suppress
from pathlib import Path

from ... import layouts
from ...firmware.cache import (
    CHOOSE,
    CacheError,
    can_execute,
    entry,
    find,
    folder,
    key,
    lock_file,
    root,
    tree_hash,
    work_folder,
)

__all__ = ["CacheError", "check_execution", "entry", "find", "folder", "key", "lock_file",
           "machine", "root", "sources_key", "tree_hash", "work_folder"]

_PACKAGE = Path(layouts.__file__).parent.parent


def check_execution() -> None:
    """Refuse a cache out of which no simulator runs.

    Raises
    ------
    CacheError
        It is mounted noexec.
    """
    if not can_execute(root()):
        raise CacheError(f"the cache {root()} is on a file system mounted noexec, where no "
                         f"simulator runs: {CHOOSE}")


def machine() -> str:
    """Properties of this machine on which a native executable depends."""
    import platform
    parts = [sys.platform, platform.machine(), *platform.libc_ver()]
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("flags", "Features")):
                parts.append(line)
                break
    return key(parts)


def sources_key(boards: bool = False) -> str:
    """A hash of all sources of a simulator, without its description: of the target, or of a board's
    top."""
    return tree_hash([_PACKAGE / "rtl", _PACKAGE / "layouts", Path(__file__).parent],
                     (".py", ".v", ".cpp", ".h"), without=None if boards else "boards")
