"""The cache of built simulators: the firmware's (:mod:`nicbed.firmware.cache`), and the machine on
which a native executable depends."""

import sys
from contextlib import suppress
from pathlib import Path

from ...firmware.cache import entry, find, key, root, tree_hash

__all__ = ["entry", "find", "key", "machine", "root", "tree_hash"]


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
