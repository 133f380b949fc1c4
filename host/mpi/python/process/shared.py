"""Names what is not switched, and makes the line for a program that uses it."""

from pathlib import Path
from types import FrameType

__all__ = ["SHARED", "told"]

SHARED = {
    "numpy.random": ("set_bit_generator",),
    "os": ("dup2", "nice", "setpriority", "umask"),
    "resource": ("setrlimit",),
    "signal": ("alarm", "set_wakeup_fd", "setitimer", "siginterrupt", "signal"),
    "socket": ("setdefaulttimeout",),
    "threading": ("stack_size",),
    "time": ("tzset",),
}
"""Functions, by module, that change what all ranks share."""


def told(name: str, rank: int, frame: FrameType) -> str:
    """The line for ``rank``, whose program has called ``name`` in ``frame``."""
    where = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
    return (f"nicbed: {where}: rank {rank}: {name} is for all ranks, which share one process "
            "(docs/tutorials/mpi.md, What ranks share)")
